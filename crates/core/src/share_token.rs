//! A share token: a link that opens a page's password gate without the password. Spec §2, §3.
//! Also how it travels in an address, and how it is taken out again.

use crate::{Error, Result, site};

/// What every token begins with; the 22 characters after it are those of a page token.
pub const PREFIX: &str = "shr_";
/// What a query must hold before it is worth looking at.
const SIGN: &str = "t=shr_";
/// A page holds at most this many.
pub const MOST: i64 = 1000;

const NOTE_CHARACTERS: usize = 200;
/// No expiry lies further ahead: a thousand years keeps every sum inside an integer.
const FARTHEST_SECONDS: i64 = 1000 * 366 * 86_400;

/// A token as its owner sees it, without the secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShareToken {
    pub id: String,
    pub site_id: String,
    pub note: Option<String>,
    /// Whether it opens the e-mail gate as well.
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

/// What an owner asks for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Wish {
    pub note: Option<String>,
    /// Seconds from now.
    pub expires_in: Option<i64>,
    pub max_uses: Option<i64>,
    pub bypass_email_gate: bool,
}

impl Wish {
    /// The wish with its note tidied, if it makes sense.
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

/// Whether the text has the shape of a token.
pub fn is_token(text: &str) -> bool {
    text.strip_prefix(PREFIX).is_some_and(site::is_token)
}

/// A query that carries a token: the token, and what is left without it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InQuery<'a> {
    pub token: &'a str,
    /// The other parameters as they were, in their order. None when there are none.
    pub rest: Option<String>,
}

/// Looks for `t=` with a value of the right shape. Any other `t` belongs to the page itself and stays.
pub fn in_query(query: Option<&str>) -> Option<InQuery<'_>> {
    secret_in_query(query.filter(|query| query.contains(SIGN))?, "t=", is_token)
}

/// The first value of a parameter (`name=`) that is a secret of the right shape, and the query without all of those.
pub(crate) fn secret_in_query<'a>(
    query: &'a str,
    parameter: &str,
    is_secret: fn(&str) -> bool,
) -> Option<InQuery<'a>> {
    let secret_of = |pair: &'a str| pair.strip_prefix(parameter).filter(|value| is_secret(value));
    let token = query.split('&').find_map(secret_of)?;
    let rest: Vec<&str> = query.split('&').filter(|pair| secret_of(pair).is_none()).collect();
    Some(InQuery { token, rest: (!rest.is_empty()).then(|| rest.join("&")) })
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
        let good = Wish { note: Some("  for Ada ".into()), max_uses: Some(1), ..Wish::default() };
        assert_eq!(good.checked().unwrap().note.as_deref(), Some("for Ada"));
        assert_eq!(Wish { note: Some(" ".into()), ..Wish::default() }.checked().unwrap().note, None);
        for bad in [
            Wish { note: Some("x".repeat(201)), ..Wish::default() },
            Wish { note: Some("a\nb".into()), ..Wish::default() },
            Wish { expires_in: Some(0), ..Wish::default() },
            Wish { expires_in: Some(-5), ..Wish::default() },
            Wish { expires_in: Some(i64::MAX), ..Wish::default() },
            Wish { max_uses: Some(0), ..Wish::default() },
        ] {
            assert!(bad.clone().checked().is_err(), "{bad:?}");
        }
    }
}
