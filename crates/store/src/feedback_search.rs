//! Lists the comments of a site by a filter, in one of several orders.

use crate::db::DbError;
use crate::feedback::{feedback_columns, row};
use crate::site_search::pattern;
use crate::store::Store;
use dropleaf_core::feedback::{Feedback, Intent, Severity};
use dropleaf_core::feedback_filter::{FeedbackFilter, Order, StateFilter};
use dropleaf_core::feedback_list::Cursor;

/// The position of a comment in the list: unresolved first, then by severity where `$2` is 1, then by time, which `$3`
/// reverses.
macro_rules! position {
    () => {
        "CASE WHEN resolved_at IS NULL THEN 0 ELSE 1 END, \
         CASE WHEN CAST($2 AS BIGINT) = 0 THEN 0 WHEN severity = 'blocking' THEN 0 WHEN severity = 'important' THEN 1 \
         WHEN severity = 'suggestion' THEN 2 ELSE 3 END, created_at * CAST($3 AS BIGINT)"
    };
}

/// The statement for one order of comments of the same second: how the id of the next one compares with the cursor's, and
/// the same as a direction.
macro_rules! search {
    ($comparison:literal, $direction:literal) => {
        concat!(
            "SELECT ",
            feedback_columns!(),
            " FROM feedback WHERE site_id = $1 AND (",
            position!(),
            ") >= (CAST($4 AS BIGINT), CAST($5 AS BIGINT), CAST($6 AS BIGINT)) AND ((",
            position!(),
            ") > (CAST($4 AS BIGINT), CAST($5 AS BIGINT), CAST($6 AS BIGINT)) OR id ",
            $comparison,
            " $7) \
             AND (CASE WHEN resolved_at IS NULL THEN 0 ELSE 1 END) >= CAST($8 AS BIGINT) \
             AND (CASE WHEN resolved_at IS NULL THEN 0 ELSE 1 END) <= CAST($9 AS BIGINT) \
             AND (CAST($10 AS BIGINT) = 0 OR reopened_at IS NOT NULL) \
             AND (CAST($11 AS TEXT) = '' OR severity = $11) AND (CAST($12 AS TEXT) = '' OR intent = $12) \
             AND (CAST($13 AS TEXT) = '%%' OR LOWER(comment) LIKE LOWER(CAST($13 AS TEXT)) ESCAPE '!' \
             OR LOWER(COALESCE(selected_text, '')) LIKE LOWER(CAST($13 AS TEXT)) ESCAPE '!' \
             OR LOWER(COALESCE(element, '')) LIKE LOWER(CAST($13 AS TEXT)) ESCAPE '!' \
             OR EXISTS (SELECT 1 FROM feedback_replies WHERE feedback_replies.feedback_id = feedback.id \
             AND LOWER(feedback_replies.text) LIKE LOWER(CAST($13 AS TEXT)) ESCAPE '!')) ORDER BY ",
            position!(),
            ", id ",
            $direction,
            " LIMIT $14"
        )
    };
}

const NEWEST_FIRST: &str = search!("<", "DESC");
const OLDEST_FIRST: &str = search!(">", "ASC");

impl Store {
    /// A site's comments that a filter selects, after a cursor, in the order of the filter.
    pub async fn search_feedback(
        &self,
        site_id: &str,
        filter: &FeedbackFilter,
        after: Option<&Cursor>,
        limit: i64,
    ) -> Result<Vec<Feedback>, DbError> {
        let sql = match filter.order {
            Order::Newest | Order::Severity => NEWEST_FIRST,
            Order::Oldest => OLDEST_FIRST,
        };
        let sign = if filter.order == Order::Oldest { 1 } else { -1 };
        let (group, rank, at, id) = after.map_or((-1, 0, i64::MIN, String::new()), |cursor| {
            let at = cursor.created_at.saturating_mul(sign);
            (i64::from(cursor.resolved), cursor.rank.unwrap_or_default(), at, cursor.id.clone())
        });
        let (first, last): (i64, i64) = match filter.state {
            StateFilter::All => (0, 1),
            StateFilter::Open | StateFilter::Reopened => (0, 0),
            StateFilter::Resolved => (1, 1),
        };
        let args = vec![
            site_id.into(),
            i64::from(filter.order == Order::Severity).into(),
            sign.into(),
            group.into(),
            rank.into(),
            at.into(),
            id.into(),
            first.into(),
            last.into(),
            i64::from(filter.state == StateFilter::Reopened).into(),
            filter.severity.map_or("", Severity::as_str).into(),
            filter.intent.map_or("", Intent::as_str).into(),
            pattern(filter.query.as_deref().unwrap_or_default()).into(),
            limit.into(),
        ];
        self.db.list(sql, args, row).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_numbered_in_order_of_first_appearance() {
        for sql in [NEWEST_FIRST, OLDEST_FIRST] {
            let mut highest = 0;
            for rest in sql.split('$').skip(1) {
                let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
                let number: u32 = digits.parse().unwrap();
                assert!(number <= highest + 1, "${number} in {sql}");
                highest = highest.max(number);
            }
            assert_eq!(highest, 14);
        }
    }
}
