//! Pagination of the comments on a page: the cursor, the number of comments per page of results and their total size.
//! The order is always the same: unresolved first, then newest first.

use crate::feedback::Feedback;
use crate::{Error, Minter, Result, number};
use std::fmt;

/// The default `limit` for a model, and the maximum `limit` for any caller.
pub const MODEL_DEFAULT: i64 = 100;
pub const MOST: i64 = 200;
/// The maximum number of comments when no `limit` is given.
pub const UNPAGED: i64 = 2000;
/// The maximum JSON size of the comments in one response: in the API, for viewers, and on the dashboard.
pub const ANSWER_BYTES: usize = 1 << 20;
/// The same for a model. A tool result carries its JSON twice, the second time as text.
pub const MODEL_BYTES: usize = 64 << 10;
/// An estimate of a comment's field names, id and timestamps in JSON.
const ITEM_BYTES: usize = 360;

/// A request for one page of results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedbackQuery {
    /// Without a limit: as many as fit into `bytes`, up to [`UNPAGED`].
    pub limit: Option<i64>,
    /// Where the previous page of results ended.
    pub cursor: Option<Cursor>,
    pub include_resolved: bool,
    pub bytes: usize,
}

impl Default for FeedbackQuery {
    fn default() -> Self {
        Self { limit: None, cursor: None, include_resolved: true, bytes: ANSWER_BYTES }
    }
}

impl FeedbackQuery {
    pub fn check(&self) -> Result<()> {
        if self.limit.is_none_or(|limit| (1..=MOST).contains(&limit)) {
            return Ok(());
        }
        Err(Error::field("limit", format!("must be 1 to {MOST}")))
    }

    /// The maximum number of comments in this page of results.
    pub fn most(&self) -> usize {
        usize::try_from(self.limit.unwrap_or(UNPAGED)).unwrap_or_default()
    }
}

/// The position of one comment in the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    pub resolved: bool,
    pub created_at: i64,
    pub id: String,
}

impl Cursor {
    pub fn of(item: &Feedback) -> Self {
        Self { resolved: item.resolved_at.is_some(), created_at: item.created_at, id: item.id.clone() }
    }

    pub fn parse(text: &str) -> Result<Self> {
        let read = || {
            let mut parts = text.splitn(3, '-');
            let resolved = match parts.next()? {
                "open" => false,
                "resolved" => true,
                _ => return None,
            };
            let created_at = number::integer(parts.next()?)?;
            let id = parts.next().filter(|id| Minter::is_id("fb", id))?.to_owned();
            Some(Self { resolved, created_at, id })
        };
        read().ok_or_else(|| Error::field("cursor", "must be the `next_cursor` of the previous response"))
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let group = if self.resolved { "resolved" } else { "open" };
        write!(f, "{group}-{}-{}", self.created_at, self.id)
    }
}

/// Truncates a list to what fits into this many bytes of JSON, but keeps at least one item. Returns whether it was truncated.
pub fn cut(list: &mut Vec<Feedback>, bytes: usize) -> bool {
    let mut used = 0;
    let fits = list.iter().take_while(|item| {
        used += json_bytes(item);
        used <= bytes
    });
    let fitting = fits.count().max(1);
    let is_cut = list.len() > fitting;
    list.truncate(fitting);
    is_cut
}

fn json_bytes(item: &Feedback) -> usize {
    let said = &item.content;
    let texts = [&said.element, &said.element_path, &said.selected_text, &said.page_url, &item.resolved_note];
    let texts = texts.into_iter().flatten().chain([&said.comment]);
    ITEM_BYTES + texts.map(|text| text.len() + text.bytes().filter(|b| is_escaped(*b)).count()).sum::<usize>()
}

const fn is_escaped(byte: u8) -> bool {
    matches!(byte, b'"' | b'\\' | b'\n' | b'\t' | b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feedback::FeedbackContent;

    fn item(number: usize, comment: &str) -> Feedback {
        let said = FeedbackContent {
            comment: comment.to_owned(),
            element: None,
            element_path: None,
            selected_text: None,
            page_url: None,
            intent: None,
            severity: None,
        };
        Feedback {
            id: format!("fb_{number:020}"),
            site_id: "site_1".to_owned(),
            content: said,
            created_at: 7,
            resolved_at: (number % 2 == 1).then_some(9),
            resolved_note: None,
        }
    }

    #[test]
    fn cursor_is_read_back_and_anything_else_is_refused() {
        for number in 0..2 {
            let cursor = Cursor::of(&item(number, "a"));
            assert_eq!(Cursor::parse(&cursor.to_string()).unwrap(), cursor);
        }
        let id = "fb_00000000000000000000";
        for wrong in ["", "open", "open-7", "open-7-x", "shut-7-fb_00000000000000000000", "open--7"] {
            assert!(Cursor::parse(wrong).is_err(), "{wrong}");
        }
        assert!(Cursor::parse(&format!("open-x-{id}")).is_err());
    }

    #[test]
    fn list_is_cut_by_length_but_never_to_nothing() {
        let long = "\"".repeat(1000);
        let mut list: Vec<_> = (0..10).map(|number| item(number, &long)).collect();
        assert!(!cut(&mut list, 10 * (2000 + ITEM_BYTES)));
        assert!(cut(&mut list, 3 * (2000 + ITEM_BYTES)));
        assert_eq!(list.len(), 3);
        assert!(cut(&mut list, 1));
        assert_eq!(list.len(), 1);
        let mut none = Vec::new();
        assert!(!cut(&mut none, 1));
    }
}
