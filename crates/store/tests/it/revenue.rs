//! The revenue report: sums of the ledger by month, rail and product.

use dropleaf_core::account::Charge;
use dropleaf_core::iso;
use dropleaf_core::ledger::{Kind, Posting, Unit};
use dropleaf_core::month::Month;
use dropleaf_core::payment::{Item, Payment, PaymentState};
use dropleaf_core::rail::Rail;
use dropleaf_core::revenue::RevenueLine;
use dropleaf_core::unlock::Sku;
use dropleaf_store::{Stmt, Store, ledger, payments};

use crate::harness::{TestDatabase, account, for_each_database};

async fn open(database: &TestDatabase) -> Store {
    let store = Store::new(database.open().await, database.blobs());
    store.commit(vec![account("a")]).await.unwrap();
    store
}

fn at(time: &str) -> i64 {
    iso::parse(time).unwrap()
}

pub(crate) fn payment(id: &str, rail: Rail, sandbox: bool, amount: i64) -> Payment {
    Payment {
        id: id.into(),
        key: format!("key of {id}"),
        item: Item::Publish,
        rail,
        generation: 2,
        network: "eip155:8453".into(),
        asset: "0xtoken".into(),
        payer: "0xpayer".into(),
        pay_to: "0xus".into(),
        amount,
        credit_minor: 0,
        refunded_minor: 0,
        disputed_minor: 0,
        payer_is_eoa: true,
        sandbox,
        request_hash: [0; 32],
        client: String::new(),
        once_hashes: Vec::new(),
        state: PaymentState::Fulfilled,
        ask: None,
        fee_payer: None,
        draft: None,
        bundle_id: None,
        site_id: None,
        account_id: None,
        transaction: None,
        reason: None,
        attempts: 1,
        held_until: 0,
        valid_until: 0,
        created_at: 0,
        updated_at: 0,
        fulfilled_at: Some(0),
        delivered_at: None,
    }
}

async fn receive(store: &Store, payment: &Payment, time: &str) {
    let mut stmts = vec![payments::insert(payment)];
    let income = Posting::income(payment).unwrap();
    stmts.extend(ledger::post(&format!("txn_{}", payment.id), &income, at(time)));
    store.commit(stmts).await.unwrap();
}

async fn post(store: &Store, id: &str, posting: Option<Posting>, time: &str) {
    store.commit(ledger::post(id, &posting.unwrap(), at(time))).await.unwrap();
}

/// Moves an amount between a payment's revenue and what was received, under a kind that this version does not know.
async fn post_other(store: &Store, id: &str, kind: &str, payment_id: &str, amount: i64, time: &str) {
    let (revenue, asset) = ("revenue:publish:usdc6", "asset:x402:eip155:8453");
    let mut stmts = vec![Stmt::new(
        "INSERT INTO ledger_txns (id, idem_key, fingerprint, kind, payment_id, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6)",
        vec![id.into(), id.into(), [0; 32].into(), kind.into(), payment_id.into(), at(time).into()],
    )];
    for (position, book, amount) in [(0_i64, revenue, amount), (1, asset, -amount)] {
        stmts.push(Stmt::new(
            "INSERT INTO ledger_entries (txn_id, position, account_id, amount) VALUES ($1, $2, $3, $4)",
            vec![id.into(), position.into(), book.into(), amount.into()],
        ));
        stmts.push(Stmt::new(
            "UPDATE ledger_accounts SET balance = balance + $1 WHERE id = $2",
            vec![amount.into(), book.into()],
        ));
    }
    store.commit(stmts).await.unwrap();
}

async fn lines(store: &Store, month: &str) -> Vec<String> {
    let found = store.list_revenue(Month::parse(month).unwrap(), 100).await.unwrap();
    let read = found.iter().map(|line| {
        let currency = line.currency();
        let (payments, gross, returned) = (line.payments, line.gross, line.returned);
        format!("{} {} {} {currency}: {payments} {gross} {returned}", line.month, line.rail, line.item)
    });
    read.collect()
}

/// The balances of the revenue accounts in one unit, as income.
async fn revenue_in_ledger(store: &Store, unit: Unit) -> i64 {
    let books = store.list_books(0, 0).await.unwrap();
    let revenue = books.iter().filter(|book| book.kind == Kind::Revenue && book.unit == unit);
    -revenue.map(|book| book.balance).sum::<i64>()
}

