//! The revenue report: what was earned in each month, by payment rail and product, and its CSV form. Leaves reading the ledger
//! to the store.

use crate::ledger::Unit;
use crate::month::Month;
use crate::rail::Rail;
use crate::{Error, Result};

/// The rail of purchases that were paid from a prepaid balance.
pub const BALANCE: &str = Rail::Balance.as_str();
/// The rail of ledger transactions whose payment row is missing. Their amounts are listed anyway, so that the report always sums
/// up to the ledger.
pub const UNKNOWN_RAIL: &str = "unknown";

/// The longest report.
pub const LINES_MOST: usize = 600;
const MONTHS_MOST: i64 = 120;
/// The length of a report for which no months are given.
const MONTHS: i64 = 12;

/// The revenue of one month from one product over one rail. Amounts are in the smallest part of the unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevenueLine {
    pub month: Month,
    /// The name of a [`Rail`], [`BALANCE`] or [`UNKNOWN_RAIL`].
    pub rail: String,
    pub item: String,
    pub unit: Unit,
    /// Whether it is play money. A line never contains both kinds.
    pub sandbox: bool,
    /// Payments received, or purchases from balances.
    pub payments: i64,
    pub gross: i64,
    /// What was refunded or charged back in this month, also for payments of earlier months. Negative if more came back from
    /// disputes that were won.
    pub returned: i64,
}

impl RevenueLine {
    pub const fn net(&self) -> i64 {
        self.gross.saturating_sub(self.returned)
    }

    /// `USDC`, `USD`, or either with `sandbox` in front: a sum by currency never mixes play money with real money.
    pub fn currency(&self) -> String {
        let name = match self.unit {
            Unit::Usdc6 | Unit::Play6 => "USDC",
            Unit::Usd2 | Unit::Play2 => "USD",
        };
        if self.sandbox { format!("sandbox {name}") } else { name.to_owned() }
    }
}

/// The lines of some months, oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevenueReport {
    /// The first month that the report covers.
    pub from: Month,
    /// The last month.
    pub to: Month,
    pub lines: Vec<RevenueLine>,
    /// Whether earlier months were left out, because the report would be too long.
    pub is_cut: bool,
}

impl RevenueReport {
    /// Fails if months are missing: a table of figures must not be mistaken for the whole.
    pub fn complete(self) -> Result<Self> {
        if self.is_cut {
            let why = format!("is too early: the report would have more than {LINES_MOST} lines");
            return Err(Error::field("from", why));
        }
        Ok(self)
    }

    /// The report as CSV (RFC 4180) with a header line. Amounts are decimals without a currency sign.
    pub fn csv(&self) -> String {
        let mut csv = "month,rail,item,currency,payments,gross,returned,net\r\n".to_owned();
        for line in &self.lines {
            let amount = |amount: i64| line.unit.decimal(amount);
            let fields = [
                line.month.to_string(),
                csv_text(&line.rail),
                csv_text(&line.item),
                csv_text(&line.currency()),
                line.payments.to_string(),
                amount(line.gross),
                amount(line.returned),
                amount(line.net()),
            ];
            csv.push_str(&fields.join(","));
            csv.push_str("\r\n");
        }
        csv
    }
}

/// The months of a report: the last twelve unless others are given.
pub fn period(from: Option<Month>, to: Option<Month>, current: Month) -> Result<(Month, Month)> {
    let to = to.unwrap_or(current);
    let from = from.unwrap_or(to.plus(1 - MONTHS));
    if from > to {
        return Err(Error::field("from", format!("must not be after the last month, {to}")));
    }
    if to.since(from) >= MONTHS_MOST {
        return Err(Error::field(
            "from",
            format!("is too early: a report covers at most {MONTHS_MOST} months"),
        ));
    }
    Ok((from, to))
}

/// The item in the ID of a revenue account: `publish` of `revenue:publish:usdc6`.
pub fn item_of(account_id: &str) -> &str {
    account_id.split(':').nth(1).unwrap_or(account_id)
}

