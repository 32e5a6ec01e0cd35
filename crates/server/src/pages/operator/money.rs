//! The operator's pages about payments: income, undecided payments, and one payment with what to do about it.

use crate::pages::dashboard::{Section, Shell};
use crate::pages::{Html, Moment, Span};
use askama::Template;
use dropleaf_app::{BookLine, PaymentOverview};
use dropleaf_core::ledger::{self, Kind, Unit};
use dropleaf_core::payment::{Payment, PaymentState};
use dropleaf_pay::Network;

/// Income over one network, or for one item.
#[derive(Debug)]
pub struct Income {
    pub name: String,
    /// The text of a badge next to the name.
    pub mark: Option<&'static str>,
    pub today: String,
    pub month: String,
    pub all: String,
}

#[derive(Debug, Template)]
#[template(path = "operator_payments.html")]
pub struct Payments<'a> {
    pub shell: Shell<'a>,
    pub by_network: Vec<Income>,
    pub by_item: Vec<Income>,
    /// What accounts may still spend; `granted` is what operators gave them in total.
    pub prepaid: String,
    pub granted: String,
    pub open: &'a [Payment],
    pub is_cut: bool,
    pub latest: &'a [Payment],
    pub now: i64,
    pub is_recent: bool,
}

/// What was typed into the forms that decide a payment.
#[derive(Debug, Clone, Copy, Default)]
pub struct Decision<'a> {
    pub transaction: &'a str,
    pub reason: &'a str,
    pub problem: Option<&'a str>,
}

#[derive(Debug, Template)]
#[template(path = "operator_payment.html")]
pub struct OnePayment<'a> {
    pub shell: Shell<'a>,
    pub payment: &'a Payment,
    pub now: i64,
    pub typed: Decision<'a>,
    pub is_recent: bool,
}

impl OnePayment<'_> {
    fn is_unknown(&self) -> bool {
        self.payment.state == PaymentState::Unknown
    }

    fn is_settled(&self) -> bool {
        self.payment.state == PaymentState::Settled
    }

    /// Whether an operator can mark it as settled: its outcome is unknown, or it was refused although the money moved.
    fn can_be_settled(&self) -> bool {
        matches!(self.payment.state, PaymentState::Unknown | PaymentState::Refused)
    }

    /// Whether the chain or the facilitator can be asked about it.
    fn can_be_asked(&self) -> bool {
        self.payment.state.is_open() && !self.payment.has_lost_content()
    }

    /// Whether its authorisation can still be settled.
    fn is_valid(&self) -> bool {
        self.payment.valid_until > self.now
    }
}

/// Income by network, and by item.
pub fn incomes(money: &PaymentOverview) -> (Vec<Income>, Vec<Income>) {
    let of = |kind: Kind| money.books.iter().filter(move |line| line.kind == kind).map(income).collect();
    (of(Kind::Asset), of(Kind::Revenue))
}

/// What operators have granted, minus what they took back.
pub fn granted(money: &PaymentOverview) -> i64 {
    money.books.iter().filter(|line| line.kind == Kind::Equity).map(|line| line.balance).sum()
}

fn income(line: &BookLine) -> Income {
    // Revenue is a credit, and credits are negative.
    let sign = if line.kind == Kind::Revenue { -1 } else { 1 };
    let shown = |amount: i64| line.unit.decimal(sign * amount);
    Income {
        name: name(line),
        mark: match line.unit {
            Unit::Usdc6 => None,
            Unit::Play6 => Some("sandbox"),
            Unit::Usd2 => Some("from balances"),
        },
        today: shown(line.since[0]),
        month: shown(line.since[1]),
        all: shown(line.balance),
    }
}

/// `asset:x402:eip155:8453` is shown as `base`, `revenue:publish:usdc6` as `publish`.
fn name(line: &BookLine) -> String {
    let rest = line.id.split_once(':').map_or("", |(_, rest)| rest);
    match line.kind {
        Kind::Asset => network(rest.split_once(':').map_or(rest, |(_, network)| network)),
        Kind::Liability | Kind::Revenue | Kind::Equity => {
            rest.split(':').next().unwrap_or(rest).replace('_', " ")
        }
    }
}

fn network(text: &str) -> String {
    let known = Network::parse(text).and_then(Network::v1_name);
    known.map_or_else(|| text.to_owned(), str::to_owned)
}

// The following functions are called by the templates.

fn on(payment: &Payment) -> String {
    network(&payment.network)
}

fn item(payment: &Payment) -> String {
    payment.item.as_str().replace('_', " ")
}

fn amount(payment: &Payment) -> String {
    format!("{} USDC", ledger::unit_of(payment).decimal(payment.amount))
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "templates hand over references")]
fn age(payment: &Payment, now: &i64) -> Span {
    Span(now.saturating_sub(payment.created_at).unsigned_abs())
}

fn tone(payment: &Payment) -> &'static str {
    match payment.state {
        PaymentState::Fulfilled => "good",
        PaymentState::Unknown | PaymentState::Settled => "bad",
        PaymentState::Verified | PaymentState::Settling | PaymentState::Refused | PaymentState::Refunded => {
            ""
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "templates hand over references")]
fn at(epoch: &i64) -> Moment {
    Moment(*epoch)
}

// Rendering writes into a String and cannot fail.

pub fn payments(page: &Payments<'_>) -> Html {
    Html(page.render().unwrap_or_default())
}

pub fn payment(page: &OnePayment<'_>) -> Html {
    Html(page.render().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(id: &str, unit: Unit, kind: Kind, balance: i64) -> BookLine {
        BookLine { id: id.into(), unit, kind, balance, since: [0, balance] }
    }

    #[test]
    fn books_are_read_as_networks_and_things() {
        let money = PaymentOverview {
            books: vec![
                line("asset:x402:eip155:8453", Unit::Usdc6, Kind::Asset, 1_500_000),
                line("asset:sandbox:eip155:31337", Unit::Play6, Kind::Asset, 500_000),
                line("equity:grants", Unit::Usd2, Kind::Equity, 700),
                line("revenue:make_permanent:usd2", Unit::Usd2, Kind::Revenue, -200),
                line("revenue:publish:usdc6", Unit::Usdc6, Kind::Revenue, -1_500_000),
            ],
            prepaid_minor: 500,
            open: Vec::new(),
            is_cut: false,
        };
        let (networks, items) = incomes(&money);
        let read = |all: &[Income]| -> Vec<String> {
            all.iter().map(|one| format!("{} {:?} {}", one.name, one.mark, one.all)).collect()
        };
        assert_eq!(read(&networks), ["base None 1.50", "eip155:31337 Some(\"sandbox\") 0.50"]);
        assert_eq!(read(&items), ["make permanent Some(\"from balances\") 2.00", "publish None 1.50"]);
        assert_eq!(granted(&money), 700);
    }
}
