//! Flows through the sandbox: our own requests go in, our own readers read what comes out.

mod api;
mod checkout;
mod idempotency;
mod properties;
mod refund_and_dispute;
mod token;

use std::collections::BTreeMap;

use serde_json::Value;

use super::*;
use crate::stripe::{self, ApiRequest, Checkout, Event, EventKind, Money, NewCheckout, ObjectId};

const NOW: i64 = 1_767_225_600;
const WEBHOOK_SECRET: &str = "whsec_test_secret";

/// A caller of the sandbox: a store that enforces versions, a clock and a source of random bytes.
struct World {
    objects: BTreeMap<ObjectKey, StoredObject>,
    now: i64,
    runs: u64,
    /// The events since they were last looked at.
    events: Vec<Event>,
    names: Vec<&'static str>,
}

struct Answer {
    status: u16,
    body: Value,
    replayed: bool,
}

impl World {
    fn new() -> Self {
        Self { objects: BTreeMap::new(), now: NOW, runs: 0, events: Vec::new(), names: Vec::new() }
    }

    fn find(&self, keys: &[ObjectKey]) -> Vec<StoredObject> {
        keys.iter().filter_map(|key| self.objects.get(key).cloned()).collect()
    }

    fn context(&mut self) -> Context<'static> {
        self.runs += 1;
        let mut random = [7; 32];
        random[..8].copy_from_slice(&self.runs.to_be_bytes());
        Context { now: self.now, random, form_url: "https://sandbox.test/pay" }
    }

    /// Writes on condition, and receives the events as the webhook does.
    fn apply(&mut self, writes: Vec<StoredObject>, events: &[WebhookEvent]) {
        for write in writes {
            let before = self.objects.get(&write.key).map_or(0, |object| object.version);
            assert_eq!(write.version, before + 1, "{:?}", write.key);
            self.objects.insert(write.key.clone(), write);
        }
        for event in events {
            let header = stripe::sign(WEBHOOK_SECRET, self.now, event.body.as_bytes());
            let body = event.body.as_bytes();
            stripe::verify_signature(&header, &[WEBHOOK_SECRET], body, self.now).unwrap();
            let read = Event::parse(body).unwrap();
            assert_eq!((read.id.as_str(), read.created, read.livemode), (event.id.as_str(), self.now, false));
            assert!(!self.events.iter().any(|other| other.id == read.id), "an event id twice");
            self.events.push(read);
            self.names.push(event.kind);
        }
    }

    fn send(&mut self, request: &Request<'_>) -> Answer {
        let call = Call::parse(request);
        let found = self.find(&call.needs());
        let handled = call.run(&found, &self.context());
        self.apply(handled.writes, &handled.events);
        let body = serde_json::from_str(&handled.body).unwrap();
        Answer { status: handled.status, body, replayed: handled.replayed }
    }

    fn post(&mut self, path: &str, form: &str) -> Answer {
        self.post_with_key(path, form, None)
    }

    fn post_with_key(&mut self, path: &str, form: &str, key: Option<&str>) -> Answer {
        let authorization = Some("Bearer sk_test_x");
        let parameters = form.as_bytes();
        self.send(&Request { method: "POST", path, authorization, idempotency_key: key, parameters })
    }

    fn get(&mut self, path: &str) -> Answer {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let (authorization, parameters) = (Some("Bearer sk_test_x"), query.as_bytes());
        self.send(&Request { method: "GET", path, authorization, idempotency_key: None, parameters })
    }

    /// Sends one of our own requests.
    fn api(&mut self, request: &ApiRequest) -> Answer {
        let (path, parameters) = request.path_and_parameters();
        self.send(&Request {
            method: request.method.as_str(),
            path,
            authorization: Some("Bearer sk_test_x"),
            idempotency_key: request.idempotency_key.as_deref(),
            parameters: parameters.as_bytes(),
        })
    }

    fn open_checkout(&mut self) -> Checkout {
        let answer = self.api(&stripe::create_checkout(&checkout("pay_1", self.now)));
        answer.checkout()
    }

    fn retrieve(&mut self, id: &ObjectId) -> Checkout {
        self.api(&stripe::retrieve_checkout(id)).checkout()
    }

    fn submit(
        &mut self,
        session: &ObjectId,
        number: &str,
        authentication: Option<Authentication>,
    ) -> FormOutcome {
        let card = CardDetails { number, expiry: "12/34", cvc: "123" };
        let submission = FormSubmission { session: session.as_str(), card, authentication };
        let found = self.find(&submission.needs());
        let submitted = submission.run(&found, &self.context());
        self.apply(submitted.writes, &submitted.events);
        submitted.outcome
    }

    fn step(&mut self, payment: PaymentRef<'_>, kind: StepKind) -> Answer {
        let step = Step { payment, kind };
        let found = self.find(&step.needs());
        let handled = step.run(&found, &self.context());
        self.apply(handled.writes, &handled.events);
        let body = serde_json::from_str(&handled.body).unwrap();
        Answer { status: handled.status, body, replayed: handled.replayed }
    }

    /// The names of the events since the last look.
    fn take_names(&mut self) -> Vec<&'static str> {
        std::mem::take(&mut self.names)
    }

    fn last_event(&self) -> &EventKind {
        &self.events.last().unwrap().kind
    }
}

impl Answer {
    fn bytes(&self) -> Vec<u8> {
        self.body.to_string().into_bytes()
    }

    fn checkout(&self) -> Checkout {
        stripe::read_checkout(self.status, &self.bytes()).unwrap()
    }

    /// Status, type, code and parameter of an error.
    fn error(&self) -> (u16, &str, Option<&str>, Option<&str>) {
        let error = &self.body["error"];
        assert!(error["message"].as_str().is_some_and(|message| !message.is_empty()));
        (self.status, error["type"].as_str().unwrap(), error["code"].as_str(), error["param"].as_str())
    }
}

fn checkout(reference: &str, now: i64) -> NewCheckout<'_> {
    NewCheckout {
        reference,
        price: Money::usd_cents(600),
        product: "API key",
        feature: "provision",
        success_url: "https://api.pages.test/pay/x?session={CHECKOUT_SESSION_ID}",
        cancel_url: "https://api.pages.test/pay/x",
        expires_at: now + 3600,
    }
}