/// A text field, quoted where necessary. A text that a spreadsheet would run as a formula gets an apostrophe in front: names come
/// from the database, where another program may have written them.
fn csv_text(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']);
    let text = if is_formula { format!("'{text}") } else { text.to_owned() };
    if text.contains([',', '"', '\r', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn month(text: &str) -> Month {
        Month::parse(text).unwrap()
    }

    fn line(unit: Unit, sandbox: bool, gross: i64, returned: i64) -> RevenueLine {
        let (rail, item) = ("x402".to_owned(), "publish".to_owned());
        RevenueLine { month: month("2026-11"), rail, item, unit, sandbox, payments: 3, gross, returned }
    }

    fn report(lines: Vec<RevenueLine>) -> RevenueReport {
        RevenueReport { from: month("2026-01"), to: month("2026-11"), lines, is_cut: false }
    }

    #[test]
    fn csv_has_a_header_and_decimal_amounts_in_a_named_currency() {
        let csv = report(vec![
            line(Unit::Usdc6, false, 1_500_000, 500_000),
            line(Unit::Play6, true, 123_456, 0),
            line(Unit::Usd2, false, 200, 250),
            line(Unit::Usd2, true, 200, -50),
        ])
        .csv();
        assert_eq!(
            csv,
            "month,rail,item,currency,payments,gross,returned,net\r\n\
             2026-11,x402,publish,USDC,3,1.50,0.50,1.00\r\n\
             2026-11,x402,publish,sandbox USDC,3,0.123456,0.00,0.123456\r\n\
             2026-11,x402,publish,USD,3,2.00,2.50,-0.50\r\n\
             2026-11,x402,publish,sandbox USD,3,2.00,-0.50,2.50\r\n"
        );
        assert_eq!(report(Vec::new()).csv().lines().count(), 1);
    }

    #[test]
    fn csv_text_is_quoted_and_never_a_formula() {
        for (text, field) in [
            ("make_permanent", "make_permanent"),
            ("a,b", "\"a,b\""),
            ("a\"b", "\"a\"\"b\""),
            ("a\r\nb", "\"a\r\nb\""),
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'\t=1"),
            ("=HYPERLINK(\"x\",\"y\")", "\"'=HYPERLINK(\"\"x\"\",\"\"y\"\")\""),
            ("", ""),
        ] {
            assert_eq!(csv_text(text), field, "{text}");
        }
    }

    #[test]
    fn report_covers_the_last_twelve_months_unless_others_are_given() {
        let read = |from: Option<&str>, to: Option<&str>| {
            let (from, to) = period(from.map(month), to.map(month), month("2026-11"))?;
            Ok::<_, Error>(format!("{from} {to}"))
        };
        assert_eq!(read(None, None).unwrap(), "2025-12 2026-11");
        assert_eq!(read(Some("2026-01"), None).unwrap(), "2026-01 2026-11");
        assert_eq!(read(None, Some("2025-12")).unwrap(), "2025-01 2025-12");
        assert_eq!(read(Some("2026-11"), Some("2026-11")).unwrap(), "2026-11 2026-11");
        assert_eq!(read(Some("2017-01"), Some("2026-12")).unwrap(), "2017-01 2026-12");
        let detail = |from, to| read(Some(from), Some(to)).unwrap_err().detail;
        assert_eq!(detail("2026-12", "2026-11"), "`from` must not be after the last month, 2026-11.");
        assert_eq!(detail("2016-12", "2026-12"), "`from` is too early: a report covers at most 120 months.");
    }

    #[test]
    fn cut_report_is_not_complete() {
        assert!(report(Vec::new()).complete().is_ok());
        let cut = RevenueReport { is_cut: true, ..report(Vec::new()) };
        let detail = cut.complete().unwrap_err().detail;
        assert_eq!(detail, "`from` is too early: the report would have more than 600 lines.");
    }

    #[test]
    fn item_is_part_of_the_account_id() {
        assert_eq!(item_of("revenue:make_permanent:usd2"), "make_permanent");
        assert_eq!(item_of("revenue"), "revenue");
    }
}
