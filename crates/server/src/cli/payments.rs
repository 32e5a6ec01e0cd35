//! `dropleaf payments …`: lists payments, and decides those that only a person can clarify. Works while the server runs. The
//! revenue report is in `revenue.rs`.

use super::output::{Cell, Column, Now, Table, WARNING, print_json, print_line, shortened, visible};
use super::{name, revenue, with_app};
use crate::config::Config;
use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use dropleaf_app::{App, COMMAND_LINE, PaymentFilter, Resolution};
use dropleaf_core::payment::{Payment, PaymentState};
use dropleaf_core::rail::Rail;
use dropleaf_core::{iso, ledger};
use serde_json::{Value, json};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List payments on all rails, newest first
    List(List),
    /// Show everything about one payment except its secrets
    Show {
        #[arg(allow_hyphen_values = true, value_parser = name::parse)]
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Check a payment with the blockchain and the facilitator, or with the card processor, now, instead of at the next scheduled time
    Ask {
        #[arg(allow_hyphen_values = true, value_parser = name::parse)]
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Decide a payment whose outcome is `unknown`, after checking the blockchain or the card processor's dashboard; or mark a `refused` one as settled; or
    /// close a `settled` one that you refunded
    Resolve(Resolve),
    /// Report revenue by month, payment rail and product, from the ledger
    Revenue(revenue::Revenue),
}

#[derive(Debug, Args)]
pub(super) struct List {
    /// Only payments in this state: verified, settling, settled, fulfilled, refused, unknown or refunded
    #[arg(long, value_parser = state)]
    state: Option<PaymentState>,
    /// Only payments on this rail: x402, mpp, acp, ap2, card or balance
    #[arg(long, value_parser = rail)]
    rail: Option<Rail>,
    /// How many to show
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(i64).range(1..=10_000))]
    limit: i64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(super) struct Resolve {
    #[arg(allow_hyphen_values = true, value_parser = name::parse)]
    id: String,
    /// The money was transferred in this transaction, or by this payment at the card processor: the purchase is fulfilled
    #[arg(long, value_name = "TRANSACTION", required_unless_present_any = ["not_settled", "refunded"])]
    settled: Option<String>,
    /// The money was not transferred
    #[arg(long, conflicts_with = "settled", requires = "reason")]
    not_settled: bool,
    /// The purchase cannot be fulfilled, and you have refunded the money
    #[arg(long, conflicts_with_all = ["settled", "not_settled"], requires = "reason")]
    refunded: bool,
    /// How you know, or how it was refunded; recorded permanently
    #[arg(long, value_name = "WHY", conflicts_with = "settled")]
    reason: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn state(text: &str) -> Result<PaymentState, String> {
    PaymentState::parse(text).ok_or_else(|| {
        let known = PaymentState::ALL.map(PaymentState::as_str).join(", ");
        format!("must be one of {known}")
    })
}

fn rail(text: &str) -> Result<Rail, String> {
    Rail::parse(text).ok_or_else(|| format!("must be one of {}", Rail::ALL.map(Rail::as_str).join(", ")))
}

pub(super) async fn run(command: Command, config: Config) -> Result<()> {
    with_app(config, async |app| act(app, command).await).await
}

async fn act(app: &App, command: Command) -> Result<()> {
    match command {
        Command::List(List { state, rail, limit, json }) => {
            let found = app.list_all_payments(PaymentFilter { state, rail }, limit).await?;
            if json {
                let lines: Vec<_> = found.iter().map(as_json).collect();
                print_json(&json!({"payments": lines}))?;
            } else {
                print_line(&table(&found))?;
            }
        }
        Command::Show { id, json } => show(&app.get_any_payment(&id).await?, json)?,
        Command::Ask { id, json } => {
            let payment = app.check_payment_now(&id).await?;
            if json {
                return print_json(&as_json(&payment));
            }
            let why = payment.reason.as_deref().filter(|_| payment.state != PaymentState::Fulfilled);
            let why = why.map(|why| format!(" ({})", visible(why))).unwrap_or_default();
            print_line(&format!("{id} is now {}{why}.", payment.state.as_str()))?;
        }
        Command::Resolve(Resolve { id, settled, refunded, reason, json, .. }) => {
            let resolution = match (settled, reason) {
                (Some(transaction), _) => Resolution::Settled { transaction },
                (None, reason) if refunded => {
                    Resolution::Refunded { reason: reason.context("--reason is required")? }
                }
                (None, reason) => Resolution::NotSettled { reason: reason.context("--reason is required")? },
            };
            let payment = app.resolve_payment(COMMAND_LINE, &id, resolution).await?;
            if json {
                return print_json(&as_json(&payment));
            }
            print_line(&format!("{id} is now {}.", payment.state.as_str()))?;
        }
        Command::Revenue(revenue) => revenue.run(app).await?,
    }
    Ok(())
}

fn show(payment: &Payment, json: bool) -> Result<()> {
    let fields = as_json(payment);
    if json {
        return print_json(&fields);
    }
    let amount = ledger::unit_of(payment).written(payment.amount);
    let (item, rail) = (payment.item.as_str(), payment.rail.as_str());
    print_line(&format!("{} for {item}, {amount}, paid with {rail}", payment.id))?;
    for (name, value) in fields.as_object().into_iter().flatten() {
        let shown = match value {
            Value::Null => continue,
            Value::Number(at) if name.ends_with("_at") || name == "valid_until" => {
                at.as_i64().map(iso::format).unwrap_or_default()
            }
            Value::String(text) => visible(text),
            other => other.to_string(),
        };
        print_line(&format!("  {name:<16}{shown}"))?;
    }
    print_line(payment.advice())
}

fn as_json(payment: &Payment) -> Value {
    json!({
        "id": payment.id,
        "item": payment.item.as_str(),
        "state": payment.state.as_str(),
        "amount": payment.amount,
        "credit_minor": payment.credit_minor,
        "refunded_minor": payment.refunded_minor,
        "disputed_minor": payment.disputed_minor,
        "sandbox": payment.sandbox,
        "protocol": payment.rail.as_str(),
        "network": payment.network,
        "payer": payment.known_payer(),
        "pay_to": payment.pay_to,
        "transaction": payment.transaction,
        "reason": payment.reason,
        "attempts": payment.attempts,
        "generation": payment.generation,
        "site_id": payment.site_id,
        "account_id": payment.account_id,
        "key": payment.key,
        "created_at": payment.created_at,
        "updated_at": payment.updated_at,
        "valid_until": payment.valid_until,
        "fulfilled_at": payment.fulfilled_at,
        "delivered_at": payment.delivered_at,
    })
}

fn table(found: &[Payment]) -> String {
    if found.is_empty() {
        return "No payments.".to_owned();
    }
    let now = Now::read();
    let mut table = Table::new([
        Column::fixed("when"),
        Column::fixed("id"),
        Column::fixed("state"),
        Column::fixed("rail"),
        Column::fixed("item"),
        Column::fixed("amount"),
        Column::flexible("network"),
        Column::flexible("transaction"),
    ]);
    for payment in found {
        let state = Cell::new(payment.state.as_str());
        table.row([
            now.short(payment.created_at).into(),
            payment.id.as_str().into(),
            if payment.state == PaymentState::Unknown { state.styled(WARNING) } else { state },
            payment.rail.as_str().into(),
            payment.item.as_str().into(),
            ledger::unit_of(payment).written(payment.amount).into(),
            shortened(&payment.network, 18).into(),
            payment.transaction.as_deref().unwrap_or_default().into(),
        ]);
    }
    table.render()
}
