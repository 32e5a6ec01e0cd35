//! Ten thousand random payment operations, many at once, with a failing facilitator: the ledger always balances, no
//! cent is lost or charged twice, and everything paid for exists.

use crate::harness::till::{Till, request};
use crate::harness::{Call, Database, Fault, VALID_SECONDS};
use dropleaf_app::{IdempotentRequest, IdempotentResult, Order, PayError, Resolution, Upload};
use dropleaf_core::account::Account;
use dropleaf_core::payment::{Item, PaymentState};
use dropleaf_core::unlock::Sku;
use dropleaf_core::{Clock, Code, secret};
use dropleaf_pay::Proof;
use dropleaf_pay::payer;
use futures_util::FutureExt;
use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;
use std::time::Instant;

const ACTS: u64 = 10_000;
const AT_ONCE: u64 = 20;
const CUSTOMERS: u64 = 40;

/// Pseudo-random numbers that are the same in every run (`SplitMix64`).
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % sides
    }
}

/// What the operations reported, to compare with the ledger at the end.
#[derive(Debug, Default)]
struct Told {
    given: i64,
    spent: i64,
    /// Payments reported as fulfilled, by their key.
    bought: HashMap<String, u64>,
    /// How often each kind of event happened.
    seen: BTreeMap<&'static str, u64>,
}

struct Run<'a> {
    till: &'a Till,
    customers: Vec<Account>,
    told: Mutex<Told>,
}

