//! The revenue section of the operator's page about payments: one table of the last months, and a form to download others.

use dropleaf_core::month::Month;
use dropleaf_core::revenue::{RevenueLine, RevenueReport};

const MONTH_NAMES: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// What was typed into the download form, and what is wrong with it.
#[derive(Debug, Clone, Copy)]
pub struct RefusedMonths<'a> {
    pub from: &'a str,
    pub to: &'a str,
    pub problem: &'a str,
}

/// The section.
#[derive(Debug)]
pub struct RevenueSection {
    /// Newest first.
    pub months: Vec<RevenueMonth>,
    pub is_cut: bool,
    /// The values of the download form.
    pub from: String,
    pub to: String,
    pub problem: Option<String>,
}

#[derive(Debug)]
pub struct RevenueMonth {
    pub name: String,
    pub rows: Vec<RevenueRow>,
}

/// The revenue from one product over one rail.
#[derive(Debug)]
pub struct RevenueRow {
    pub item: String,
    pub rail: String,
    pub currency: String,
    pub is_sandbox: bool,
    pub payments: i64,
    pub gross: String,
    pub returned: String,
    pub net: String,
}

impl RevenueSection {
    pub fn new(report: &RevenueReport, refused: Option<RefusedMonths<'_>>) -> Self {
        let mut months: Vec<RevenueMonth> = Vec::new();
        for lines in report.lines.chunk_by(|a, b| a.month == b.month).rev() {
            let name = lines.first().map(|line| month_name(line.month)).unwrap_or_default();
            months.push(RevenueMonth { name, rows: lines.iter().map(row).collect() });
        }
        let (from, to) = refused.map_or_else(
            || (report.from.to_string(), report.to.to_string()),
            |typed| (typed.from.to_owned(), typed.to.to_owned()),
        );
        let problem = refused.map(|typed| typed.problem.to_owned());
        Self { months, is_cut: report.is_cut, from, to, problem }
    }
}

fn row(line: &RevenueLine) -> RevenueRow {
    let shown = |amount: i64| line.unit.decimal(amount);
    RevenueRow {
        item: line.item.replace('_', " "),
        rail: line.rail.clone(),
        currency: line.currency(),
        is_sandbox: line.sandbox,
        payments: line.payments,
        gross: shown(line.gross),
        returned: shown(line.returned),
        net: shown(line.net()),
    }
}

fn month_name(month: Month) -> String {
    let name = usize::try_from(month.number() - 1).ok().and_then(|at| MONTH_NAMES.get(at));
    format!("{} {}", name.unwrap_or(&""), month.year())
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropleaf_core::ledger::Unit;

    fn line(month: &str, rail: &str, unit: Unit, sandbox: bool) -> RevenueLine {
        RevenueLine {
            month: Month::parse(month).unwrap(),
            rail: rail.into(),
            item: "make_permanent".into(),
            unit,
            sandbox,
            payments: 2,
            gross: 400,
            returned: 100,
        }
    }

    #[test]
    fn newest_month_comes_first_and_play_money_is_marked() {
        let lines = vec![
            line("2025-12", "x402", Unit::Usdc6, false),
            line("2026-01", "balance", Unit::Usd2, false),
            line("2026-01", "card", Unit::Usd2, false),
            line("2026-01", "mpp", Unit::Play6, true),
        ];
        let (from, to) = (Month::parse("2025-02").unwrap(), Month::parse("2026-01").unwrap());
        let section = RevenueSection::new(&RevenueReport { from, to, lines, is_cut: false }, None);
        let read = |row: &RevenueRow| format!("{} {} {} {}", row.item, row.rail, row.currency, row.net);
        let months: Vec<_> = section.months.iter().map(|month| month.name.as_str()).collect();
        assert_eq!(months, ["January 2026", "December 2025"]);
        let rows: Vec<_> = section.months.iter().flat_map(|month| &month.rows).map(read).collect();
        assert_eq!(
            rows,
            [
                "make permanent balance USD 3.00",
                "make permanent card USD 3.00",
                "make permanent mpp sandbox USDC 0.0003",
                "make permanent x402 USDC 0.0003",
            ]
        );
        assert!(section.months[0].rows[2].is_sandbox);
        assert_eq!((section.from.as_str(), section.to.as_str()), ("2025-02", "2026-01"));
    }
}
