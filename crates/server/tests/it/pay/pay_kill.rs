//! kill -9 during a payment: a separate process pays and is killed before and after each step; afterwards either the
//! page exists or no money was taken.

use crate::harness::till::{HTML, PRICE, Till, at_each_till, config, failed, key, open_app, page, request};
use crate::harness::{Call, Database, FacilitatorServer, Fault, Purse, seed};
use dropleaf_app::{Facilitator, FacilitatorCall, FacilitatorReply, NoResponse, Order, PayError, Upload};
use dropleaf_core::payment::Item;
use dropleaf_core::unlock::Sku;
use dropleaf_core::{Code, ManualClock};
use dropleaf_pay::facilitator::ReplyStatus;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

const HANDED: &str = "DROPLEAF_TEST_KILL";
const HOLD: i64 = 30;

/// Forwards calls to the facilitator of the first process.
#[derive(Debug)]
struct Wire {
    url: String,
    client: reqwest::Client,
}

impl Wire {
    async fn exchange(&self, request: reqwest::RequestBuilder) -> Result<FacilitatorReply, NoResponse> {
        let answer = request.send().await.map_err(|error| NoResponse(error.to_string()))?;
        let status = ReplyStatus::from_http(answer.status().as_u16());
        let body = answer.bytes().await.map_err(|error| NoResponse(error.to_string()))?;
        Ok(FacilitatorReply { status, body })
    }
}

impl Facilitator for Wire {
    fn send<'a>(
        &'a self,
        call: FacilitatorCall,
        body: &'a str,
    ) -> BoxFuture<'a, Result<FacilitatorReply, NoResponse>> {
        let path = match call {
            FacilitatorCall::Verify => "verify",
            FacilitatorCall::Settle => "settle",
        };
        let request = self.client.post(format!("{}/{path}", self.url)).body(body.to_owned());
        Box::pin(self.exchange(request))
    }

    fn supported(&self) -> BoxFuture<'_, Result<FacilitatorReply, NoResponse>> {
        Box::pin(self.exchange(self.client.get(format!("{}/supported", self.url))))
    }
}

/// A process that buys one page and reports it.
fn start(till: &Till, facilitator: &FacilitatorServer, nonce: u8) -> Child {
    start_buying(till, facilitator, Item::Publish, nonce, None)
}

/// The same for any item; an unlock is for an account.
fn start_buying(
    till: &Till,
    facilitator: &FacilitatorServer,
    item: Item,
    nonce: u8,
    account: Option<&str>,
) -> Child {
    let database = &till.config.database_url;
    let handed = json!({
        "database": database.starts_with("postgres").then_some(database), "dir": till.dir.path(),
        "facilitator": facilitator.url(), "nonce": nonce, "now": till.app.now(),
        "item": item.as_str(), "account": account,
    });
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "pay::pay_kill::a_process_of_its_own_pays", "--nocapture"]);
    command.env(HANDED, handed.to_string()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "what the first process hands over comes in the environment")]
async fn a_process_of_its_own_pays() {
    let Ok(handed) = std::env::var(HANDED) else { return };
    let handed: Value = serde_json::from_str(&handed).unwrap();
    let text = |name: &str| handed[name].as_str().map(str::to_owned);
    let database = text("database").map_or(Database::Sqlite, Database::Postgres);
    let config = config(&database, &PathBuf::from(text("dir").unwrap()));
    let clock = Arc::new(ManualClock::at(handed["now"].as_i64().unwrap()));
    dropleaf::tls::install_provider();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let wire = Arc::new(Wire { url: text("facilitator").unwrap(), client });
    // Processes that share a database must not mint the same ids.
    let minter = seed::minter_for(&format!("{} {}", handed["item"], handed["nonce"]));
    let app = open_app(&config, &clock, wire, minter).await;
    let item = Item::parse(&text("item").unwrap()).unwrap();
    let terms = app.listing(item).unwrap().terms.clone();
    let nonce = u8::try_from(handed["nonce"].as_u64().unwrap()).unwrap();
    let proof = Purse::new().sign(&terms, nonce, app.now());
    let order = match item {
        Item::Publish => {
            Order::Publish(app.check_page(Upload::html(HTML.to_owned()), None, true).await.unwrap())
        }
        Item::Provision => Order::Provision,
        Item::Unlock(sku) => {
            Order::Unlock { account: app.get_account(&text("account").unwrap()).await.unwrap(), sku }
        }
        Item::Topup => unreachable!("paid by card only"),
    };
    let bought = Box::pin(app.execute_purchase(request(order, proof, HTML))).await.unwrap();
    let token = if item == Item::Publish { page(&bought).0 } else { String::new() };
    println!("\nBOUGHT {token}");
    std::future::pending::<()>().await;
}

fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// After a kill the payment may still be held; once the hold has expired, one page exists for its money.
async fn check_after_kill(till: &Till, nonce: u8, what: &str) {
    let proof = till.sign(Item::Publish, nonce);
    let after = till.beside().await;
    let suffix = format!("{nonce:02x}").repeat(2);
    let rows = after.rows("SELECT payment_key, state FROM payments", |row| {
        Ok((row.text(0)?.to_owned(), row.text(1)?.to_owned()))
    });
    // Prints the state that the kill left, to show whether it hit.
    println!(
        "{what}: {:?}",
        rows.await.iter().find(|(key, _)| key.ends_with(&suffix)).map(|(_, state)| state)
    );
    match after.publish_html(proof.clone(), HTML).await {
        Err(PayError::Failed(error)) if error.code == Code::PaymentInFlight => {
            till.clock.advance(HOLD);
            after.app.recover_payments().await.unwrap();
        }
        outcome => drop(outcome.unwrap_or_else(|error| panic!("{what}: {error:?}"))),
    }
    let told = after.publish_html(proof, HTML).await.unwrap();
    assert!(told.is_replay, "{what}");
    assert!(after.states().await.iter().all(|state| state == "fulfilled"), "{what}");
    assert_eq!(after.fake.moved(), u64::from(nonce) * PRICE, "{what}");
    assert_eq!(after.count("SELECT COUNT(*) FROM sites").await, i64::from(nonce), "{what}");
    assert_eq!(after.count("SELECT COUNT(*) FROM bundles WHERE refs = 1").await, i64::from(nonce), "{what}");
    after.app.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_before_or_after_any_step_it_is_charged_once_and_makes_one_page() {
    at_each_till(async |till| {
        let facilitator = FacilitatorServer::serve(till.fake.clone()).await;
        let steps = [
            (Call::Verify, Fault::Waits),
            (Call::Verify, Fault::DoesAndWaits),
            (Call::Settle, Fault::Waits),
            (Call::Settle, Fault::DoesAndWaits),
        ];
        let mut nonce = 0;
        for (call, fault) in steps {
            nonce += 1;
            till.fake.next(call, [fault.clone()]);
            let child = start(till, &facilitator, nonce);
            assert_eq!(till.fake.stalled().await, call);
            kill(child);
            till.fake.let_go();
            till.fake.passed().await;
            check_after_kill(till, nonce, &format!("{call:?} {fault:?}")).await;
        }
        // Between the steps there is nothing to wait for: a little later each time.
        for call in [Call::Verify, Call::Settle] {
            for micros in [0, 1000, 2000, 4000, 6000, 9000, 13_000, 18_000, 25_000] {
                nonce += 1;
                till.fake.next(call, [Fault::DoesAndWaits]);
                let child = start(till, &facilitator, nonce);
                assert_eq!(till.fake.stalled().await, call);
                till.fake.let_go();
                till.fake.passed().await;
                tokio::time::sleep(Duration::from_micros(micros)).await;
                kill(child);
                check_after_kill(till, nonce, &format!("{micros} µs after {call:?}")).await;
            }
        }
        // And after the response.
        nonce += 1;
        let mut child = start(till, &facilitator, nonce);
        let out = BufReader::new(child.stdout.take().unwrap());
        let token = tokio::task::spawn_blocking(move || {
            out.lines().find_map(|line| line.unwrap().strip_prefix("BOUGHT ").map(str::to_owned)).unwrap()
        });
        let token = token.await.unwrap();
        kill(child);
        assert_eq!(page(&till.publish(nonce).await.unwrap()).0, token);
        check_after_kill(till, nonce, "after the answer").await;
        failed(till.publish_html(till.sign(Item::Publish, nonce), "<p>another").await, Code::PaymentUsed);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_after_the_settlement_a_key_and_an_unlock_are_there_for_their_money() {
    at_each_till(async |till| {
        let facilitator = FacilitatorServer::serve(till.fake.clone()).await;
        let account = till.app.create_account("a@example.org", Some("free"), false).await.unwrap();
        let unlock = Item::Unlock(Sku::HigherLimits);
        for (nonce, item) in [(1, Item::Provision), (2, unlock)] {
            till.fake.next(Call::Settle, [Fault::DoesAndWaits]);
            let child = start_buying(till, &facilitator, item, nonce, Some(&account.id));
            assert_eq!(till.fake.stalled().await, Call::Settle);
            kill(child);
            till.fake.let_go();
            till.fake.passed().await;
        }
        assert_eq!(till.states().await, ["settling", "settling"]);
        let moved = till.fake.moved();
        till.clock.advance(HOLD);
        let after = till.beside().await;
        assert_eq!(after.app.recover_payments().await.unwrap(), 2);
        assert_eq!(after.states().await, ["fulfilled", "fulfilled"]);
        // Sending the same again returns it.
        let proof = till.sign(Item::Provision, 1);
        let bought =
            Box::pin(after.app.execute_purchase(request(Order::Provision, proof, HTML))).await.unwrap();
        assert!(bought.is_replay && key(&bought).starts_with("stk_live_"));
        assert_eq!(after.count("SELECT COUNT(*) FROM api_keys WHERE name = 'provisioned'").await, 1);
        let unlocked = after.app.get_account(&account.id).await.unwrap();
        let until = unlocked.unlocks.until(Sku::HigherLimits);
        assert!(until.is_some_and(|until| until > after.app.now()));
        let order = Order::Unlock { account, sku: Sku::HigherLimits };
        let again =
            Box::pin(after.app.execute_purchase(request(order, till.sign(unlock, 2), HTML))).await.unwrap();
        assert!(again.is_replay);
        assert_eq!(
            after.app.get_account(&unlocked.id).await.unwrap().unlocks.until(Sku::HigherLimits),
            until
        );
        assert_eq!(after.fake.moved(), moved);
    })
    .await;
}
