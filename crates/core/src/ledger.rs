//! The books: double entry in whole numbers. Debits are positive and credits negative, and what is booked together sums
//! to zero in each unit, so that money is only ever moved, never made. Knows nothing of how they are kept.

use crate::payment::{Item, Payment};
use crate::{Error, Result, plain_text};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// What is counted. Units never mix: an account has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unit {
    /// Dollars on a chain, with 6 decimals.
    Usdc6,
    /// The sandbox's, which are worth nothing: in the books as well they never meet real ones.
    Play6,
    /// Cents: what an account has paid in advance.
    Usd2,
}

/// What kind of thing an account is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// What the operator has.
    Asset,
    /// What the operator owes: never positive, or somebody has spent more than they had.
    Liability,
    Revenue,
    /// What the operator gave away.
    Equity,
}

/// An account of the books.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Book {
    pub id: String,
    pub unit: Unit,
    pub kind: Kind,
    /// Whose balance this is, if it is somebody's.
    pub owner: Option<String>,
}

/// Why something was booked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cause {
    /// A payment came in.
    Income,
    /// A balance was drawn from.
    Spend,
    /// An operator gave, or took back.
    Grant,
}

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

names!(Unit: Usdc6 = "usdc6", Play6 = "play6", Usd2 = "usd2");
names!(Kind: Asset = "asset", Liability = "liability", Revenue = "revenue", Equity = "equity");
names!(Cause: Income = "income", Spend = "spend", Grant = "grant");

impl Unit {
    const fn decimals(self) -> u32 {
        match self {
            Self::Usdc6 | Self::Play6 => 6,
            Self::Usd2 => 2,
        }
    }

    /// An amount in whole units: at least two decimals, and no more zeros than that.
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

    /// The same with what it is an amount of.
    pub fn written(self, amount: i64) -> String {
        let decimal = self.decimal(amount);
        match self {
            Self::Usdc6 => format!("{decimal} USDC"),
            Self::Play6 => format!("{decimal} sandbox USDC"),
            Self::Usd2 => decimal.strip_prefix('-').map_or(format!("${decimal}"), |rest| format!("-${rest}")),
        }
    }
}

/// A price in dollars: `0.50`.
pub fn dollars(micros: u64) -> String {
    Unit::Usdc6.decimal(i64::try_from(micros).unwrap_or(i64::MAX))
}

impl Book {
    fn new(id: String, unit: Unit, kind: Kind) -> Self {
        Self { id, unit, kind, owner: None }
    }

    /// What came in over a network.
    fn received(payment: &Payment) -> Self {
        let way = if payment.sandbox { "sandbox" } else { payment.protocol.as_str() };
        Self::new(format!("asset:{way}:{}", payment.network), unit_of(payment), Kind::Asset)
    }

    fn revenue(item: Item, unit: Unit) -> Self {
        Self::new(format!("revenue:{}:{}", item.as_str(), unit.as_str()), unit, Kind::Revenue)
    }

    /// What an account has paid in advance.
    pub fn prepaid(account_id: &str) -> Self {
        let owner = Some(account_id.to_owned());
        Self { id: format!("prepaid:{account_id}"), unit: Unit::Usd2, kind: Kind::Liability, owner }
    }

    fn grants() -> Self {
        Self::new("equity:grants".to_owned(), Unit::Usd2, Kind::Equity)
    }
}

/// The unit a payment was made in.
pub const fn unit_of(payment: &Payment) -> Unit {
    if payment.sandbox { Unit::Play6 } else { Unit::Usdc6 }
}

/// One line of what is booked together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub book: Book,
    pub amount: i64,
}

/// What is booked together, under a key that books it once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posting {
    key: String,
    cause: Cause,
    entries: Vec<Entry>,
    payment_id: Option<String>,
    note: Option<String>,
}

/// No single entry is larger: a billion dollars with 6 decimals. Sums stay far inside an integer.
const LARGEST: i64 = 1_000_000_000_000_000;

impl Posting {
    /// None unless every entry says something and all of them sum to zero in each unit.
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
        // One order for all, so that two that book at once do not wait for each other crosswise.
        entries.sort_by(|a, b| a.book.id.cmp(&b.book.id));
        Some(Self { key, cause, entries, payment_id: None, note: None })
    }

    fn pair(key: String, cause: Cause, debit: Book, credit: Book, amount: i64) -> Option<Self> {
        let entries =
            vec![Entry { book: debit, amount }, Entry { book: credit, amount: amount.checked_neg()? }];
        Self::new(key, cause, entries)
    }

    /// A settled payment: the money is there, and was earned.
    pub fn income(payment: &Payment) -> Option<Self> {
        let revenue = Book::revenue(payment.item, unit_of(payment));
        let key = format!("{}:{}", payment.protocol, payment.key);
        let posting = Self::pair(key, Cause::Income, Book::received(payment), revenue, payment.amount)?;
        Some(Self { payment_id: Some(payment.id.clone()), ..posting })
    }

    /// Something bought from what was paid in advance.
    pub fn spend(name: &str, account_id: &str, item: Item, cents: i64) -> Option<Self> {
        let (from, to) = (Book::prepaid(account_id), Book::revenue(item, Unit::Usd2));
        Self::pair(format!("spend:{name}"), Cause::Spend, from, to, cents)
    }

    /// A gift of the operator; less than nothing takes back.
    pub fn grant(name: &str, account_id: &str, cents: i64, note: String) -> Option<Self> {
        let to = Book::prepaid(account_id);
        let posting = Self::pair(format!("grant:{name}"), Cause::Grant, Book::grants(), to, cents)?;
        Some(Self { note: Some(note), ..posting })
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

    /// What tells a repeat from a mistake: the same key with another fingerprint is one. The note is only for people.
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

/// Why an operator touched money. It is kept for good, so there has to be one.
pub fn reason(text: &str) -> Result<String> {
    plain_text::optional("reason", Some(text.to_owned()), REASON_CHARACTERS)?
        .ok_or_else(|| Error::field("reason", "must give a reason"))
}

/// Reads dollars such as `10` or `-2.50` as cents.
pub fn cents(text: &str) -> Result<i64> {
    let wrong = || Error::field("amount", "must be dollars such as 10.00, at most 1000000");
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
#[path = "ledger_tests.rs"]
mod tests;
