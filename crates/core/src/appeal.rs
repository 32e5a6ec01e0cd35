//! Appeals: a publisher whose page was refused asks the operator for a review.

use crate::feedback::string_enum;
use crate::finding::Finding;
use crate::{Code, Error, Result, plain_text};

pub const COMMENT_CHARACTERS: usize = 2000;
pub const CONTACT_CHARACTERS: usize = 254;
/// The maximum length of the operator's answer to the publisher.
pub const ANSWER_CHARACTERS: usize = 500;
/// The content of an open appeal is stored until it is decided, so the number of open appeals is limited.
const OPEN_MOST: i64 = 500;
/// The rest is reserved for accounts, so that anonymous appeals cannot crowd them out.
const OPEN_WITHOUT_ACCOUNT: i64 = 400;
/// The maximum number of open appeals of one account or one network.
const OPEN_OF_SENDER: i64 = 20;
/// At most this many further senders of the same content are recorded with the first appeal.
pub const JOINED_SENDERS_MOST: i64 = 20;

// `lapsed`: not decided in time.
string_enum!(State: Open = "open", Allowed = "allowed", Upheld = "upheld", Lapsed = "lapsed");

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Appeal {
    pub id: String,
    /// The account of the sender, if a credential was sent.
    pub account_id: Option<String>,
    /// The digest of the content, which is what a decision to allow refers to.
    pub digest: [u8; 32],
    /// The stored content; `None` once the appeal is decided.
    pub bundle_id: Option<String>,
    pub title: String,
    /// Why the content was refused.
    pub reasons: Vec<Finding>,
    pub statement: AppealStatement,
    pub state: State,
    /// The operator's answer to the publisher.
    pub answer: Option<String>,
    pub created_at: i64,
    pub decided_at: Option<i64>,
}

/// The publisher's statement.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AppealStatement {
    pub comment: Option<String>,
    pub contact: Option<String>,
}

/// A number of open appeals and the bytes of their content: current usage or a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueSize {
    pub count: i64,
    pub bytes: i64,
}

impl QueueSize {
    /// The limit for all open appeals, given the bytes that the operator allots to them.
    pub const fn limit_for_all(bytes: i64, has_account: bool) -> Self {
        if has_account {
            return Self { count: OPEN_MOST, bytes };
        }
        Self { count: OPEN_WITHOUT_ACCOUNT, bytes: bytes / 4 * 3 }
    }

    /// The limit for one account or one network.
    pub const fn limit_for_sender(bytes: i64) -> Self {
        Self { count: OPEN_OF_SENDER, bytes: bytes / 4 }
    }

    /// Whether content of this size fits in addition to what is `waiting`.
    pub const fn fits(self, waiting: Self, bytes: i64) -> bool {
        waiting.count < self.count && waiting.bytes.saturating_add(bytes) <= self.bytes
    }
}

/// A further sender of content that already has an open appeal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JoinedSender {
    pub account_id: Option<String>,
    pub statement: AppealStatement,
    pub created_at: i64,
}

/// Content that an operator has allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedContent {
    pub digest: [u8; 32],
    /// The appeal through which it was allowed.
    pub appeal_id: Option<String>,
    pub reason: String,
    pub created_at: i64,
}

/// Validates what the publisher sent.
pub fn checked(comment: Option<String>, contact: Option<String>) -> Result<AppealStatement> {
    Ok(AppealStatement {
        comment: plain_text::optional("comment", comment, COMMENT_CHARACTERS)?,
        contact: plain_text::optional("contact", contact, CONTACT_CHARACTERS)?,
    })
}

/// Whether a refusal with this code is a judgment that an operator can overrule.
pub const fn can_be_appealed(code: Code) -> bool {
    matches!(code, Code::PhishingBlocked | Code::ContentBlocked)
}

/// An operator's decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// The content may be published from now on, whatever the check finds.
    Allow,
    /// The content stays refused.
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

/// Validates the operator's answer to the publisher. It is required, because the publisher is owed a reason.
pub fn answer(text: &str) -> Result<String> {
    plain_text::optional("answer", Some(text.to_owned()), ANSWER_CHARACTERS)?
        .ok_or_else(|| Error::field("answer", "must contain a message to the publisher"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_publisher_need_not_say_anything_but_an_operator_must() {
        assert_eq!(checked(None, Some("  ".into())).unwrap(), AppealStatement::default());
        assert!(checked(Some("x".repeat(2001)), None).is_err());
        assert!(answer(" \n ").is_err() && answer(&"x".repeat(501)).is_err());
        assert_eq!(answer(" It is a drill. ").unwrap(), "It is a drill.");
        let (all, own) = (QueueSize::limit_for_all(400, true), QueueSize::limit_for_sender(400));
        assert!(QueueSize::limit_for_all(400, false).bytes < all.bytes && own.bytes < all.bytes);
        assert!(
            own.fits(QueueSize { count: 19, bytes: 90 }, 10)
                && !own.fits(QueueSize { count: 19, bytes: 90 }, 11)
        );
        assert!(!own.fits(QueueSize { count: 20, bytes: 0 }, 0));
        assert_eq!((Decision::Allow.state(), Decision::Uphold.state()), (State::Allowed, State::Upheld));
    }
}
