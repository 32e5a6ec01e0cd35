//! A publisher whose page was refused asks the operator to look at it.

use crate::feedback::words;
use crate::finding::Finding;
use crate::{Code, Error, Result, plain_text};

pub const COMMENT_CHARACTERS: usize = 2000;
pub const CONTACT_CHARACTERS: usize = 254;
/// What the operator says to the publisher.
pub const ANSWER_CHARACTERS: usize = 500;
/// Their content is kept until somebody decides, so there is an end to how many can wait.
pub const OPEN_MOST: i64 = 500;

words!(State: Open = "open", Allowed = "allowed", Upheld = "upheld");

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
        .ok_or_else(|| Error::field("answer", "must say something to the publisher"))
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
        assert_eq!((Decision::Allow.state(), Decision::Uphold.state()), (State::Allowed, State::Upheld));
    }
}
