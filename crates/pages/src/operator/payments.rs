//! The operator's pages about payments: income, undecided payments, and one payment with what to do about it.

use super::revenue::RevenueSection;
use super::{at, stylesheet};
use crate::dashboard::{Section, Shell};
use crate::{Elapsed, Html};
use askama::Template;
use dropleaf_core::ledger::{Kind, Unit};
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
    /// Only payments on this rail are in `latest`.
    pub rail: Option<Rail>,
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
    /// Where the payment came from: the network, and the payer as far as it is known.
    fn source(&self, payment: &Payment) -> String {
        match payment.rail {
            Rail::X402 | Rail::Mpp => network(&payment.network, self.network_name),
            Rail::Acp | Rail::Ap2 | Rail::Card => payment.network.clone(),
            Rail::Balance => "prepaid balance".to_owned(),
        }
    }

    /// The choices of the filter: its name, its address, and whether it is chosen.
    fn rails(&self) -> Vec<(&'static str, String, bool)> {
        let rails = Rail::ALL.into_iter().map(|rail| {
            let name = rail.as_str();
            (name, format!("/operator/payments?rail={name}#latest"), self.rail == Some(rail))
        });
        let all = ("all", "/operator/payments#latest".to_owned(), self.rail.is_none());
        std::iter::once(all).chain(rails).collect()
    }
}

impl PaymentPage<'_> {
    fn network(&self) -> String {
        network(&self.payment.network, self.network_name)
    }

    fn is_on_chain(&self) -> bool {
        self.payment.rail.is_on_chain()
    }

    fn is_by_card(&self) -> bool {
        self.payment.rail.is_by_card()
    }

    /// What to type to mark it as settled: what was typed before, or the ID that is known already.
    fn transaction(&self) -> &str {
        let known = self.payment.transaction.as_deref().filter(|_| self.is_by_card());
        if self.form.transaction.is_empty() { known.unwrap_or_default() } else { self.form.transaction }
    }

    /// Amounts that a card payment has besides its own.
    fn parts(&self) -> Vec<(&'static str, String)> {
        let parts = [
            ("Credit for the balance", self.payment.credit_minor),
            ("Refunded", self.payment.refunded_minor),
            ("Disputed", self.payment.disputed_minor),
        ];
        let shown = |cents: i64| Unit::Usd2.written(cents);
        parts.into_iter().filter(|(_, cents)| *cents != 0).map(|(name, cents)| (name, shown(cents))).collect()
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
            Unit::Play6 => Some("sandbox"),
            Unit::Play2 => Some("sandbox USD"),
            Unit::Usd2 => Some("USD"),
        },
        today: shown(account.since[0]),
        month: shown(account.since[1]),
        all: shown(account.balance),
    }
}

/// `asset:x402:eip155:8453` is shown as `base`, `asset:mpp:eip155:8453` as `base (mpp)`, `asset:card:stripe` as `stripe (card)`,
/// `asset:owed:usd2:acct_1` as `owed by acct_1`, `revenue:publish:usdc6` as `publish`.
fn name(account: &LedgerAccount<'_>, network_name: NetworkName) -> String {
    let rest = account.id.split_once(':').map_or("", |(_, rest)| rest);
    match account.kind {
        Kind::Asset => {
            let (rail, chain) = rest.split_once(':').unwrap_or(("", rest));
            let network = network(chain, network_name);
            match rail {
                "owed" => format!("owed by {}", chain.rsplit(':').next().unwrap_or(chain)),
                _ if Rail::parse(rail).is_some_and(|rail| rail != Rail::X402) => {
                    format!("{network} ({rail})")
                }
                _ => network,
            }
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
    let unit = if payment.rail.is_on_chain() { Unit::Usdc6 } else { Unit::Usd2 };
    unit.written(payment.amount)
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
            account("asset:mpp:eip155:8453", Unit::Usdc6, Kind::Asset, 500_000),
            account("asset:card:stripe", Unit::Usd2, Kind::Asset, 600),
            account("asset:owed:usd2:acct_1", Unit::Usd2, Kind::Asset, 100),
            account("equity:grants", Unit::Usd2, Kind::Equity, 700),
            account("revenue:make_permanent:usd2", Unit::Usd2, Kind::Revenue, -200),
            account("revenue:publish:usdc6", Unit::Usdc6, Kind::Revenue, -1_500_000),
        ];
        let (networks, items) = income_rows(&ledger, |network| (network == "eip155:8453").then_some("base"));
        let read = |all: &[IncomeRow]| -> Vec<String> {
            all.iter().map(|one| format!("{} {:?} {}", one.name, one.badge, one.all)).collect()
        };
        let expected = [
            "base None 1.50",
            "eip155:31337 Some(\"sandbox\") 0.50",
            "base (mpp) None 0.50",
            "stripe (card) Some(\"USD\") 6.00",
            "owed by acct_1 Some(\"USD\") 1.00",
        ];
        assert_eq!(read(&networks), expected);
        assert_eq!(read(&items), ["make permanent Some(\"USD\") 2.00", "publish None 1.50"]);
        assert_eq!(total_granted(&ledger), 700);
    }
}
