//! Lists and searches an owner's sites by words and filter, most recently changed first.

use crate::db::{DbError, Val};
use crate::sites::{Before, row, select};
use crate::store::Store;
use dropleaf_core::search;
use dropleaf_core::site::{Site, State};
use dropleaf_core::site_filter::Filter;

/// The statement below has one placeholder for each word.
const _: () = assert!(search::MOST_WORDS == 8);

/// A LIKE pattern that matches the text anywhere, with LIKE's special characters escaped.
pub(crate) fn pattern(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len() + 2);
    pattern.push('%');
    for c in text.chars() {
        if matches!(c, '%' | '_' | '!') {
            pattern.push('!');
        }
        pattern.push(c);
    }
    pattern.push('%');
    pattern
}

impl Store {
    /// Which of these ids are sites that the account is shown. All ids have the same length (25).
    pub async fn list_owned_ids(&self, account_id: &str, ids: &[&str]) -> Result<Vec<String>, DbError> {
        let sql = "WITH RECURSIVE asked (id, rest) AS (\
             SELECT substr(CAST($1 AS TEXT), 1, 25), substr(CAST($1 AS TEXT), 26) \
             UNION ALL SELECT substr(rest, 1, 25), substr(rest, 26) FROM asked WHERE rest <> '') \
             SELECT sites.id FROM asked JOIN sites ON sites.id = asked.id \
             WHERE sites.account_id = $2 AND sites.state IN ('live', 'expired')";
        let args = vec![ids.concat().into(), account_id.into()];
        self.db.list(sql, args, |row| row.string(0)).await
    }

    /// An account's matching sites, most recently changed first: every word occurs in the title or the slug, ignoring case
    /// and accents; or the text is a whole id or token.
    pub async fn search_sites(
        &self,
        account_id: &str,
        filter: Filter,
        text: &str,
        now: i64,
        before: Option<Before>,
        limit: i64,
    ) -> Result<Vec<Site>, DbError> {
        let before = before.unwrap_or(Before { updated_at: i64::MAX, id: String::new() });
        let mut words = search::words(text).into_iter();
        // One statement for any number of words: missing words match everything.
        let mut word = || Val::from(pattern(&words.next().unwrap_or_default()));
        let sql = select!(
            "WHERE account_id = $1 AND (updated_at, id) < ($2, $3) \
             AND ((search_text LIKE $4 ESCAPE '!' AND search_text LIKE $5 ESCAPE '!' \
             AND search_text LIKE $6 ESCAPE '!' AND search_text LIKE $7 ESCAPE '!' \
             AND search_text LIKE $8 ESCAPE '!' AND search_text LIKE $9 ESCAPE '!' \
             AND search_text LIKE $10 ESCAPE '!' AND search_text LIKE $11 ESCAPE '!') \
             OR id = $12 OR token = $12) \
             AND (state = 'live' AND (expires_at IS NULL OR expires_at > $13)) = ($14 <> 'ended') \
             AND ($14 = 'all' OR $14 = visibility \
             OR ($14 = 'protected' AND (password_hash IS NOT NULL OR email_gate_domain IS NOT NULL)) \
             OR ($14 = 'expiring' AND expires_at IS NOT NULL) \
             OR ($14 = 'ended' AND (purged_at IS NULL OR state IN ('burnt', 'taken_down')))) \
             ORDER BY updated_at DESC, id DESC LIMIT $15"
        );
        let args = vec![
            account_id.into(),
            before.updated_at.into(),
            before.id.into(),
            word(),
            word(),
            word(),
            word(),
            word(),
            word(),
            word(),
            word(),
            text.into(),
            now.into(),
            filter.as_str().into(),
            limit.into(),
        ];
        self.db.list(sql, args, row).await
    }

    /// An account's sites in one state that match the text as in [`Store::search_sites`], most recently changed first.
    pub async fn list_matching_sites(
        &self,
        account_id: &str,
        state: State,
        text: &str,
        now: i64,
        before: Option<Before>,
        limit: i64,
    ) -> Result<Vec<Site>, DbError> {
        let before = before.unwrap_or(Before { updated_at: i64::MAX, id: String::new() });
        let horizon = if state == State::Live { now } else { i64::MIN };
        let mut words = search::words(text).into_iter();
        let mut word = || Val::from(pattern(&words.next().unwrap_or_default()));
        let sql = select!(
            "WHERE account_id = $1 AND state = $2 AND (expires_at IS NULL OR expires_at > $3) \
             AND (updated_at, id) < ($4, $5) \
             AND ((search_text LIKE $6 ESCAPE '!' AND search_text LIKE $7 ESCAPE '!' \
             AND search_text LIKE $8 ESCAPE '!' AND search_text LIKE $9 ESCAPE '!' \
             AND search_text LIKE $10 ESCAPE '!' AND search_text LIKE $11 ESCAPE '!' \
             AND search_text LIKE $12 ESCAPE '!' AND search_text LIKE $13 ESCAPE '!') \
             OR id = $14 OR token = $14) ORDER BY updated_at DESC, id DESC LIMIT $15"
        );
        let mut args: Vec<Val> = vec![
            account_id.into(),
            state.as_str().into(),
            horizon.into(),
            before.updated_at.into(),
            before.id.into(),
        ];
        args.extend(std::iter::repeat_with(&mut word).take(search::MOST_WORDS));
        args.extend([text.into(), limit.into()]);
        self.db.list(sql, args, row).await
    }

    /// The number of unresolved comments, for each site of an account that has any.
    pub async fn count_open_feedback(&self, account_id: &str) -> Result<Vec<(String, i64)>, DbError> {
        self.db
            .list(
                "SELECT site_id, COUNT(*) FROM feedback WHERE resolved_at IS NULL \
                 AND site_id IN (SELECT id FROM sites WHERE account_id = $1) GROUP BY site_id",
                vec![account_id.into()],
                |row| Ok((row.string(0)?, row.int(1)?)),
            )
            .await
    }
}

#[cfg(test)]
mod tests {
    use super::pattern;

    #[test]
    fn signs_of_a_pattern_are_looked_for_as_they_are() {
        assert_eq!(pattern("50%_!"), "%50!%!_!!%");
        assert_eq!(pattern(""), "%%");
    }
}
