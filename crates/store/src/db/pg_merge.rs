//! Puts the statements of several batches into one transaction: those with the same text come together, and become one
//! statement where that does the same. Which batches share a transaction is decided in `pg_group_runner`.

use std::borrow::Cow;
use std::fmt::Write;

use super::{Expect, Stmt, Val};

/// Rows of one INSERT. They are powers of two, so that few statements are prepared.
const MAX_ROWS: usize = 32;

/// The texts of a group, in an order that agrees with each of its batches.
#[derive(Debug, Default)]
pub(super) struct TextOrder(Vec<Cow<'static, str>>);

impl TextOrder {
    /// Adds the texts of a batch. If they come in another order in it, or it must be alone, nothing is changed and the answer
    /// is `false`.
    pub(super) fn admit(&mut self, batch: &[Stmt]) -> bool {
        let mut order = self.0.clone();
        let mut next = 0;
        for stmt in batch {
            if stmt.is_alone {
                return false;
            }
            match order.iter().position(|text| *text == stmt.sql) {
                Some(at) if at + 1 < next => return false,
                Some(at) => next = at + 1,
                None => {
                    order.insert(next, stmt.sql.clone());
                    next += 1;
                }
            }
        }
        self.0 = order;
        true
    }

    /// The statements of batches that were admitted. Each batch keeps its own order, and what all of them do last is last.
    pub(super) fn merge(&self, batches: &[&[Stmt]]) -> Vec<Stmt> {
        let mut merged = Vec::new();
        for text in &self.0 {
            let all = batches.iter().copied().flatten();
            let same: Vec<&Stmt> = all.filter(|stmt| stmt.sql == *text).collect();
            merge_same(&same, &mut merged);
        }
        merged
    }
}

/// Statements with the same text.
fn merge_same(same: &[&Stmt], merged: &mut Vec<Stmt>) {
    let [first, _, ..] = same else {
        merged.extend(same.iter().copied().cloned());
        return;
    };
    if let Some(place) = first.amount {
        merged.extend(add_up(same, place));
    } else if first.sql.starts_with("SELECT ") {
        // A condition that was checked once in this transaction.
        let mut distinct: Vec<&Stmt> = Vec::new();
        for stmt in same {
            if !distinct.iter().any(|other| is_equal(other, stmt)) {
                distinct.push(stmt);
            }
        }
        merged.extend(distinct.into_iter().cloned());
    } else if let Some(insert) = Insert::parse(same) {
        insert.merge(same.to_vec(), merged);
    } else {
        let mut each = same.to_vec();
        if first.sql.starts_with("INSERT INTO ") {
            // They may wait for each other's rows, so every group locks them in the same order.
            each.sort_by(|one, other| one.args.cmp(&other.args));
        }
        merged.extend(each.into_iter().cloned());
    }
}

fn is_equal(one: &Stmt, other: &Stmt) -> bool {
    one.args == other.args && one.expect == other.expect && one.fence == other.fence
}

/// One statement for all that differ in their amounts only, in the order of their other arguments: every group locks the rows in
/// the same order.
fn add_up(same: &[&Stmt], place: usize) -> Vec<Stmt> {
    let mut sums: Vec<Stmt> = Vec::new();
    for stmt in same {
        let Some(Val::Int(amount)) = stmt.args.get(place) else {
            sums.push((*stmt).clone());
            continue;
        };
        let of_same = sums.iter_mut().find_map(|sum| {
            let Some(Val::Int(total)) = sum.args.get(place).cloned() else { return None };
            sum.args[place] = Val::Int(*amount);
            let is_same = is_equal(sum, stmt);
            sum.args[place] = Val::Int(if is_same { total.saturating_add(*amount) } else { total });
            is_same.then_some(())
        });
        if of_same.is_none() {
            sums.push((*stmt).clone());
        }
    }
    let without_amount = |sum: &Stmt| -> Vec<Val> {
        sum.args.iter().enumerate().filter(|(at, _)| *at != place).map(|(_, arg)| arg.clone()).collect()
    };
    sums.sort_by_cached_key(without_amount);
    sums
}

/// An INSERT of one row whose values are arguments and constants.
struct Insert<'a> {
    /// Up to the values.
    head: &'a str,
    /// The values, without their parentheses.
    row: &'a str,
    /// What follows them.
    tail: &'a str,
}

