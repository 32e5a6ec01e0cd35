//! The revenue report for the operator. The ledger only grows, always at the current time, so reading it month by month gives
//! the same figures as reading it at once, and no single statement runs for long.

use crate::app::App;
use dropleaf_core::Result;
use dropleaf_core::month::Month;
use dropleaf_core::revenue::{LINES_MOST, RevenueReport, period};

impl App {
    /// Revenue by month, rail and product; of the last twelve months unless others are given. A report that would be too long
    /// contains only its last months.
    pub async fn revenue_report(&self, from: Option<Month>, to: Option<Month>) -> Result<RevenueReport> {
        let (from, to) = period(from, to, Month::of(self.now()))?;
        let mut report = RevenueReport { from, to, lines: Vec::new(), is_cut: false };
        let limit = i64::try_from(LINES_MOST).unwrap_or(i64::MAX);
        let mut month = to;
        while month >= from {
            let lines = self.store.list_revenue(month, limit + 1).await?;
            if report.lines.len() + lines.len() > LINES_MOST {
                (report.from, report.is_cut) = (month.plus(1), true);
                break;
            }
            report.lines.extend(lines);
            month = month.plus(-1);
        }
        // Stable: the lines of a month keep their order.
        report.lines.sort_by_key(|line| line.month);
        Ok(report)
    }
}
