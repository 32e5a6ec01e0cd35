//! The operator's pages about payments: income, undecided payments, and one payment with what to do about it.

use super::revenue::RevenueSection;
use super::{at, stylesheet};
use crate::dashboard::{Section, Shell};
use crate::{Elapsed, Html};
use askama::Template;
use dropleaf_core::ledger::{self, Kind, Unit};
use dropleaf_core::payment::{Payment, PaymentState};
use dropleaf_core::rail::Rail;

/// Looks up the short name of a network, such as `base` for `eip155:8453`.
pub type NetworkName = fn(&str) -> Option<&'static str>;

/// A ledger account with its balance and its movements since two points in time.
#[derive(Debug, Clone, Copy)]
pub struct LedgerAccount<'a> {
    pub id: &'a str,
    pub unit: Unit,
    pub kind: Kind,
    pub balance: i64,
    /// Movements today, and in the last 30 days.
    pub since: [i64; 2],
}

/// Income over one network, or for one item.
#[derive(Debug)]
pub struct IncomeRow {
    pub name: String,
    /// The text of a badge next to the name.
    pub badge: Option<&'static str>,
    pub today: String,
    pub month: String,
    pub all: String,
}

#[derive(Debug, Template)]
#[template(path = "operator_payments.html")]
pub struct PaymentsPage<'a> {
    pub shell: Shell<'a>,
    pub by_network: Vec<IncomeRow>,
    pub by_item: Vec<IncomeRow>,
    /// What accounts may still spend; `granted` is what operators gave them in total.
    pub prepaid: String,
    pub granted: String,
    pub revenue: RevenueSection,
    pub open: &'a [Payment],
    pub is_cut: bool,
    pub latest: &'a [Payment],
    pub network_name: NetworkName,
    pub now: i64,
    pub is_recent: bool,
}

/// What was typed into the forms that decide a payment.
#[derive(Debug, Clone, Copy, Default)]
pub struct PaymentDecisionForm<'a> {
    pub transaction: &'a str,
    pub reason: &'a str,
    pub problem: Option<&'a str>,
}

#[derive(Debug, Template)]
#[template(path = "operator_payment.html")]
pub struct PaymentPage<'a> {
    pub shell: Shell<'a>,
    pub payment: &'a Payment,
    pub network_name: NetworkName,
    pub now: i64,
    pub form: PaymentDecisionForm<'a>,
    pub is_recent: bool,
}

impl PaymentsPage<'_> {
    fn network(&self, payment: &Payment) -> String {
        network(&payment.network, self.network_name)
    }
}

impl PaymentPage<'_> {
    fn network(&self) -> String {
        network(&self.payment.network, self.network_name)
    }

    fn is_unknown(&self) -> bool {
        self.payment.state == PaymentState::Unknown
    }

    fn is_settled(&self) -> bool {
        self.payment.state == PaymentState::Settled
    }

    /// Whether its authorisation can still be settled.
    fn is_valid(&self) -> bool {
        self.payment.valid_until > self.now
    }
}

/// Income by network, and by item.
pub fn income_rows(
    ledger: &[LedgerAccount<'_>],
    network_name: NetworkName,
) -> (Vec<IncomeRow>, Vec<IncomeRow>) {
    let of = |kind: Kind| {
        let accounts = ledger.iter().filter(move |account| account.kind == kind);
        accounts.map(|account| income_row(account, network_name)).collect()
    };
    (of(Kind::Asset), of(Kind::Revenue))
}

/// What operators have granted in real money, minus what they took back.
pub fn total_granted(ledger: &[LedgerAccount<'_>]) -> i64 {
    let is_grant = |account: &&LedgerAccount<'_>| account.kind == Kind::Equity && account.unit == Unit::Usd2;
    ledger.iter().filter(is_grant).map(|account| account.balance).sum()
}

fn income_row(account: &LedgerAccount<'_>, network_name: NetworkName) -> IncomeRow {
    // Revenue is a credit, and credits are negative.
    let sign = if account.kind == Kind::Revenue { -1 } else { 1 };
    let shown = |amount: i64| account.unit.decimal(sign * amount);
    IncomeRow {
        name: name(account, network_name),
        badge: match account.unit {
            Unit::Usdc6 => None,
            Unit::Play6 | Unit::Play2 => Some("sandbox"),
            Unit::Usd2 => Some("from balances"),
        },
        today: shown(account.since[0]),
        month: shown(account.since[1]),
        all: shown(account.balance),
    }
}

/// `asset:x402:eip155:8453` is shown as `base`, `asset:mpp:eip155:8453` as `base (mpp)`, `revenue:publish:usdc6` as
/// `publish`.
fn name(account: &LedgerAccount<'_>, network_name: NetworkName) -> String {
    let rest = account.id.split_once(':').map_or("", |(_, rest)| rest);
    match account.kind {
        Kind::Asset => {
            let (rail, chain) = rest.split_once(':').unwrap_or(("", rest));
            let network = network(chain, network_name);
            if rail == Rail::Mpp.as_str() { format!("{network} ({rail})") } else { network }
        }
        Kind::Liability | Kind::Revenue | Kind::Equity => {
            rest.split(':').next().unwrap_or(rest).replace('_', " ")
        }
    }
}

fn network(text: &str, network_name: NetworkName) -> String {
    network_name(text).unwrap_or(text).to_owned()
}

// The following functions are called by the templates.

fn item(payment: &Payment) -> String {
    payment.item.as_str().replace('_', " ")
}

fn amount(payment: &Payment) -> String {
    format!("{} USDC", ledger::unit_of(payment).decimal(payment.amount))
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "templates hand over references")]
fn age(payment: &Payment, now: &i64) -> Elapsed {
    Elapsed(now.saturating_sub(payment.created_at).unsigned_abs())
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

// Rendering writes into a String and cannot fail.

pub fn payments(page: &PaymentsPage<'_>) -> Html {
    Html(page.render().unwrap_or_default())
}

pub fn payment(page: &PaymentPage<'_>) -> Html {
    Html(page.render().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(id: &str, unit: Unit, kind: Kind, balance: i64) -> LedgerAccount<'_> {
        LedgerAccount { id, unit, kind, balance, since: [0, balance] }
    }

    #[test]
    fn ledger_accounts_are_shown_as_networks_and_items() {
        let ledger = [
            account("asset:x402:eip155:8453", Unit::Usdc6, Kind::Asset, 1_500_000),
            account("asset:sandbox:eip155:31337", Unit::Play6, Kind::Asset, 500_000),
            account("equity:grants", Unit::Usd2, Kind::Equity, 700),
            account("revenue:make_permanent:usd2", Unit::Usd2, Kind::Revenue, -200),
            account("revenue:publish:usdc6", Unit::Usdc6, Kind::Revenue, -1_500_000),
        ];
        let (networks, items) = income_rows(&ledger, |network| (network == "eip155:8453").then_some("base"));
        let read = |all: &[IncomeRow]| -> Vec<String> {
            all.iter().map(|one| format!("{} {:?} {}", one.name, one.badge, one.all)).collect()
        };
        assert_eq!(read(&networks), ["base None 1.50", "eip155:31337 Some(\"sandbox\") 0.50"]);
        assert_eq!(read(&items), ["make permanent Some(\"from balances\") 2.00", "publish None 1.50"]);
        assert_eq!(total_granted(&ledger), 700);
    }
}
