//! The ledger: double-entry bookkeeping in integers. Debits are positive, credits negative, and the entries of a posting sum to
//! zero in each unit, so money is only moved, never created. Leaves storage to others.

use crate::{Error, Result, plain_text};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// The names of an enum in the database and in the API.
macro_rules! names {
    ($kind:ident: $($variant:ident = $text:literal),*) => {
        impl $kind {
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }

            pub fn parse(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.as_str() == text)
            }
        }
    };
}

mod movement;
mod postings;

pub use movement::MovementKind;
pub use postings::{Reversal, ReversalCause, unit_of};

/// The unit of an account's amounts. Units never mix: an account has exactly one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unit {
    /// USDC on a chain, with 6 decimals.
    Usdc6,
    /// Sandbox USDC, which has no value; it is never mixed with real USDC in the ledger either.
    Play6,
    /// US cents: prepaid balances and card payments.
    Usd2,
    /// Sandbox cents, which have no value.
    Play2,
}

/// The type of a ledger account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// What the operator has.
    Asset,
    /// What the operator owes. Never positive: a positive balance would mean that more was spent than paid in.
    Liability,
    Revenue,
    /// What the operator gave away.
    Equity,
}

/// A ledger account.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Book {
    pub id: String,
    pub unit: Unit,
    pub kind: Kind,
    /// The customer account whose balance this is, if any.
    pub owner: Option<String>,
}

/// Why a posting was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cause {
    /// A payment was received.
    Income,
    /// A prepaid balance was spent.
    Spend,
    /// An operator credited an account, or took credit back.
    Grant,
    /// A card payment was refunded, in part or in full.
    Refund,
    /// The cardholder disputed a payment, and the bank took the amount back.
    Dispute,
    /// A dispute was won, and the amount came back.
    Reinstatement,
}

names!(Unit: Usdc6 = "usdc6", Play6 = "play6", Usd2 = "usd2", Play2 = "play2");
names!(Kind: Asset = "asset", Liability = "liability", Revenue = "revenue", Equity = "equity");
names!(Cause: Income = "income", Spend = "spend", Grant = "grant", Refund = "refund", Dispute = "dispute",
    Reinstatement = "reinstatement");

impl Unit {
    const fn decimals(self) -> u32 {
        match self {
            Self::Usdc6 | Self::Play6 => 6,
            Self::Usd2 | Self::Play2 => 2,
        }
    }

    /// Formats an amount in whole units with at least two decimals, without further trailing zeros.
    pub fn decimal(self, amount: i64) -> String {
        let scale = 10_u64.pow(self.decimals());
        let (whole, part) = (amount.unsigned_abs() / scale, amount.unsigned_abs() % scale);
        let mut part = format!("{part:0width$}", width = self.decimals() as usize);
        while part.len() > 2 && part.ends_with('0') {
            part.pop();
        }
        let sign = if amount < 0 { "-" } else { "" };
        format!("{sign}{whole}.{part}")
    }

    /// Like `decimal`, with the currency.
    pub fn written(self, amount: i64) -> String {
        let decimal = self.decimal(amount);
        let in_dollars =
            || decimal.strip_prefix('-').map_or(format!("${decimal}"), |rest| format!("-${rest}"));
        match self {
            Self::Usdc6 => format!("{decimal} USDC"),
            Self::Play6 => format!("{decimal} sandbox USDC"),
            Self::Usd2 => in_dollars(),
            Self::Play2 => format!("{} (sandbox)", in_dollars()),
        }
    }

    /// Whether amounts in this unit have no value.
    pub const fn is_sandbox(self) -> bool {
        matches!(self, Self::Play6 | Self::Play2)
    }
}

/// Formats a price in dollars: `0.50`.
pub fn dollars(micros: u64) -> String {
    Unit::Usdc6.decimal(i64::try_from(micros).unwrap_or(i64::MAX))
}

impl Book {
    fn new(id: String, unit: Unit, kind: Kind) -> Self {
        Self { id, unit, kind, owner: None }
    }

