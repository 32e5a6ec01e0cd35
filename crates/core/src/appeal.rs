//! A publisher whose page was refused asks the operator to look at it.

use crate::feedback::words;
use crate::finding::Finding;
use crate::{Code, Error, Result, plain_text};

pub const COMMENT_CHARACTERS: usize = 2000;
pub const CONTACT_CHARACTERS: usize = 254;
/// What the operator says to the publisher.
pub const ANSWER_CHARACTERS: usize = 500;
/// Their content is kept until somebody decides, so there is an end to how many can wait.
const OPEN_MOST: i64 = 500;
/// The rest is kept for accounts: whoever has none cannot shut them out.
const OPEN_WITHOUT_ACCOUNT: i64 = 400;
/// As many wait of one account, or of one network.
const OPEN_OF_SENDER: i64 = 20;
/// So many who send the same content are heard beside the first.
pub const HEARD_MOST: i64 = 20;

// `lapsed`: nobody decided in time.
words!(State: Open = "open", Allowed = "allowed", Upheld = "upheld", Lapsed = "lapsed");

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Appeal {
    pub id: String,
    /// Who sent it, if they said so by a credential.
    pub account_id: Option<String>,
    /// Of the content: what an allow is about.
    pub digest: [u8; 32],
    /// The content; none once it is decided.
    pub bundle_id: Option<String>,
    pub title: String,
    /// Why it was refused.
    pub reasons: Vec<Finding>,
    pub plea: Plea,
    pub state: State,
    /// The operator's words to the publisher.
    pub answer: Option<String>,
    pub created_at: i64,
    pub decided_at: Option<i64>,
}

/// What a publisher says for the page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plea {
    pub comment: Option<String>,
    pub contact: Option<String>,
}

/// How many appeals wait, or may wait, and the bytes of their content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    pub count: i64,
    pub bytes: i64,
}

impl Room {
    /// For all that wait, out of the bytes that the operator gives them.
    pub const fn of_all(bytes: i64, has_account: bool) -> Self {
        if has_account {
            return Self { count: OPEN_MOST, bytes };
        }
        Self { count: OPEN_WITHOUT_ACCOUNT, bytes: bytes / 4 * 3 }
    }

    /// For those of one account or one network.
    pub const fn of_sender(bytes: i64) -> Self {
        Self { count: OPEN_OF_SENDER, bytes: bytes / 4 }
    }

    /// Whether so many bytes fit in beside what waits.
    pub const fn fits(self, waiting: Self, bytes: i64) -> bool {
        waiting.count < self.count && waiting.bytes.saturating_add(bytes) <= self.bytes
    }
}

/// One who sent content that was waiting already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Joined {
    pub account_id: Option<String>,
    pub plea: Plea,
    pub created_at: i64,
}

/// Content that an operator allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allowed {
    pub digest: [u8; 32],
    /// The appeal it was allowed by.
    pub appeal_id: Option<String>,
    pub reason: String,
    pub created_at: i64,
}

/// What was sent, if it makes sense.
pub fn checked(comment: Option<String>, contact: Option<String>) -> Result<Plea> {
    Ok(Plea {
        comment: plain_text::optional("comment", comment, COMMENT_CHARACTERS)?,
        contact: plain_text::optional("contact", contact, CONTACT_CHARACTERS)?,
    })
}

/// Whether this refusal is a judgement that an operator can overrule.
pub const fn is_about(code: Code) -> bool {
    matches!(code, Code::PhishingBlocked | Code::ContentBlocked)
}

/// How an operator decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// The content may be published from now on, whatever the check says.
    Allow,
    /// It stays refused.
    Uphold,
}

impl Decision {
    pub const fn state(self) -> State {
        match self {
            Self::Allow => State::Allowed,
            Self::Uphold => State::Upheld,
        }
    }
}

/// The words for the publisher. Whoever waited is told why, so there have to be some.
pub fn answer(text: &str) -> Result<String> {
    plain_text::optional("answer", Some(text.to_owned()), ANSWER_CHARACTERS)?
        .ok_or_else(|| Error::field("answer", "must contain a message to the publisher"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_publisher_need_not_say_anything_but_an_operator_must() {
        assert_eq!(checked(None, Some("  ".into())).unwrap(), Plea::default());
        assert!(checked(Some("x".repeat(2001)), None).is_err());
        assert!(answer(" \n ").is_err() && answer(&"x".repeat(501)).is_err());
        assert_eq!(answer(" It is a drill. ").unwrap(), "It is a drill.");
        let (all, own) = (Room::of_all(400, true), Room::of_sender(400));
        assert!(Room::of_all(400, false).bytes < all.bytes && own.bytes < all.bytes);
        assert!(own.fits(Room { count: 19, bytes: 90 }, 10) && !own.fits(Room { count: 19, bytes: 90 }, 11));
        assert!(!own.fits(Room { count: 20, bytes: 0 }, 0));
        assert_eq!((Decision::Allow.state(), Decision::Uphold.state()), (State::Allowed, State::Upheld));
    }
}
