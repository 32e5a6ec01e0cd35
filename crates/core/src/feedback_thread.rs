//! Threads: replies to a viewer's comment, the states of a comment, and the secrets by which the browser of a comment's
//! author is recognized. Like comments, replies are untrusted input.

use crate::feedback::{COMMENT_CHARACTERS, Feedback, string_enum};
use crate::{Error, Minter, Result, plain_text, secret};

/// The maximum number of replies to one comment, and on one page.
pub const MOST_REPLIES: i64 = 50;
pub const MOST_SITE_REPLIES: i64 = 5000;
/// Replies shown with each comment of a list: the newest ones.
pub const LISTED_REPLIES: i64 = 5;
/// The maximum number of comments that one browser can present secrets for; later ones in the list are ignored.
pub const MOST_TOKENS: usize = 50;
const NAME_CHARACTERS: usize = 60;

string_enum!(Author: Viewer = "viewer", Owner = "owner", Agent = "agent");
string_enum!(ThreadState: Open = "open", Reopened = "reopened", Resolved = "resolved");
string_enum!(FeedbackVisible: Author = "author", Everyone = "everyone");

#[expect(clippy::derivable_impls, reason = "the list of words makes the type")]
impl Default for FeedbackVisible {
    fn default() -> Self {
        Self::Author
    }
}

impl FeedbackVisible {
    pub fn read(text: &str) -> Result<Self> {
        Self::parse(text).ok_or_else(|| Error::field("feedback_visible", "must be author or everyone"))
    }
}

/// One reply to a comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    pub id: String,
    pub feedback_id: String,
    pub site_id: String,
    pub author: Author,
    /// The name that a viewer chose.
    pub name: Option<String>,
    pub text: String,
    /// A viewer reopened the comment with this reply.
    pub reopens: bool,
    pub created_at: i64,
}

/// The text and the name of a reply, validated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyContent {
    pub text: String,
    pub name: Option<String>,
}

impl ReplyContent {
    /// Validates a reply with the rules of comments.
    pub fn checked(text: Option<String>, name: Option<String>) -> Result<Self> {
        let text = plain_text::optional("text", text, COMMENT_CHARACTERS)?;
        Ok(Self { text: text.ok_or_else(|| Error::field("text", "is required"))?, name: self::name(name)? })
    }
}

/// Validates the name of a viewer: one line, without characters that could make it look like another name.
fn name(text: Option<String>) -> Result<Option<String>> {
    let Some(text) = text else { return Ok(None) };
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = line.chars().filter(|c| !plain_text::is_misleading(*c)).collect();
    plain_text::optional("name", Some(line), NAME_CHARACTERS)
}

/// The thread of one comment, as far as it is shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Thread {
    /// How many replies there are.
    pub count: i64,
    /// The newest of them, oldest first.
    pub replies: Vec<Reply>,
}

impl Feedback {
    pub const fn state(&self) -> ThreadState {
        match (self.resolved_at, self.reopened_at) {
            (Some(_), _) => ThreadState::Resolved,
            (None, Some(_)) => ThreadState::Reopened,
            (None, None) => ThreadState::Open,
        }
    }

    /// Whether one of these secrets belongs to this comment.
    pub fn is_of(&self, viewer: &ViewerTokens) -> bool {
        self.viewer_hash.is_some_and(|hash| viewer.0.iter().any(|(id, sent)| *id == self.id && *sent == hash))
    }
}

/// The comments whose author a browser claims to be, with the hashes of the secrets it sent. Comparing hashes of secrets
/// reveals nothing about the secrets by its duration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ViewerTokens(Vec<(String, [u8; 32])>);

impl ViewerTokens {
    /// Parses `ID:SECRET` pairs separated by spaces. Anything else is ignored: it proves nothing.
    pub fn parse(text: &str) -> Self {
        let pairs = text.split_ascii_whitespace().filter_map(|pair| pair.split_once(':'));
        let known = pairs.filter(|(id, token)| Minter::is_id("fb", id) && (1..=64).contains(&token.len()));
        Self(known.take(MOST_TOKENS).map(|(id, token)| (id.to_owned(), secret::hash(token))).collect())
    }

    pub fn ids(&self) -> Vec<&str> {
        self.0.iter().map(|(id, _)| id.as_str()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feedback_list::tests::item;

    fn checked(text: &str, name: &str) -> Result<ReplyContent> {
        ReplyContent::checked(Some(text.into()), Some(name.into()))
    }

    #[test]
    fn a_reply_has_the_rules_of_a_comment() {
        assert_eq!(checked(" yes \r\n", "").unwrap(), ReplyContent { text: "yes".into(), name: None });
        assert!(checked(&"ä".repeat(4000), "").is_ok());
        for bad in ["", " \u{0}\u{7f} ", &"ä".repeat(4001)] {
            assert!(checked(bad, "").is_err());
        }
        assert!(ReplyContent::checked(None, None).is_err());
    }

    #[test]
    fn a_name_is_one_line_that_looks_like_no_other() {
        let name = |text: &str| checked("x", text).map(|reply| reply.name);
        assert_eq!(name(" Ada\n\t Lovelace ").unwrap().as_deref(), Some("Ada Lovelace"));
        assert_eq!(name("Ad\u{200b}a\u{202e}\u{7}").unwrap().as_deref(), Some("Ada"));
        assert_eq!(name(" \u{200b} ").unwrap(), None);
        assert!(name(&"a".repeat(60)).is_ok() && name(&"a".repeat(61)).is_err());
    }

    #[test]
    fn a_comment_is_open_resolved_or_reopened() {
        let mut comment = item(0, "x");
        assert_eq!(comment.state(), ThreadState::Open);
        comment.resolved_at = Some(5);
        assert_eq!(comment.state(), ThreadState::Resolved);
        comment.reopened_at = Some(6);
        assert_eq!(comment.state(), ThreadState::Resolved, "resolved again");
        comment.resolved_at = None;
        assert_eq!(comment.state(), ThreadState::Reopened);
    }

    #[test]
    fn only_the_secret_of_the_comment_proves_who_wrote_it() {
        let mut comment = item(0, "x");
        let viewer = ViewerTokens::parse(&format!("junk {}:s1 fb_1:s :", comment.id));
        assert_eq!(viewer.ids(), [comment.id.as_str()]);
        assert!(!comment.is_of(&viewer), "a comment without a secret belongs to no browser");
        comment.viewer_hash = Some(secret::hash("s1"));
        assert!(comment.is_of(&viewer));
        assert!(!comment.is_of(&ViewerTokens::parse(&format!("{}:s2", comment.id))));
        assert!(!item(1, "x").is_of(&viewer));
        let many = format!("{}:s ", comment.id).repeat(MOST_TOKENS + 5);
        assert_eq!(ViewerTokens::parse(&many).ids().len(), MOST_TOKENS);
    }
}
