//! `dropleaf payments revenue`: the revenue report as a table, CSV or JSON.

use super::output::{Cell, Column, Table, print_json, print_line};
use anyhow::Result;
use clap::Args;
use dropleaf_app::App;
use dropleaf_core::month::Month;
use dropleaf_core::revenue::{RevenueLine, RevenueReport};
use serde_json::{Value, json};

#[derive(Debug, Args)]
pub(super) struct Revenue {
    /// The first month, in UTC (default: eleven months before the last)
    #[arg(long, value_name = "YYYY-MM", value_parser = month)]
    from: Option<Month>,
    /// The last month (default: this month)
    #[arg(long, value_name = "YYYY-MM", value_parser = month)]
    to: Option<Month>,
    /// Print CSV
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Print JSON; amounts are integers in the smallest part of the unit
    #[arg(long)]
    json: bool,
}

fn month(text: &str) -> Result<Month, String> {
    Month::parse(text).ok_or_else(|| "must be a month such as 2026-11".to_owned())
}

impl Revenue {
    pub(super) async fn run(self, app: &App) -> Result<()> {
        let report = app.revenue_report(self.from, self.to).await?.complete()?;
        if self.csv {
            // The line break that is removed here is printed again: each line ends with CRLF.
            let csv = report.csv();
            print_line(csv.strip_suffix('\n').unwrap_or(&csv))
        } else if self.json {
            print_json(&as_json(&report))
        } else {
            print_line(&table(&report))
        }
    }
}

fn as_json(report: &RevenueReport) -> Value {
    let line = |line: &RevenueLine| {
        json!({
            "month": line.month.to_string(),
            "rail": line.rail,
            "item": line.item,
            "unit": line.unit.as_str(),
            "sandbox": line.sandbox,
            "payments": line.payments,
            "gross": line.gross,
            "returned": line.returned,
            "net": line.net(),
        })
    };
    json!({
        "from": report.from.to_string(),
        "to": report.to.to_string(),
        "revenue": report.lines.iter().map(line).collect::<Vec<_>>(),
    })
}

fn table(report: &RevenueReport) -> String {
    if report.lines.is_empty() {
        return format!("No revenue from {} to {}.", report.from, report.to);
    }
    let mut table = Table::new([
        Column::fixed("month"),
        Column::fixed("rail"),
        Column::fixed("item"),
        Column::fixed("currency"),
        Column::number("payments"),
        Column::number("gross"),
        Column::number("returned"),
        Column::number("net"),
    ]);
    for line in &report.lines {
        let amount = |amount: i64| Cell::from(line.unit.decimal(amount));
        table.row([
            line.month.to_string().into(),
            line.rail.as_str().into(),
            line.item.as_str().into(),
            line.currency().into(),
            line.payments.to_string().into(),
            amount(line.gross),
            amount(line.returned),
            amount(line.net()),
        ]);
    }
    table.render()
}