#[tokio::test(flavor = "multi_thread")]
async fn revenue_is_summed_by_rail_and_product_with_play_money_apart() {
    for_each_database(async |database| {
        let store = open(database).await;
        assert_eq!(lines(&store, "2026-11").await, [""; 0]);
        let time = "2026-11-15T12:00";
        let key = Payment { item: Item::Provision, ..payment("p3", Rail::X402, false, 1_000_000) };
        for payment in [
            payment("p1", Rail::X402, false, 500_000),
            payment("p2", Rail::X402, false, 250_000),
            key,
            payment("p4", Rail::Mpp, false, 500_000),
            payment("p5", Rail::X402, true, 500_000),
        ] {
            receive(&store, &payment, time).await;
        }
        post(&store, "g", Posting::grant("g", "a", 700, false, "test".into()), time).await;
        let unlock = Item::Unlock(Sku::MakePermanent);
        post(&store, "s", Posting::spend("s", "a", unlock, Charge { real: 200, sandbox: 0 }), time).await;
        assert_eq!(
            lines(&store, "2026-11").await,
            [
                "2026-11 balance make_permanent USD: 1 200 0",
                "2026-11 mpp publish USDC: 1 500000 0",
                "2026-11 x402 provision USDC: 1 1000000 0",
                "2026-11 x402 publish sandbox USDC: 1 500000 0",
                "2026-11 x402 publish USDC: 2 750000 0",
            ]
        );
        let found = store.list_revenue(Month::of(at(time)), 100).await.unwrap();
        for unit in [Unit::Usdc6, Unit::Play6, Unit::Usd2] {
            let net: i64 = found.iter().filter(|line| line.unit == unit).map(RevenueLine::net).sum();
            assert_eq!(net, revenue_in_ledger(&store, unit).await, "{unit:?}");
        }
        assert_eq!(store.list_revenue(Month::of(at(time)), 2).await.unwrap().len(), 2);
        assert_eq!(store.audit_ledger().await.unwrap(), []);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn months_begin_and_end_at_midnight_utc() {
    for_each_database(async |database| {
        let store = open(database).await;
        for (id, amount, time) in [
            ("p1", 1, "2028-01-31T23:59:59Z"),
            ("p2", 20, "2028-02-01T00:00:00Z"),
            ("p3", 300, "2028-02-29T23:59:59Z"),
            ("p4", 4000, "2028-03-01T00:00:00Z"),
        ] {
            receive(&store, &payment(id, Rail::X402, false, amount), time).await;
        }
        assert_eq!(lines(&store, "2028-01").await, ["2028-01 x402 publish USDC: 1 1 0"]);
        assert_eq!(lines(&store, "2028-02").await, ["2028-02 x402 publish USDC: 2 320 0"]);
        assert_eq!(lines(&store, "2028-03").await, ["2028-03 x402 publish USDC: 1 4000 0"]);
        assert_eq!(lines(&store, "2028-04").await, [""; 0]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_returned_counts_on_the_rail_of_its_payment_whatever_its_kind() {
    for_each_database(async |database| {
        let store = open(database).await;
        receive(&store, &payment("p1", Rail::X402, false, 500), "2026-10-30T00:00").await;
        receive(&store, &payment("p2", Rail::X402, false, 300), "2026-11-01T00:00").await;
        post_other(&store, "r1", "refund", "p1", 500, "2026-11-02T00:00").await;
        post_other(&store, "r2", "dispute", "p2", 300, "2026-11-03T00:00").await;
        post_other(&store, "r3", "reinstatement", "p2", -300, "2026-12-04T00:00").await;
        assert_eq!(lines(&store, "2026-10").await, ["2026-10 x402 publish USDC: 1 500 0"]);
        assert_eq!(lines(&store, "2026-11").await, ["2026-11 x402 publish USDC: 1 300 800"]);
        assert_eq!(lines(&store, "2026-12").await, ["2026-12 x402 publish USDC: 0 0 -300"]);
        assert_eq!(revenue_in_ledger(&store, Unit::Usdc6).await, 300);
        // If the row of the payment is missing, the amount is still listed.
        post_other(&store, "r4", "refund", "gone", 100, "2026-12-05T00:00").await;
        let [unknown, _] = &lines(&store, "2026-12").await[..] else { panic!("two lines") };
        assert_eq!(unknown, "2026-12 unknown publish USDC: 0 0 100");
    })
    .await;
}