    /// An account's prepaid balance. Sandbox money has a balance of its own, so that it never becomes real.
    pub fn prepaid(account_id: &str, sandbox: bool) -> Self {
        let (id, unit) = if sandbox {
            (format!("prepaid:sandbox:{account_id}"), Unit::Play2)
        } else {
            (format!("prepaid:{account_id}"), Unit::Usd2)
        };
        Self { id, unit, kind: Kind::Liability, owner: Some(account_id.to_owned()) }
    }
}

/// One line of a posting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub book: Book,
    pub amount: i64,
}

/// A set of entries booked together, at most once per key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posting {
    key: String,
    cause: Cause,
    entries: Vec<Entry>,
    payment_id: Option<String>,
    note: Option<String>,
}

/// The largest amount of one entry: a billion dollars with 6 decimals. Sums stay far from overflow.
const LARGEST: i64 = 1_000_000_000_000_000;

impl Posting {
    /// `None` unless every entry is non-zero and within bounds, and all of them sum to zero in each unit.
    pub fn new(key: String, cause: Cause, mut entries: Vec<Entry>) -> Option<Self> {
        let mut sums: BTreeMap<Unit, i64> = BTreeMap::new();
        for entry in &entries {
            if entry.amount == 0 || !(-LARGEST..=LARGEST).contains(&entry.amount) {
                return None;
            }
            let sum = sums.entry(entry.book.unit).or_default();
            *sum = sum.checked_add(entry.amount)?;
        }
        if entries.is_empty() || sums.values().any(|sum| *sum != 0) {
            return None;
        }
        // One order for all postings, so that concurrent ones do not deadlock.
        entries.sort_by(|a, b| a.book.id.cmp(&b.book.id));
        Some(Self { key, cause, entries, payment_id: None, note: None })
    }

    fn pair(key: String, cause: Cause, debit: Book, credit: Book, amount: i64) -> Option<Self> {
        let entries =
            vec![Entry { book: debit, amount }, Entry { book: credit, amount: amount.checked_neg()? }];
        Self::new(key, cause, entries)
    }

    pub fn key(&self) -> &str {
        &self.key
    }

    pub const fn cause(&self) -> Cause {
        self.cause
    }

    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub fn payment_id(&self) -> Option<&str> {
        self.payment_id.as_deref()
    }

    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// Tells a repeated posting from a conflicting one: the same key with another fingerprint is a conflict. Excludes the note,
    /// which is only for people.
    pub fn fingerprint(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        let mut add = |part: &[u8]| {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        };
        add(self.cause.as_str().as_bytes());
        add(self.payment_id.as_deref().unwrap_or_default().as_bytes());
        for entry in &self.entries {
            add(entry.book.id.as_bytes());
            add(entry.book.unit.as_str().as_bytes());
            add(&entry.amount.to_be_bytes());
        }
        hash.finalize().into()
    }
}

const REASON_CHARACTERS: usize = 500;

/// Validates an operator's reason for changing money. It is required, because it is kept forever.
pub fn reason(text: &str) -> Result<String> {
    plain_text::optional("reason", Some(text.to_owned()), REASON_CHARACTERS)?
        .ok_or_else(|| Error::field("reason", "is required"))
}

/// Parses dollars such as `10` or `-2.50` into cents.
pub fn cents(text: &str) -> Result<i64> {
    let wrong = || Error::field("amount", "must be an amount in dollars such as 10.00, at most 1000000");
    let (sign, digits) = text.trim().strip_prefix('-').map_or((1, text.trim()), |rest| (-1, rest));
    let (whole, part) = digits.split_once('.').unwrap_or((digits, "00"));
    let fits = |text: &str, most: usize| {
        (1..=most).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit())
    };
    if !fits(whole, 7) || !fits(part, 2) {
        return Err(wrong());
    }
    let cents: i64 = format!("{whole}{part:0<2}").parse().map_err(|_| wrong())?;
    if (1..=100_000_000).contains(&cents) { Ok(sign * cents) } else { Err(wrong()) }
}

#[cfg(test)]
pub(crate) mod tests;