impl Run<'_> {
    fn saw(&self, what: &'static str) {
        *self.told.lock().unwrap().seen.entry(what).or_default() += 1;
    }

    fn customer(&self, dice: &mut Dice) -> &Account {
        &self.customers[usize::try_from(dice.below(CUSTOMERS)).unwrap()]
    }

    async fn act(&self, dice: &mut Dice, n: u64) {
        match dice.below(100) {
            0..18 => self.grant(dice, n).await,
            18..50 => self.spend(dice).await,
            50..58 => self.fail_soon(dice),
            58..96 => self.pay(dice, n).await,
            _ => {
                self.till.clock.advance(1);
                self.till.app.recover_payments().await.unwrap();
                self.saw("recovery");
            }
        }
    }

    /// Credited once per name; the same again is a repeat, and another amount is an error.
    async fn grant(&self, dice: &mut Dice, n: u64) {
        let account = self.customer(dice);
        let cents = if dice.below(5) == 0 { -300 } else { i64::try_from(1 + dice.below(900)).unwrap() };
        let name = format!("grant {n}");
        let again = dice.below(4);
        let give = async |cents: i64| {
            self.till.app.credit_account("run", &account.id, cents, "a run", Some(&name)).await
        };
        match give(cents).await {
            Ok(credited) => {
                assert!(!credited.already_applied);
                self.told.lock().unwrap().given += cents;
                self.saw("grant");
            }
            Err(error) => {
                assert_eq!(error.code, Code::InvalidField, "{error}");
                return self.saw("grant refused");
            }
        }
        if again == 0 {
            assert!(give(cents).await.unwrap().already_applied);
            self.saw("grant repeated");
        } else if again == 1 {
            assert_eq!(give(cents + 1).await.unwrap_err().code, Code::Conflict);
            self.saw("grant contradicted");
        }
    }

    /// Half of them carry an idempotency key, some of which were used before.
    async fn spend(&self, dice: &mut Dice) {
        let (account, sku) = (self.customer(dice), sku(dice));
        let key = (dice.below(2) == 0).then(|| dice.below(60));
        let once = key.map(|key| IdempotentRequest {
            scope: account.id.clone(),
            key: key.to_string(),
            request_hash: secret::hash(sku.as_str()),
        });
        let act = self.till.app.unlock_with_balance(account, sku, once.as_ref(), |_| b"done".to_vec());
        match act.await {
            Ok(None) => self.saw("balance too small"),
            Ok(Some(IdempotentResult::Replayed { .. })) => self.saw("spend repeated"),
            Ok(Some(IdempotentResult::New(unlocked))) => {
                self.told.lock().unwrap().spent += unlocked.charged_minor;
                self.saw(if unlocked.already { "had it already" } else { "spend" });
            }
            Err(error) => {
                let known = [Code::IdempotencyMismatch, Code::IdempotencyInFlight, Code::Conflict];
                assert!(known.contains(&error.code), "{error} {:?}", error.source);
                self.saw("spend refused");
            }
        }
    }

    /// Sets a fault for the next payments.
    fn fail_soon(&self, dice: &mut Dice) {
        let garbage = "<html>502 Bad Gateway";
        let fault = match dice.below(8) {
            0 => Fault::says(500, ""),
            1 => Fault::does_and_says(500, garbage),
            2 => Fault::says(200, garbage),
            3 => Fault::does_and_says(200, garbage),
            4 => Fault::Closes,
            5 => Fault::DoesAndCloses,
            6 => Fault::says(
                200,
                r#"{"success":false,"errorReason":"insufficient_funds","transaction":"","network":"eip155:8453"}"#,
            ),
            _ => {
                self.till.fake.next(Call::Verify, [Fault::says(503, "")]);
                return self.saw("fault");
            }
        };
        // One failure is retried at once; two leave the outcome unknown.
        let times = if dice.below(2) == 0 { 1 } else { 2 };
        self.till.fake.next(Call::Settle, vec![fault; times]);
        self.saw("fault");
    }

    /// A payment, new or repeated, by a client that stays or disconnects.
    async fn pay(&self, dice: &mut Dice, n: u64) {
        let again = dice.below(4) == 0;
        // The number determines what is bought, so that a repeat is identical.
        let which = if again { n - dice.below(n.min(200) + 1) } else { n };
        let customer = &self.customers[usize::try_from(which % CUSTOMERS).unwrap()];
        let item = match which % 5 {
            0 | 1 => Item::Provision,
            2 => Item::Publish,
            _ => Item::Unlock(SOLD[usize::try_from(which % 2).unwrap()]),
        };
        let body = format!("{}{}", item.as_str(), if dice.below(20) == 0 { " and more" } else { "" });
        let order = match item {
            Item::Provision => Order::Provision,
            Item::Publish => {
                let html = "<!doctype html><title>Run</title><p>paid".to_owned();
                Order::Publish(self.till.app.check_page(Upload::html(html), None, true).await.unwrap())
            }
            Item::Unlock(sku) => Order::Unlock { account: customer.clone(), sku },
            Item::Topup => unreachable!("paid by card only"),
        };
        let request = request(order, self.sign(item, which), &body);
        if dice.below(12) == 0 {
            // Polled a few times, then dropped.
            let mut act = std::pin::pin!(self.till.app.execute_purchase(request));
            for _ in 0..=dice.below(3) {
                if act.as_mut().now_or_never().is_some() {
                    break;
                }
                tokio::task::yield_now().await;
            }
            return self.saw("hung up");
        }
        match self.till.app.execute_purchase(request).await {
            Ok(bought) => {
                assert_eq!(bought.payment.state, PaymentState::Fulfilled);
                *self.told.lock().unwrap().bought.entry(bought.payment.key).or_default() += 1;
                self.saw(if bought.is_replay { "told again" } else { "paid" });
            }
            Err(PayError::Refused(refused)) => {
                assert!(!refused.malformed);
                self.saw("refused");
            }
            Err(PayError::Failed(error)) => self.saw(match error.code {
                Code::SettlementUnknown => "unknown",
                Code::PaymentUsed => "used for another request",
                Code::PaymentInFlight => "in flight",
                Code::FacilitatorUnavailable => "facilitator unavailable",
                Code::Conflict => "bought once already",
                _ => panic!("{error} {:?}", error.source),
            }),
        }
    }

    /// The same number is the same payment.
    fn sign(&self, item: Item, which: u64) -> Proof {
        let (terms, purse) = (self.till.terms(item), &self.till.purse);
        let offer = terms.offers().iter().find(|offer| offer.network().is_evm()).unwrap();
        let nonce = secret::hash(&which.to_string());
        let payload = purse.evm.payload(offer, nonce, 0, self.till.clock.now() + VALID_SECONDS).unwrap();
        let header = payer::header(&payer::proof(offer, terms.resource(), purse.generation, &payload));
        Proof::parse(purse.generation, &header).unwrap()
    }

    /// Resumes open payments, and decides unknown ones by the chain, as an operator would.
    async fn finish(&self) {
        let app = &self.till.app;
        for _ in 0..40 {
            self.till.clock.advance(3700);
            app.recover_payments().await.unwrap();
        }
        let settled: Vec<String> =
            self.till.fake.ledger().into_iter().map(|transfer| transfer.key.to_string()).collect();
        for payment in app.list_payments(Some(PaymentState::Unknown), 10_000).await.unwrap() {
            let resolution = if settled.contains(&payment.key) {
                Resolution::Settled {
                    transaction: secret::digest(payment.key.as_bytes())
                        .iter()
                        .fold("0x".to_owned(), |hash, byte| format!("{hash}{byte:02x}")),
                }
            } else {
                Resolution::NotSettled { reason: "no such transfer".into() }
            };
            let decided = app.resolve_payment("run", &payment.id, resolution).await.unwrap();
            assert!(!decided.state.is_open(), "{decided:?}");
            self.saw("resolved manually");
        }
    }

    async fn check(&self) {
        let (till, told) = (self.till, std::mem::take(&mut *self.told.lock().unwrap()));
        let start = Instant::now();
        let audit = till.app.audit_ledger().await.unwrap();
        let took = start.elapsed();
        assert!(audit.faults.is_empty(), "{:?}", audit.faults);
        println!("{} booked, looked through in {took:?}; {:?}", audit.booked, told.seen);
        assert_eq!(
            till.count("SELECT COUNT(*) FROM payments WHERE state NOT IN ('fulfilled', 'refused')").await,
            0
        );
        let moved = i64::try_from(till.fake.moved()).unwrap();
        let sum = "SELECT CAST(COALESCE(SUM(amount), 0) AS BIGINT) FROM payments WHERE state = 'fulfilled'";
        assert_eq!(till.count(sum).await, moved, "fulfilled is what moved");
        let asset =
            "SELECT CAST(COALESCE(SUM(balance), 0) AS BIGINT) FROM ledger_accounts WHERE kind = 'asset'";
        assert_eq!(till.count(asset).await, moved, "and what is in the books");
        let balances = "SELECT CAST(COALESCE(SUM(balance_minor), 0) AS BIGINT) FROM accounts";
        assert_eq!(till.count(balances).await, told.given - told.spent);
        let settled: Vec<String> =
            till.fake.ledger().into_iter().map(|transfer| transfer.key.to_string()).collect();
        assert!(told.bought.keys().all(|key| settled.contains(key)), "nothing is told that was not paid");
        for (item, made) in [
            (
                "publish",
                "SELECT COUNT(*) FROM sites WHERE payment_id IN (SELECT id FROM payments WHERE state = 'fulfilled')",
            ),
            ("provision", "SELECT COUNT(*) FROM accounts WHERE email IS NULL"),
        ] {
            let paid = till
                .rows("SELECT item, COUNT(*) FROM payments WHERE state = 'fulfilled' GROUP BY item", |row| {
                    Ok((row.text(0)?.to_owned(), row.int(1)?))
                })
                .await;
            let paid = paid.iter().find(|(found, _)| found == item).map_or(0, |(_, count)| *count);
            assert_eq!(till.count(made).await, paid, "{item}");
        }
        for kind in [
            "grant",
            "grant repeated",
            "grant contradicted",
            "spend",
            "paid",
            "told again",
            "unknown",
            "refused",
        ] {
            assert!(
                told.seen.get(kind).is_some_and(|times| *times > 0),
                "{kind} never happened: {:?}",
                told.seen
            );
        }
    }
}

