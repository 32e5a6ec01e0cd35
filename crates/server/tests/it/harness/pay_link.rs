//! A pay session in a test: the program that polls, and the person who pays with a card of the sandbox.

use super::{Answer, Ask, Node};
use dropleaf_core::account::Account;
use serde_json::{Value, json};

pub(crate) const VISA: &str = "4242424242424242";

#[derive(Debug)]
pub(crate) struct PayLink<'a> {
    node: &'a Node,
    /// The response to its creation.
    pub(crate) made: Value,
    pub(crate) code: String,
    /// The address of its pay page.
    pub(crate) url: String,
}

impl Node {
    /// A link for a new account with 500 cents of credit.
    pub(crate) async fn key_link(&self) -> PayLink<'_> {
        self.pay_link(&json!({"amount_minor": 600}), None).await
    }

    pub(crate) async fn pay_link(&self, body: &Value, key: Option<&str>) -> PayLink<'_> {
        let ask = self.post("/pay/sessions").json(body);
        let ask = match key {
            Some(key) => ask.key(key),
            None => ask,
        };
        let answer = ask.send().await.expect(201);
        assert_eq!(answer.header("cache-control"), "no-store");
        let made = answer.json();
        let text = |name: &str| made[name].as_str().unwrap().to_owned();
        PayLink { node: self, code: text("code"), url: text("url"), made }
    }

    /// The account of a key.
    pub(crate) async fn account_of(&self, key: &str) -> Account {
        let me = self.get("/me").key(key).send().await.expect(200).json();
        self.app().get_account(me["id"].as_str().unwrap()).await.unwrap()
    }

    pub(crate) async fn check_ledger(&self) {
        let audit = self.app().audit_ledger().await.unwrap();
        assert!(audit.faults.is_empty(), "{:?}", audit.faults);
    }
}

impl PayLink<'_> {
    pub(crate) fn poll_now(&self) -> Ask {
        self.node.get(&format!("/pay/sessions/{}/poll", self.code))
    }

    /// Polls after the interval.
    pub(crate) async fn poll(&self) -> Value {
        self.node.clock.advance(self.made["interval_seconds"].as_i64().unwrap());
        let answer = self.poll_now().send().await.expect(200);
        assert_eq!(answer.header("cache-control"), "no-store");
        answer.json()
    }

    #[track_caller]
    pub(crate) fn status(polled: &Value) -> &str {
        polled["status"].as_str().unwrap()
    }

    pub(crate) async fn page(&self) -> Answer {
        self.node.get(&self.url).browser().send().await
    }

    /// The button of the pay page.
    pub(crate) async fn begin(&self) -> Answer {
        self.send_form(&self.url, &[]).await
    }

    /// The address of the card form.
    pub(crate) async fn open_form(&self) -> String {
        let answer = self.begin().await.expect(303);
        answer.header("location").to_owned()
    }

    pub(crate) async fn submit(&self, form: &str, number: &str, more: &[(&str, &str)]) -> Answer {
        let card = [("number", number), ("expiry", "12/34"), ("cvc", "123")];
        self.send_form(form, &[&card, more].concat()).await
    }

    /// Pays; the person is back on the pay page.
    pub(crate) async fn pay(&self) {
        let form = self.open_form().await;
        let back = self.submit(&form, VISA, &[]).await.expect(303);
        assert_eq!(back.header("location"), format!("{}?done=1", self.url));
    }

    async fn send_form(&self, url: &str, fields: &[(&str, &str)]) -> Answer {
        let ask = self.node.post(url).header("origin", &self.node.base_url());
        ask.browser().fields(fields).send().await
    }
}
