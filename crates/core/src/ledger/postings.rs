//! The postings that are made: income, purchases from a balance, credit from an operator, and reversals of card payments.

use super::{Book, Cause, Entry, Kind, Posting, Unit};
use crate::account::Charge;
use crate::payment::{Item, Payment};

/// The unit of a payment.
pub const fn unit_of(payment: &Payment) -> Unit {
    match (payment.rail.is_on_chain(), payment.sandbox) {
        (true, false) => Unit::Usdc6,
        (true, true) => Unit::Play6,
        (false, false) => Unit::Usd2,
        (false, true) => Unit::Play2,
    }
}

/// Why money that was received went back, or came back again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReversalCause<'a> {
    /// The sum of the refunds of the payment that stand now, after this many postings of refunds. It becomes smaller if a refund
    /// failed.
    Refund { total: i64, posted: i64 },
    /// The id of the dispute.
    Dispute(&'a str),
    /// The id of the dispute that was won.
    Reinstatement(&'a str),
}

impl ReversalCause<'_> {
    const fn cause(self) -> Cause {
        match self {
            Self::Refund { .. } => Cause::Refund,
            Self::Dispute(_) => Cause::Dispute,
            Self::Reinstatement(_) => Cause::Reinstatement,
        }
    }

    /// The key of the posting. Each change of the sum of refunds, and each dispute, is posted once.
    pub fn key(self, payment_id: &str) -> String {
        match self {
            Self::Refund { total, posted } => format!("refund:{payment_id}:{posted}:{total}"),
            Self::Dispute(id) => format!("dispute:{id}"),
            Self::Reinstatement(id) => format!("reinstatement:{id}"),
        }
    }
}

/// How an amount that goes back is divided. Negative parts come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reversal {
    /// Taken from what was earned.
    pub revenue: i64,
    /// Taken from the balance that the payment had credited.
    pub balance: i64,
    /// What the account has spent already and owes now.
    pub owed: i64,
}

impl Reversal {
    /// Divides a change of what went back in total, from `before` to `after`. Credit goes back first, as far as the balance still
    /// holds it; the rest of the credit is owed. What comes back first settles what is owed. So the sum of all parts follows from
    /// the totals alone, in whatever order refunds and disputes are reported. `available`: the account's balance. `owed`: what the
    /// account owes for this payment.
    pub fn between(payment: &Payment, before: i64, after: i64, available: i64, owed: i64) -> Self {
        let credit_of = |reversed: i64| reversed.min(payment.credit_minor);
        let credit = credit_of(after) - credit_of(before);
        let revenue = after - before - credit;
        let owed = if credit >= 0 { credit - credit.min(available.max(0)) } else { credit.max(-owed.max(0)) };
        Self { revenue, balance: credit - owed, owed }
    }

    pub const fn total(self) -> i64 {
        self.revenue + self.balance + self.owed
    }
}

impl Book {
    /// Payments received on a network, or through the card processor.
    fn received(payment: &Payment) -> Self {
        let rail = if payment.sandbox { "sandbox" } else { payment.rail.as_str() };
        Self::new(format!("asset:{rail}:{}", payment.network), unit_of(payment), Kind::Asset)
    }

    pub(super) fn revenue(item: Item, unit: Unit) -> Self {
        Self::new(format!("revenue:{}:{}", item.as_str(), unit.as_str()), unit, Kind::Revenue)
    }

    pub(super) fn grants(sandbox: bool) -> Self {
        let (id, unit) =
            if sandbox { ("equity:sandbox:grants", Unit::Play2) } else { ("equity:grants", Unit::Usd2) };
        Self::new(id.to_owned(), unit, Kind::Equity)
    }

    /// Credit that an account had spent before its payment went back.
    pub fn owed(account_id: &str, unit: Unit) -> Self {
        Self::new(format!("asset:owed:{}:{account_id}", unit.as_str()), unit, Kind::Asset)
    }
}

impl Posting {
    /// A settled payment: debits the received asset, credits revenue and, as far as the payment exceeds the price, the
    /// account's balance.
    pub fn income(payment: &Payment) -> Option<Self> {
        let unit = unit_of(payment);
        let earned = payment.amount.checked_sub(payment.credit_minor).filter(|earned| *earned >= 0)?;
        let mut entries = vec![Entry { book: Book::received(payment), amount: payment.amount }];
        push(&mut entries, Book::revenue(payment.item, unit), -earned);
        if payment.credit_minor != 0 {
            let account = payment.account_id.as_deref().filter(|_| !payment.rail.is_on_chain())?;
            push(&mut entries, Book::prepaid(account, payment.sandbox), -payment.credit_minor);
        }
        let key = format!("{}:{}", payment.rail.as_str(), payment.key);
        let posting = Self::new(key, Cause::Income, entries)?;
        Some(Self { payment_id: Some(payment.id.clone()), ..posting })
    }

    /// A purchase from the prepaid balance.
    pub fn spend(name: &str, account_id: &str, item: Item, charge: Charge) -> Option<Self> {
        let mut entries = Vec::new();
        for (cents, sandbox) in [(charge.real, false), (charge.sandbox, true)] {
            let from = Book::prepaid(account_id, sandbox);
            let to = Book::revenue(item, from.unit);
            push(&mut entries, from, cents);
            push(&mut entries, to, -cents);
        }
        Self::new(format!("spend:{name}"), Cause::Spend, entries)
    }

    /// A credit from the operator; a negative amount takes it back.
    pub fn grant(name: &str, account_id: &str, cents: i64, sandbox: bool, note: String) -> Option<Self> {
        let (from, to) = (Book::grants(sandbox), Book::prepaid(account_id, sandbox));
        let posting = Self::pair(format!("grant:{name}"), Cause::Grant, from, to, cents)?;
        Some(Self { note: Some(note), ..posting })
    }

    /// Money of a card payment that went back to the cardholder, or came back.
    pub fn reversal(payment: &Payment, cause: ReversalCause<'_>, parts: Reversal) -> Option<Self> {
        let unit = unit_of(payment);
        let mut entries = vec![Entry { book: Book::received(payment), amount: parts.total().checked_neg()? }];
        push(&mut entries, Book::revenue(payment.item, unit), parts.revenue);
        if parts.balance != 0 || parts.owed != 0 {
            let account = payment.account_id.as_deref()?;
            push(&mut entries, Book::prepaid(account, payment.sandbox), parts.balance);
            push(&mut entries, Book::owed(account, unit), parts.owed);
        }
        let posting = Self::new(cause.key(&payment.id), cause.cause(), entries)?;
        Some(Self { payment_id: Some(payment.id.clone()), ..posting })
    }
}

/// Adds an entry, unless it moves nothing.
fn push(entries: &mut Vec<Entry>, book: Book, amount: i64) {
    if amount != 0 {
        entries.push(Entry { book, amount });
    }
}
