//! Device login (RFC 8628): a program without a browser shows a short code, and a person enters it where they are signed in.
//! Defines the codes and the states; who may approve a login is left to the pages that ask for it.

use crate::minter::Minter;
use crate::plain_text;
use crate::rate::Rate;
use crate::scope::Scopes;
use crate::{Error, Result};

/// How long a code is valid.
pub const LIFE_SECONDS: i64 = 600;
/// The polling interval of the program, and how much it grows after a poll that came too soon.
pub const POLL_SECONDS: i64 = 5;
pub const SLOWER_SECONDS: i64 = 5;
/// Clocks count whole seconds, so a poll may come this much early.
pub const EARLY_SECONDS: i64 = 1;
/// How long a completed login is kept, so that its program can learn the outcome.
pub const KEPT_SECONDS: i64 = 3600;

/// How many logins one network may start.
pub const STARTS: Rate = Rate { name: "device_start", limit: 60, window_seconds: 3600 };
/// How many wrong codes one account may enter, and one network.
pub const ACCOUNT_GUESSES: Rate = Rate { name: "device_guess", limit: 10, window_seconds: 3600 };
pub const CLIENT_GUESSES: Rate = Rate { name: "device_guess_client", limit: 30, window_seconds: 3600 };

/// The client id of our own CLI: accepted without registration, for device login only.
pub const OWN_CLIENT: &str = "dropleaf-cli";
pub const OWN_CLIENT_NAME: &str = "dropleaf command line";

/// No vowels, so that no code is a word, and no letters that look alike.
const ALPHABET: &[u8; 20] = b"BCDFGHJKLMNPQRSTVWXZ";
const LETTERS: usize = 8;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceLogin {
    /// The stored form: eight letters without a dash.
    pub user_code: String,
    pub client_id: String,
    /// The name the program gave itself. It is not verified.
    pub client_name: String,
    pub kind: DeviceLoginKind,
    pub scopes: Scopes,
    pub resource: String,
    pub state: DeviceLoginState,
    /// The account that approved or denied it.
    pub account_id: Option<String>,
    pub created_at: i64,
    pub expires_at: i64,
}

impl DeviceLogin {
    /// The code as it is shown to people.
    pub fn formatted_user_code(&self) -> String {
        format_user_code(&self.user_code)
    }
}

/// What the program receives in the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceLoginKind {
    /// An access token and a refresh token.
    Tokens,
    /// A new API key.
    Key,
}

impl DeviceLoginKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tokens => "tokens",
            Self::Key => "key",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        [Self::Tokens, Self::Key].into_iter().find(|kind| kind.as_str() == text)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceLoginState {
    Pending,
    Allowed,
    Denied,
    /// The program has received its credential.
    Done,
}

impl DeviceLoginState {
    const ALL: [Self; 4] = [Self::Pending, Self::Allowed, Self::Denied, Self::Done];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Allowed => "allowed",
            Self::Denied => "denied",
            Self::Done => "done",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }
}

/// Generates a code: eight letters, each uniformly distributed.
pub fn new_code(minter: &Minter) -> String {
    let mut code = String::with_capacity(LETTERS);
    while code.len() < LETTERS {
        // Skip bytes of 240 and above to avoid modulo bias: 240 is 12 × 20.
        let more = minter.bytes::<16>();
        let letters = more.iter().filter(|b| **b < 240).map(|b| char::from(ALPHABET[usize::from(*b % 20)]));
        code.extend(letters.take(LETTERS - code.len()));
    }
    code
}

/// The code as it is shown to people: `BCDF-GHJK`.
pub fn format_user_code(code: &str) -> String {
    match code.split_at_checked(LETTERS / 2) {
        Some((front, back)) => format!("{front}-{back}"),
        None => code.to_owned(),
    }
}

/// Normalizes what a person typed to the stored form; `None` if it cannot be a code. Ignores case, dashes and spaces.
pub fn parse_user_code(text: &str) -> Option<String> {
    let letters = text.chars().filter(|c| !c.is_whitespace() && !matches!(c, '-' | '–' | '—' | '_'));
    let code: String = letters.map(|c| c.to_ascii_uppercase()).take(LETTERS + 1).collect();
    let whole = code.len() == LETTERS && code.bytes().all(|b| ALPHABET.contains(&b));
    whole.then_some(code)
}

/// Validates the name that a program gives itself: one line.
pub fn client_name(sent: Option<String>) -> Result<String> {
    let name = plain_text::optional("client_name", sent, 100)?;
    match name {
        Some(name) if name.contains(['\n', '\t']) => Err(Error::field("client_name", "must be one line")),
        Some(name) if name.chars().any(plain_text::is_misleading) => {
            Err(Error::field("client_name", "must not contain invisible characters"))
        }
        Some(name) => Ok(name),
        None => Ok("Unnamed app".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_found_again_however_it_is_typed() {
        let code = new_code(&Minter::seeded(3));
        assert_eq!(parse_user_code(&format_user_code(&code)), Some(code.clone()));
        let (front, back) = code.split_at(4);
        for text in [
            code.to_lowercase(),
            format!(" {front} {back}\n"),
            format!("{front}–{back}"),
            format!("{}-{back}", front.to_lowercase()),
        ] {
            assert_eq!(parse_user_code(&text), Some(code.clone()), "{text:?}");
        }
    }

    #[test]
    fn what_cannot_be_a_code_is_none() {
        for text in ["", "BCDF", "BCDFGHJKL", "BCDFGHJA", "BCDF-GHJ1", "BCDFGHJÖ", "ſſſſſſſſ"] {
            assert_eq!(parse_user_code(text), None, "{text:?}");
        }
        assert_eq!(parse_user_code(&"B".repeat(1_000_000)), None);
    }

    #[test]
    fn codes_use_every_letter() {
        let minter = Minter::seeded(1);
        let all: String = (0..100).map(|_| new_code(&minter)).collect();
        assert!(ALPHABET.iter().all(|letter| all.contains(char::from(*letter))));
        assert!(all.bytes().all(|b| ALPHABET.contains(&b)));
    }

    #[test]
    fn states_and_kinds_are_read_as_they_are_written() {
        for state in DeviceLoginState::ALL {
            assert_eq!(DeviceLoginState::parse(state.as_str()), Some(state));
        }
        for kind in [DeviceLoginKind::Tokens, DeviceLoginKind::Key] {
            assert_eq!(DeviceLoginKind::parse(kind.as_str()), Some(kind));
        }
    }

    #[test]
    fn a_name_is_one_line_and_never_empty() {
        assert_eq!(client_name(Some("  my\u{0} laptop ".into())).unwrap(), "my laptop");
        assert_eq!(client_name(Some(" ".into())).unwrap(), "Unnamed app");
        assert!(client_name(Some("a\nb".into())).is_err());
        for mark in ['\u{200b}', '\u{200e}', '\u{202e}', '\u{2066}', '\u{feff}'] {
            assert!(client_name(Some(format!("my{mark} laptop"))).is_err(), "{mark:?}");
        }
        assert!(client_name(Some("x".repeat(101))).is_err());
    }
}
