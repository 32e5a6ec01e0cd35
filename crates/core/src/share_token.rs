//! Share tokens: a link that opens a page's password gate without the password. Spec §2, §3.
//! Also finds a token in a query and removes it.

use crate::{Error, Result, site};

/// The prefix of every token; it is followed by 22 characters as in a page token.
pub const PREFIX: &str = "shr_";
/// A query without this contains no token.
const SIGN: &str = "t=shr_";
/// The maximum number of share tokens per page.
pub const MOST: i64 = 1000;

const NOTE_CHARACTERS: usize = 200;
/// The furthest possible expiry: a thousand years, so that no sum overflows.
const FARTHEST_SECONDS: i64 = 1000 * 366 * 86_400;

/// A share token as its owner sees it, without the secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShareToken {
    pub id: String,
    pub site_id: String,
    pub note: Option<String>,
    /// Whether it also opens the email gate.
    pub bypass_email_gate: bool,
    pub max_uses: Option<i64>,
    pub uses: i64,
    pub created_at: i64,
    pub expires_at: Option<i64>,
    pub last_used_at: Option<i64>,
}

impl ShareToken {
    pub fn is_expired(&self, now: i64) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
    }
}

/// The requested settings of a new token.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ShareTokenRequest {
    pub note: Option<String>,
    /// Seconds from now.
    pub expires_in: Option<i64>,
    pub max_uses: Option<i64>,
    pub bypass_email_gate: bool,
}

impl ShareTokenRequest {
    /// Validates the settings and trims the note.
    pub fn checked(mut self) -> Result<Self> {
        self.note = self.note.map(|note| note.trim().to_owned()).filter(|note| !note.is_empty());
        if let Some(note) = &self.note
            && (note.chars().count() > NOTE_CHARACTERS || note.chars().any(char::is_control))
        {
            let why = format!("must be at most {NOTE_CHARACTERS} characters, without control characters");
            return Err(Error::field("note", why));
        }
        if self.expires_in.is_some_and(|seconds| !(1..=FARTHEST_SECONDS).contains(&seconds)) {
            return Err(Error::field("expires_in", "must be a number of seconds, at least 1"));
        }
        if self.max_uses.is_some_and(|uses| uses < 1) {
            return Err(Error::field("max_uses", "must be at least 1"));
        }
        Ok(self)
    }
}

/// Whether the text has the form of a share token.
pub fn is_token(text: &str) -> bool {
    text.strip_prefix(PREFIX).is_some_and(site::is_token)
}

/// A token found in a query, and the query without it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuerySecret<'a> {
    pub token: &'a str,
    /// The other parameters, unchanged and in order. `None` when there are none.
    pub rest: Option<String>,
}

/// Finds `t=` with a value of the right form. Any other `t` belongs to the page and stays.
pub fn in_query(query: Option<&str>) -> Option<QuerySecret<'_>> {
    secret_in_query(query.filter(|query| query.contains(SIGN))?, "t=", is_token)
}

/// The first value of a parameter (`name=`) that has the form of the secret, and the query without all such values.
pub(crate) fn secret_in_query<'a>(
    query: &'a str,
    parameter: &str,
    is_secret: fn(&str) -> bool,
) -> Option<QuerySecret<'a>> {
    let secret_of = |pair: &'a str| pair.strip_prefix(parameter).filter(|value| is_secret(value));
    let token = query.split('&').find_map(secret_of)?;
    let rest: Vec<&str> = query.split('&').filter(|pair| secret_of(pair).is_none()).collect();
    Some(QuerySecret { token, rest: (!rest.is_empty()).then(|| rest.join("&")) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Minter;

    const TOKEN: &str = "shr_AAAAAAAAAAAAAAAAAAAA-_";

    #[test]
    fn a_minted_token_has_the_shape_and_nothing_else_does() {
        assert!(is_token(&Minter::seeded(1).share_token()));
        assert!(is_token(TOKEN));
        for bad in
            ["", "shr_", "shr_short", "clm_AAAAAAAAAAAAAAAAAAAAAA", "shr_AAAAAAAAAAAAAAAAAAAAA=", "AAAA"]
        {
            assert!(!is_token(bad), "{bad}");
        }
    }

    #[test]
    fn a_token_leaves_the_query_and_the_rest_stays_as_it_was() {
        let rest = |query: String| in_query(Some(&query)).map(|found| (found.token.to_owned(), found.rest));
        let token = TOKEN.to_owned();
        assert_eq!(rest(format!("t={TOKEN}")), Some((token.clone(), None)));
        let kept = Some("b=%20+x&a&a=1&=".to_owned());
        assert_eq!(rest(format!("b=%20+x&t={TOKEN}&a&a=1&=")), Some((token.clone(), kept)));
        assert_eq!(rest(format!("t=5&t={TOKEN}&t={TOKEN}")), Some((token, Some("t=5".into()))));
    }

    #[test]
    fn what_is_no_token_is_left_alone() {
        for query in
            ["", "t=1", "t=shr_short", "at=shr_AAAAAAAAAAAAAAAAAAAAAA", "t=shr_AAAAAAAAAAAAAAAAAAAAAAA"]
        {
            assert_eq!(in_query(Some(query)), None, "{query}");
        }
        assert_eq!(in_query(None), None);
    }

    #[test]
    fn a_wish_is_tidied_or_refused() {
        let good = ShareTokenRequest {
            note: Some("  for Ada ".into()),
            max_uses: Some(1),
            ..ShareTokenRequest::default()
        };
        assert_eq!(good.checked().unwrap().note.as_deref(), Some("for Ada"));
        assert_eq!(
            ShareTokenRequest { note: Some(" ".into()), ..ShareTokenRequest::default() }
                .checked()
                .unwrap()
                .note,
            None
        );
        for bad in [
            ShareTokenRequest { note: Some("x".repeat(201)), ..ShareTokenRequest::default() },
            ShareTokenRequest { note: Some("a\nb".into()), ..ShareTokenRequest::default() },
            ShareTokenRequest { expires_in: Some(0), ..ShareTokenRequest::default() },
            ShareTokenRequest { expires_in: Some(-5), ..ShareTokenRequest::default() },
            ShareTokenRequest { expires_in: Some(i64::MAX), ..ShareTokenRequest::default() },
            ShareTokenRequest { max_uses: Some(0), ..ShareTokenRequest::default() },
        ] {
            assert!(bad.clone().checked().is_err(), "{bad:?}");
        }
    }
}