impl<'a> Insert<'a> {
    /// `None` if these are no statements that can be one with several rows.
    fn parse(same: &[&'a Stmt]) -> Option<Self> {
        let first = same.first()?;
        let is_like_first = |stmt: &&Stmt| {
            stmt.args.len() == first.args.len()
                && stmt.fence.is_none()
                && match (stmt.expect, first.expect) {
                    (Expect::Any, Expect::Any) => true,
                    (Expect::Rows(_, label), Expect::Rows(_, other)) => label == other,
                    _ => false,
                }
        };
        let (head, values) = first.sql.split_once(" VALUES (")?;
        let (row, tail) = values.split_once(')')?;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '$' | ',' | ' ' | '_' | '-');
        let is_insert = head.starts_with("INSERT INTO ")
            && row.chars().all(is_plain)
            && row.contains('$')
            && !tail.contains('$')
            && !tail.contains("RETURNING");
        (is_insert && same.iter().all(is_like_first)).then_some(Self { head, row, tail })
    }

    fn merge(&self, mut rows: Vec<&Stmt>, merged: &mut Vec<Stmt>) {
        if !self.tail.contains("ON CONFLICT") {
            self.merge_distinct(&rows, merged);
            return;
        }
        // Rows that may exist are locked in the order of their keys, as everywhere. One statement cannot change a row twice, so
        // the second of two equal keys comes in a later one.
        rows.sort_by(|one, other| one.args.first().cmp(&other.args.first()));
        while !rows.is_empty() {
            let (mut distinct, mut later): (Vec<&Stmt>, Vec<&Stmt>) = (Vec::new(), Vec::new());
            for row in rows {
                let is_new = distinct.last().is_none_or(|last| last.args.first() != row.args.first());
                if is_new { distinct.push(row) } else { later.push(row) }
            }
            self.merge_distinct(&distinct, merged);
            rows = later;
        }
    }

    fn merge_distinct(&self, rows: &[&Stmt], merged: &mut Vec<Stmt>) {
        let mut rest = rows;
        while let [first, ..] = rest {
            let count = (1 << rest.len().ilog2()).min(MAX_ROWS);
            let (now, later) = rest.split_at(count);
            let args: Vec<Val> = now.iter().flat_map(|stmt| stmt.args.iter().cloned()).collect();
            let expect = now.iter().fold(Expect::Any, |sum, stmt| match (sum, stmt.expect) {
                (Expect::Rows(sum, label), Expect::Rows(rows, _)) => Expect::Rows(sum + rows, label),
                (_, expect) => expect,
            });
            let sql = self.with_rows(count, first.args.len());
            merged.push(Stmt { sql: Cow::Owned(sql), args, expect, ..Stmt::new("", []) });
            rest = later;
        }
    }

