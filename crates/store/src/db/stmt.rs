//! A statement with its arguments and the number of rows it must affect, and its outcome.
//!
//! A transaction is a list of statements, so SQLite can group many transactions into one commit and PostgreSQL can send one
//! in a single round trip.

use std::borrow::Cow;

use super::{Row, Val};

/// The condition on the number of affected rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    Any,
    /// Exactly this many rows; otherwise the whole batch is rolled back and fails with `DbError::Guard(label)`.
    Rows(u64, &'static str),
}

/// One statement of a batch. Placeholders are `$1…$n`, numbered in order of first appearance.
#[derive(Debug, Clone)]
pub struct Stmt {
    pub sql: Cow<'static, str>,
    pub args: Vec<Val>,
    pub expect: Expect,
    /// The argument that is an amount; see [`Stmt::amount`].
    pub(crate) amount: Option<usize>,
    pub(crate) is_alone: bool,
    /// Boxed, because few statements have one.
    pub(crate) fence: Option<Box<Fence>>,
    pub(crate) is_slow: bool,
}

/// What a batch may do beside others of the same account. SQLite runs one batch at a time and needs no fence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fence {
    pub(crate) account: String,
    pub(crate) kind: FenceKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FenceKind {
    /// Beside other batches with a shared fence, until it commits.
    Shared,
    /// Beside no other batch with a fence of this account.
    Alone,
    /// Beside all others; batches with the same name only share the connections of a node.
    PermitOnly,
}

impl Stmt {
    pub fn new(sql: &'static str, args: impl Into<Vec<Val>>) -> Self {
        Stmt {
            sql: Cow::Borrowed(sql),
            args: args.into(),
            expect: Expect::Any,
            amount: None,
            is_alone: false,
            fence: None,
            is_slow: false,
        }
    }

    /// Exactly one row, or the batch fails with this label.
    #[must_use]
    pub fn one(self, label: &'static str) -> Self {
        self.rows(1, label)
    }

    /// Takes the account's fence before this statement runs. It is held until the batch ends.
    #[must_use]
    pub fn fence(mut self, account: &str, kind: FenceKind) -> Self {
        self.fence = Some(Box::new(Fence { account: account.to_owned(), kind }));
        self
    }

    /// The argument at this place is an amount: one statement with the sum does the same as several one after another.
    #[must_use]
    pub const fn amount(mut self, place: usize) -> Self {
        self.amount = Some(place);
        self
    }

    /// Its batch shares no transaction with others, because it locks rows in an order of its own.
    #[must_use]
    pub const fn alone(mut self) -> Self {
        self.is_alone = true;
        self
    }

    /// May take minutes, because it changes all rows of something. The batch gets more time.
    #[must_use]
    pub const fn slow(mut self) -> Self {
        self.is_slow = true;
        self
    }

    /// Exactly `n` rows, or the batch fails with this label.
    #[must_use]
    pub fn rows(mut self, n: u64, label: &'static str) -> Self {
        self.expect = Expect::Rows(n, label);
        self
    }
}

/// The result of one statement: rows affected, and the rows of its `RETURNING` clause.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    pub affected: u64,
    pub rows: Vec<OwnedRow>,
}

/// A row that outlives its statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnedRow(pub(crate) Vec<Val>);

impl OwnedRow {
    pub fn as_row(&self) -> Row<'_> {
        Row::owned(&self.0)
    }
}
