//! Sells by card without HTTP, on a separate database, with a card processor that can fail.

use super::till::Till;
use super::{Database, FakeProcessor, mandate_signer, seed};
use dropleaf_app::{App, CardSettings, NewPaySession, PolledPaySession, SandboxProcessor};
use dropleaf_core::Result;
use dropleaf_core::account::Account;
use dropleaf_core::pay_session::{Feature, PaySession, PaySessionState};
use dropleaf_core::payment::Payment;
use dropleaf_pay::stripe::sandbox::{CardDetails, FormOutcome, PaymentRef, Step, StepKind, WebhookEvent};
use dropleaf_pay::stripe::{TokenSpelling, sign};
use dropleaf_store::Store;
use std::sync::Arc;

pub(crate) const WEBHOOK_SECRET: &str = "whsec_of_the_tests";
pub(crate) const VISA: &str = "4242424242424242";

/// A till in live mode that accepts cards only through the fake.
#[derive(Debug)]
pub(crate) struct CardTill {
    pub(crate) till: Till,
    pub(crate) processor: FakeProcessor,
    pub(crate) store: Store,
}

/// A pay session with its secrets, and its form once that is open.
#[derive(Debug, Clone)]
pub(crate) struct Sold {
    pub(crate) id: String,
    pub(crate) code: String,
    pub(crate) slug: String,
    pub(crate) form: String,
}

/// Runs a test on SQLite, then on PostgreSQL.
pub(crate) async fn at_each_card_till(test: impl AsyncFn(&CardTill)) {
    for database in [Database::Sqlite, Database::postgres().await] {
        let till = Box::pin(CardTill::open(&database)).await;
        Box::pin(test(&till)).await;
        till.till.app.close().await;
        till.store.db.close().await;
        database.remove().await;
    }
}

impl CardTill {
    pub(crate) async fn open(database: &Database) -> Self {
        let bare = Till::open(database).await;
        let form_url = "http://localhost:8080/pay/sandbox".to_owned();
        let minter = Arc::new(seed::minter());
        let store = bare.open_store().await;
        let sandbox = SandboxProcessor::new(store.clone(), bare.clock.clone(), minter, form_url);
        let processor = FakeProcessor::new(sandbox);
        let till = bare.beside_with(|config| {
            config.card_processor = Some(Arc::new(processor.clone()));
            let payments = config.settings.payments.as_mut().unwrap();
            payments.cards = Some(CardSettings {
                webhook_secrets: vec![WEBHOOK_SECRET.to_owned()],
                token_spelling: TokenSpelling::Nested,
            });
            payments.mandates.issuers = mandate_signer::issuers();
        });
        let till = till.await;
        bare.app.close().await;
        Self { till, processor, store }
    }

    /// Another node of the same service, or the same after a restart.
    pub(crate) async fn beside(&self) -> Self {
        let till = self.till.beside().await;
        Self { till, processor: self.processor.clone(), store: self.store.clone() }
    }

    pub(crate) fn app(&self) -> &App {
        &self.till.app
    }

    /// A pay session whose form is not open.
    pub(crate) async fn create(&self, feature: Feature, cents: i64, account: Option<&Account>) -> Sold {
        let new = NewPaySession { feature, amount_minor: Some(cents), account, ip: None };
        let made = self.app().create_pay_session(new).await.unwrap();
        Sold { id: made.session.id, code: made.code, slug: made.slug, form: String::new() }
    }

    /// The same with an open form.
    pub(crate) async fn sell(&self, feature: Feature, cents: i64, account: Option<&Account>) -> Sold {
        let mut sold = self.create(feature, cents, account).await;
        let url = self.open_form(&sold).await.unwrap();
        url.rsplit('/').next().unwrap().clone_into(&mut sold.form);
        sold
    }

    /// A session for a key and 500 cents of credit.
    pub(crate) async fn sell_key(&self) -> Sold {
        self.sell(Feature::Provision, 600, None).await
    }

    pub(crate) async fn open_form(&self, sold: &Sold) -> Result<String> {
        let session = self.app().find_pay_page(&sold.slug).await?;
        self.app().open_checkout(&session, &format!("http://localhost:8080/pay/{}", sold.slug)).await
    }

    /// A person pays; the events are not delivered.
    pub(crate) async fn pay(&self, sold: &Sold, number: &str) -> (FormOutcome, Vec<WebhookEvent>) {
        let card = CardDetails { number, expiry: "12/34", cvc: "123" };
        self.processor.sandbox.submit(&sold.form, card, None).await.unwrap()
    }

    /// Something happens to the payment; the events are not delivered.
    pub(crate) async fn step(&self, sold: &Sold, kind: StepKind) -> Vec<WebhookEvent> {
        let step = Step { payment: PaymentRef::Checkout(&sold.form), kind };
        let reply = self.processor.sandbox.step(step).await.unwrap();
        assert_eq!(reply.status, 200, "{}", reply.body);
        reply.events
    }

    pub(crate) async fn deliver(&self, event: &WebhookEvent) -> Result<()> {
        self.deliver_body(&event.body).await
    }

    pub(crate) async fn deliver_body(&self, body: &str) -> Result<()> {
        let signature = sign(WEBHOOK_SECRET, self.app().now(), body.as_bytes());
        self.app().receive_card_event(body.as_bytes(), &signature).await
    }

    /// Polls as soon as the processor may be asked again.
    pub(crate) async fn poll(&self, sold: &Sold) -> PolledPaySession {
        self.till.clock.advance(2);
        self.app().poll_pay_session(&sold.code).await.unwrap()
    }

    pub(crate) async fn session(&self, sold: &Sold) -> PaySession {
        self.store.find_pay_session(&sold.id).await.unwrap().unwrap()
    }

    /// The payment of a session.
    pub(crate) async fn payment(&self, sold: &Sold) -> Payment {
        let session = self.session(sold).await;
        self.app().get_payment(session.payment_id.as_deref().unwrap()).await.unwrap()
    }

    /// The real balance of the account that a session is for.
    pub(crate) async fn balance(&self, sold: &Sold) -> i64 {
        let account = self.payment(sold).await.account_id.unwrap();
        self.app().get_account(&account).await.unwrap().balance_minor
    }

    /// Nothing was bought.
    pub(crate) async fn check_nothing_sold(&self) {
        assert_eq!(self.till.count("SELECT COUNT(*) FROM api_keys").await, 0);
        assert_eq!(self.till.count("SELECT COUNT(*) FROM ledger_txns").await, 0);
        assert_eq!(self.till.count("SELECT COUNT(*) FROM payments WHERE state = 'fulfilled'").await, 0);
    }

    pub(crate) async fn check_ledger(&self) {
        let audit = self.app().audit_ledger().await.unwrap();
        assert!(audit.faults.is_empty(), "{:?}", audit.faults);
    }

    /// The session is completed once, and its key is delivered by the next poll and by no other.
    pub(crate) async fn check_key_once(&self, sold: &Sold) -> String {
        let first = self.poll(sold).await;
        assert_eq!(first.state, PaySessionState::Completed);
        let key = first.key.expect("the key").secret;
        assert_eq!(first.is_key_delivered, Some(true));
        let again = self.poll(sold).await;
        assert!(again.key.is_none() && again.is_key_delivered == Some(true));
        key
    }
}
