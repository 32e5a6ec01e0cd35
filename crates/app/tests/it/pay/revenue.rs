//! The revenue report over real purchases, and its limits.

use crate::harness::till::{Till, at_each_till};
use crate::harness::{DAY, Database};
use dropleaf_app::Mode;
use dropleaf_core::Code;
use dropleaf_core::ledger::{Kind, Unit};
use dropleaf_core::month::Month;
use dropleaf_core::revenue::{LINES_MOST, RevenueLine, RevenueReport};
use dropleaf_core::unlock::Sku;
use dropleaf_store::Stmt;

fn month(text: &str) -> Month {
    Month::parse(text).unwrap()
}

fn lines(report: &RevenueReport) -> Vec<String> {
    report.csv().lines().skip(1).map(str::to_owned).collect()
}

/// Compares the sums of a report over all months with the balances of the ledger.
async fn agrees_with_the_ledger(till: &Till, report: &RevenueReport) {
    let books = till.app.payment_overview().await.unwrap().books;
    for unit in Unit::ALL {
        let lines = report.lines.iter().filter(|line| line.unit == *unit);
        let net: i64 = lines.map(RevenueLine::net).sum();
        let revenue = books.iter().filter(|book| book.kind == Kind::Revenue && book.unit == *unit);
        assert_eq!(net, -revenue.map(|book| book.balance).sum::<i64>(), "{unit:?}");
    }
    assert_eq!(till.app.audit_ledger().await.unwrap().faults, []);
}

#[tokio::test]
async fn purchases_are_reported_in_their_month() {
    at_each_till(async |till| {
        let empty = till.app.revenue_report(None, None).await.unwrap();
        assert_eq!((empty.from, empty.to), (month("2022-12"), month("2023-11")));
        assert!(empty.lines.is_empty() && !empty.is_cut);
        till.publish(1).await.unwrap();
        till.publish(2).await.unwrap();
        let account = till.app.create_account("ada@example.org", None, false).await.unwrap();
        till.app.credit_account("ada", &account.id, 700, "a gift", None).await.unwrap();
        till.clock.advance(20 * DAY);
        till.publish(3).await.unwrap();
        let account = till.app.get_account(&account.id).await.unwrap();
        till.app.unlock_with_balance(&account, Sku::MakePermanent, None, |_| Vec::new()).await.unwrap();
        let report = till.app.revenue_report(None, None).await.unwrap();
        assert_eq!(
            lines(&report),
            [
                "2023-11,x402,publish,USDC,2,1.00,0.00,1.00",
                "2023-12,balance,make_permanent,USD,1,2.00,0.00,2.00",
                "2023-12,x402,publish,USDC,1,0.50,0.00,0.50",
            ]
        );
        agrees_with_the_ledger(till, &report).await;
        let november = till.app.revenue_report(Some(month("2023-11")), Some(month("2023-11"))).await.unwrap();
        assert_eq!(lines(&november).len(), 1);
        let backwards =
            till.app.revenue_report(Some(month("2023-12")), Some(month("2023-11"))).await.unwrap_err();
        assert_eq!(backwards.code, Code::InvalidField);
    })
    .await;
}

#[tokio::test]
async fn play_money_is_reported_apart() {
    let till = Till::open_in(&Database::Sqlite, Mode::Sandbox).await;
    till.publish(1).await.unwrap();
    let report = till.app.revenue_report(None, None).await.unwrap();
    assert_eq!(lines(&report), ["2023-11,x402,publish,sandbox USDC,1,0.50,0.00,0.50"]);
    agrees_with_the_ledger(&till, &report).await;
    till.app.close().await;
}

#[tokio::test]
async fn report_that_is_too_long_keeps_its_last_months_whole() {
    at_each_till(async |till| {
        till.publish(1).await.unwrap();
        till.clock.advance(20 * DAY);
        till.publish(2).await.unwrap();
        // As many products as lines fit, all in December.
        let stmts = |n: usize| {
            let (book, txn) = (format!("revenue:item{n:03}:usd2"), format!("txn_{n}"));
            let at = till.app.now();
            [
                Stmt::new(
                    "INSERT INTO ledger_accounts (id, unit, kind, balance) VALUES ($1, 'usd2', 'revenue', -1)",
                    vec![book.as_str().into()],
                ),
                Stmt::new(
                    "INSERT INTO ledger_txns (id, idem_key, fingerprint, kind, created_at) \
                     VALUES ($1, $2, $3, 'spend', $4)",
                    vec![txn.as_str().into(), txn.as_str().into(), [0; 32].into(), at.into()],
                ),
                Stmt::new(
                    "INSERT INTO ledger_entries (txn_id, position, account_id, amount) VALUES ($1, 0, $2, -1)",
                    vec![txn.as_str().into(), book.as_str().into()],
                ),
            ]
        };
        let store = till.open_store().await;
        store.commit((1..LINES_MOST).flat_map(stmts).collect()).await.unwrap();
        let cut = till.app.revenue_report(None, None).await.unwrap();
        assert_eq!((cut.lines.len(), cut.is_cut), (LINES_MOST, true));
        assert_eq!(cut.from, month("2023-12"));
        assert_eq!(cut.complete().unwrap_err().code, Code::InvalidField);
        let whole = till.app.revenue_report(Some(month("2023-12")), None).await.unwrap();
        assert!(!whole.is_cut && whole.complete().is_ok());
        store.commit(stmts(LINES_MOST).into_iter().collect()).await.unwrap();
        let full = till.app.revenue_report(Some(month("2023-12")), None).await.unwrap();
        assert!(full.is_cut && full.lines.is_empty(), "one month alone is too long");
        store.db.close().await;
    })
    .await;
}