    /// The text for so many rows, of so many arguments each.
    fn with_rows(&self, count: usize, args: usize) -> String {
        let mut sql = format!("{} VALUES ", self.head);
        for number in 0..count {
            sql.push_str(if number == 0 { "(" } else { ", (" });
            let mut parts = self.row.split('$');
            sql.extend(parts.next());
            for part in parts {
                let digits = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
                let (place, after) = part.split_at(digits);
                let place: usize = place.parse().unwrap_or_default();
                let _ = write!(sql, "${}{after}", place + number * args);
            }
            sql.push(')');
        }
        sql.push_str(self.tail);
        sql
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: &str = "INSERT INTO a (b, c, d) VALUES ($1, NULL, $2)";
    const BODY: &str = "INSERT INTO e (f) VALUES ($1) ON CONFLICT (f) DO UPDATE SET refs = e.refs + 1";
    const COUNT: &str = "UPDATE g SET h = h + $1 WHERE i = $2";
    const CHECK: &str = "SELECT i FROM g WHERE i = $1";

    fn batch(number: i64, body: i64) -> Vec<Stmt> {
        vec![
            Stmt::new(CHECK, [7_i64.into()]).one("check"),
            Stmt::new(BODY, [body.into()]),
            Stmt::new(ROW, [number.into(), (-number).into()]).one("row"),
            Stmt::new(COUNT, [1_i64.into(), 7_i64.into()]).amount(0).one("full"),
        ]
    }

    fn merge(batches: &[Vec<Stmt>]) -> Vec<(String, Vec<Val>, Expect)> {
        let mut order = TextOrder::default();
        assert!(batches.iter().all(|batch| order.admit(batch)));
        let batches: Vec<&[Stmt]> = batches.iter().map(Vec::as_slice).collect();
        let merged = order.merge(&batches);
        merged.into_iter().map(|stmt| (stmt.sql.into_owned(), stmt.args, stmt.expect)).collect()
    }

    fn ints(values: &[i64]) -> Vec<Val> {
        values.iter().map(|value| Val::Int(*value)).collect()
    }

    #[test]
    fn statements_with_the_same_text_become_one() {
        let merged = merge(&[batch(1, 5), batch(2, 4)]);
        let body = "INSERT INTO e (f) VALUES ($1), ($2) ON CONFLICT (f) DO UPDATE SET refs = e.refs + 1";
        let rows = "INSERT INTO a (b, c, d) VALUES ($1, NULL, $2), ($3, NULL, $4)";
        assert_eq!(
            merged,
            [
                (CHECK.to_owned(), ints(&[7]), Expect::Rows(1, "check")),
                (body.to_owned(), ints(&[4, 5]), Expect::Any),
                (rows.to_owned(), ints(&[1, -1, 2, -2]), Expect::Rows(2, "row")),
                (COUNT.to_owned(), ints(&[2, 7]), Expect::Rows(1, "full")),
            ]
        );
    }

    #[test]
    fn a_row_is_changed_once_by_a_statement() {
        let merged = merge(&[batch(1, 5), batch(2, 5), batch(3, 4)]);
        assert_eq!(merged[1].1, ints(&[4, 5]));
        assert_eq!(merged[2], (BODY.to_owned(), ints(&[5]), Expect::Any));
    }

    #[test]
    fn inserts_have_few_sizes() {
        let batches: Vec<_> = (0..71).map(|number| batch(number, number)).collect();
        let rows = |merged: &[(String, Vec<Val>, Expect)]| -> Vec<usize> {
            merged
                .iter()
                .filter(|(sql, ..)| sql.starts_with("INSERT INTO a"))
                .map(|it| it.1.len() / 2)
                .collect()
        };
        assert_eq!(rows(&merge(&batches)), [32, 32, 4, 2, 1]);
    }

    #[test]
    fn what_cannot_be_one_statement_stays_as_it_is() {
        for sql in [
            "INSERT INTO a (b) SELECT $1",
            "INSERT INTO a (b) VALUES (lower($1))",
            "INSERT INTO a (b) VALUES ($1) ON CONFLICT (b) DO UPDATE SET c = 1 WHERE a.c < $2",
            "INSERT INTO a (b) VALUES ($1) RETURNING b",
            "DELETE FROM a WHERE b = $1",
        ] {
            let one = |number: i64| vec![Stmt::new(sql, [number.into(), 0_i64.into()])];
            let merged = merge(&[one(1), one(2)]);
            assert_eq!(merged.iter().map(|it| it.1[0].clone()).collect::<Vec<_>>(), ints(&[1, 2]), "{sql}");
        }
        let of = |amount: i64, id: i64| vec![Stmt::new(COUNT, [amount.into(), id.into()]).amount(0)];
        let merged = merge(&[of(1, 7), of(1, 8), of(5, 7)]);
        assert_eq!(merged.into_iter().map(|it| it.1).collect::<Vec<_>>(), [ints(&[6, 7]), ints(&[1, 8])]);
    }

    #[test]
    fn batches_keep_their_order() {
        let text = |sql: &'static str| Stmt::new(sql, []);
        let mut order = TextOrder::default();
        assert!(order.admit(&[text("a"), text("a"), text("d")]));
        assert!(order.admit(&[text("a"), text("b"), text("d")]));
        assert!(!order.admit(&[text("x"), text("d"), text("a")]), "in another order");
        assert!(!order.admit(&[text("a").alone()]));
        assert!(order.admit(&[text("c"), text("d"), text("e")]));
        assert_eq!(order.0, ["c", "a", "b", "d", "e"]);
    }
}
