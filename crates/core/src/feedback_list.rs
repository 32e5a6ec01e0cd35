//! Pagination of the comments on a page: the cursor, the number of comments per page of results and their total size.
//! Unresolved comments come first, then the newest, unless another order is asked for.

use crate::feedback::Feedback;
use crate::feedback_filter::{FeedbackFilter, Order, rank_in};
use crate::feedback_thread::Reply;
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
const ITEM_BYTES: usize = 480;
/// The same for a reply.
const REPLY_BYTES: usize = 130;

/// A request for one page of results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedbackQuery {
    /// Without a limit: as many as fit into `bytes`, up to [`UNPAGED`].
    pub limit: Option<i64>,
    /// Where the previous page of results ended.
    pub cursor: Option<Cursor>,
    pub filter: FeedbackFilter,
    pub bytes: usize,
}

impl Default for FeedbackQuery {
    fn default() -> Self {
        Self { limit: None, cursor: None, filter: FeedbackFilter::default(), bytes: ANSWER_BYTES }
    }
}

impl FeedbackQuery {
    pub fn check(&self) -> Result<()> {
        if self.limit.is_some_and(|limit| !(1..=MOST).contains(&limit)) {
            return Err(Error::field("limit", format!("must be 1 to {MOST}")));
        }
        // The cursor of a list in another order has another position.
        let is_ranked = self.cursor.as_ref().map(|cursor| cursor.rank.is_some());
        if is_ranked.is_some_and(|ranked| ranked != (self.filter.order == Order::Severity)) {
            return Err(Error::field("cursor", "belongs to a list in another order: leave it out"));
        }
        Ok(())
    }

    /// The maximum JSON size of the replies: half as much as of the comments, so that a long thread does not hide other
    /// comments.
    pub const fn reply_bytes(&self) -> usize {
        self.bytes / 2
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
    /// The rank of its severity, in the order of severities.
    pub rank: Option<i64>,
}

impl Cursor {
    pub fn of(item: &Feedback, order: Order) -> Self {
        Self {
            resolved: item.resolved_at.is_some(),
            created_at: item.created_at,
            id: item.id.clone(),
            rank: rank_in(order, item),
        }
    }

    pub fn parse(text: &str) -> Result<Self> {
        let read = || {
            let mut parts = text.splitn(4, '-');
            let resolved = match parts.next()? {
                "open" => false,
                "resolved" => true,
                _ => return None,
            };
            let created_at = number::integer(parts.next()?)?;
            let id = parts.next().filter(|id| Minter::is_id("fb", id))?.to_owned();
            let rank = match parts.next() {
                None => None,
                Some(rank) => Some(number::integer(rank).filter(|rank| (0..=3).contains(rank))?),
            };
            Some(Self { resolved, created_at, id, rank })
        };
        read().ok_or_else(|| Error::field("cursor", "must be the `next_cursor` of the previous response"))
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let group = if self.resolved { "resolved" } else { "open" };
        write!(f, "{group}-{}-{}", self.created_at, self.id)?;
        self.rank.map_or(Ok(()), |rank| write!(f, "-{rank}"))
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
    let content = &item.content;
    let texts = [
        &content.element,
        &content.element_path,
        &content.selected_text,
        &content.page_url,
        &item.resolved_note,
    ];
    let texts = texts.into_iter().flatten().chain([&content.comment]);
    ITEM_BYTES + texts.map(|text| text_bytes(text)).sum::<usize>()
}

/// The size of a reply in JSON.
pub fn reply_bytes(reply: &Reply) -> usize {
    REPLY_BYTES + text_bytes(&reply.text) + reply.name.as_deref().map_or(0, text_bytes)
}

fn text_bytes(text: &str) -> usize {
    text.len() + text.bytes().filter(|b| is_escaped(*b)).count()
}

const fn is_escaped(byte: u8) -> bool {
    matches!(byte, b'"' | b'\\' | b'\n' | b'\t' | b'\r')
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::feedback::FeedbackContent;
    use crate::feedback_filter::StateFilter;

    pub(crate) fn item(number: usize, comment: &str) -> Feedback {
        let content = FeedbackContent {
            comment: comment.to_owned(),
            element: None,
            element_path: None,
            selected_text: None,
            page_url: None,
            intent: None,
            severity: None,
        };
        Feedback {
            resolved_at: (number % 2 == 1).then_some(9),
            ..Feedback::new(format!("fb_{number:020}"), "site_1".to_owned(), content, 7)
        }
    }

    #[test]
    fn cursor_is_read_back_and_anything_else_is_refused() {
        for number in 0..2 {
            for order in [Order::Newest, Order::Severity] {
                let cursor = Cursor::of(&item(number, "a"), order);
                assert_eq!(Cursor::parse(&cursor.to_string()).unwrap(), cursor);
            }
        }
        let id = "fb_00000000000000000000";
        for wrong in ["", "open", "open-7", "open-7-x", "shut-7-fb_00000000000000000000", "open--7"] {
            assert!(Cursor::parse(wrong).is_err(), "{wrong}");
        }
        for wrong in [format!("open-x-{id}"), format!("open-7-{id}-4"), format!("open-7-{id}-0-1")] {
            assert!(Cursor::parse(&wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn cursor_belongs_to_the_order_of_its_list() {
        let ask = |cursor: &str, order| FeedbackQuery {
            cursor: Some(Cursor::parse(cursor).unwrap()),
            filter: FeedbackFilter { order, state: StateFilter::Open, ..FeedbackFilter::default() },
            ..FeedbackQuery::default()
        };
        let (plain, ranked) = ("open-7-fb_00000000000000000000", "open-7-fb_00000000000000000000-1");
        assert!(ask(plain, Order::Newest).check().is_ok() && ask(plain, Order::Oldest).check().is_ok());
        assert!(ask(ranked, Order::Severity).check().is_ok());
        assert!(ask(plain, Order::Severity).check().is_err() && ask(ranked, Order::Oldest).check().is_err());
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