const SOLD: [Sku; 2] = [Sku::MakePermanent, Sku::HigherLimits];

fn sku(dice: &mut Dice) -> Sku {
    SOLD[usize::try_from(dice.below(2)).unwrap()]
}

/// Many concurrent workers with separate random numbers.
async fn run(database: &Database) {
    let till = Till::open(database).await;
    let mut customers = Vec::new();
    for n in 0..CUSTOMERS {
        let email = format!("c{n}@example.org");
        customers.push(till.app.create_account(&email, Some("free"), false).await.unwrap());
    }
    let run = Run { till: &till, customers, told: Mutex::default() };
    let hands = (0..AT_ONCE).map(|hand| {
        let run = &run;
        async move {
            let mut dice = Dice(hand);
            for n in 0..ACTS / AT_ONCE {
                run.act(&mut dice, n * AT_ONCE + hand).await;
            }
        }
    });
    futures_util::future::join_all(hands).await;
    run.finish().await;
    run.check().await;
    till.app.close().await;
}

#[tokio::test]
async fn ten_thousand_random_acts_leave_the_books_balanced_on_sqlite() {
    run(&Database::Sqlite).await;
}

#[tokio::test]
async fn ten_thousand_random_acts_leave_the_books_balanced_on_postgres() {
    let database = Database::postgres().await;
    run(&database).await;
    database.remove().await;
}
