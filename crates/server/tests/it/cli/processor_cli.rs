//! `dropleaf processor`: the real binary as a card processor, with its payment form, steps, faults and webhooks.

use crate::harness::{Dropleaf, Setup};
use dropleaf_core::{Clock, SystemClock};
use dropleaf_pay::stripe::{self, ApiRequest, Event, EventKind, PaymentStatus};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Stdio};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

const SECRET: &str = "whsec_for_tests";

struct Running {
    child: Child,
    url: String,
    /// Kept open, because the process keeps writing to it.
    _stdout: BufReader<ChildStdout>,
}

/// An answer: status, whether it was replayed, and its JSON.
struct Answer {
    status: u16,
    replayed: bool,
    request_id: String,
    json: Value,
}

impl Running {
    fn start(dir: &Path, more: &[&str]) -> Self {
        let dropleaf = Dropleaf::in_dir(dir);
        let args = [&["processor", "--listen", "localhost:0"], more].concat();
        let mut child = dropleaf.command(&args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut line).unwrap();
        let url = line.trim().rsplit(' ').next().unwrap().to_owned();
        assert!(url.starts_with("http://localhost:"), "{line}");
        Self { child, url, _stdout: stdout }
    }

    async fn try_send(&self, method: &str, path: &str, body: &str, key: Option<&str>) -> Option<Answer> {
        let method = method.parse().unwrap();
        let mut request = client().request(method, format!("{}{path}", self.url)).body(body.to_owned());
        request = request.header("authorization", "Bearer sk_test_x");
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        let response = request.send().await.ok()?;
        let header = |name: &str| Some(response.headers().get(name)?.to_str().unwrap().to_owned());
        let (replayed, request_id) = (header("idempotent-replayed"), header("request-id"));
        Some(Answer {
            status: response.status().as_u16(),
            replayed: replayed.as_deref() == Some("true"),
            request_id: request_id.unwrap_or_default(),
            json: serde_json::from_slice(&response.bytes().await.ok()?).unwrap_or(Value::Null),
        })
    }

    async fn post(&self, path: &str, body: &str) -> Answer {
        self.try_send("POST", path, body, None).await.unwrap()
    }

    async fn get(&self, path: &str) -> Answer {
        self.try_send("GET", path, "", None).await.unwrap()
    }

    async fn open_checkout(&self) -> String {
        let answer = self.post("/v1/checkout/sessions", &checkout()).await;
        assert_eq!(answer.status, 200, "{}", answer.json);
        answer.json["id"].as_str().unwrap().to_owned()
    }

    async fn fault(&self, path: &str, fault: &str) {
        let answer = self.post("/sandbox/faults", &json!({ "path": path, "fault": fault }).to_string()).await;
        assert_eq!(answer.status, 200, "{}", answer.json);
    }
}

/// Like a power failure.
impl Drop for Running {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn client() -> reqwest::Client {
    dropleaf::tls::install_provider();
    reqwest::Client::builder().no_proxy().build().unwrap()
}

fn checkout() -> String {
    new_checkout().form
}

fn new_checkout() -> ApiRequest {
    stripe::create_checkout(&stripe::NewCheckout {
        reference: "pay_1",
        price: stripe::Money::usd_cents(600),
        product: "API key",
        feature: "provision",
        success_url: "https://api.pages.test/pay/x",
        cancel_url: "https://api.pages.test/pay/x",
        expires_at: SystemClock::default().now() + 3600,
    })
}

fn card(number: &str) -> String {
    format!("number={number}&exp=12/34&cvc=123")
}

/// A webhook that verifies signatures and records what it receives. It refuses the first request.
#[derive(Clone, Default)]
struct Receiver {
    received: Arc<Mutex<Vec<Event>>>,
    requests: Arc<Mutex<usize>>,
}

impl Receiver {
    #[expect(clippy::disallowed_methods, reason = "it ends with the test")]
    async fn start(&self) -> String {
        let receiver = self.clone();
        let handler =
            async move |headers: http::HeaderMap, body: bytes::Bytes| receiver.receive(&headers, &body);
        let router = axum::Router::new().route("/hook", axum::routing::post(handler));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let serving = async move { axum::serve(listener, router).await };
        tokio::spawn(serving);
        url
    }

    fn receive(&self, headers: &http::HeaderMap, body: &[u8]) -> http::StatusCode {
        let mut requests = self.requests.lock().unwrap();
        *requests += 1;
        if *requests == 1 {
            return http::StatusCode::INTERNAL_SERVER_ERROR;
        }
        let signature = headers["stripe-signature"].to_str().unwrap();
        stripe::verify_signature(signature, &[SECRET], body, SystemClock::default().now()).unwrap();
        self.received.lock().unwrap().push(Event::parse(body).unwrap());
        http::StatusCode::OK
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_checkout_is_paid_and_disputed_and_survives_a_restart() {
    let dir = TempDir::new().unwrap();
    let first = Running::start(dir.path(), &["--data", "cards.db"]);
    assert_eq!(first.get("/healthz").await.json["status"], "ok");
    let id = first.open_checkout().await;
    let open = first.get(&format!("/v1/checkout/sessions/{id}")).await;
    assert_eq!(open.json["url"], format!("{}/form/{id}", first.url));
    assert!(open.request_id.starts_with("req_"));
    let form = format!("/form/{id}");
    assert_eq!(first.get(&form).await.json["amount"], 600);
    let declined = first.post(&form, &card("4000000000000002")).await;
    assert_eq!((declined.status, &declined.json["outcome"]), (402, &json!("declined")));
    let asked = first.post(&form, &card("4000002500003155")).await;
    assert_eq!(asked.json["outcome"], "authentication_required");
    let paid = first.post(&form, &format!("{}&authentication=approved", card("4000002500003155"))).await;
    assert_eq!((paid.status, &paid.json["outcome"]), (200, &json!("paid")));
    drop(first);

    let second = Running::start(dir.path(), &["--data", "cards.db"]);
    assert_eq!(second.post(&form, &card("4242424242424242")).await.status, 409);
    let complete = second.get(&format!("/v1/checkout/sessions/{id}")).await;
    assert_eq!(complete.json["payment_status"], "paid");
    let steps = format!("/sandbox/{id}");
    assert_eq!(second.post(&format!("{steps}/dispute"), "amount=100").await.json["object"], "dispute");
    assert_eq!(second.post(&format!("{steps}/close_dispute"), "won=true").await.json["status"], "won");
    assert_eq!(second.post(&format!("{steps}/refund"), "").await.json["amount"], 600);
    assert_eq!(second.post(&format!("{steps}/refund"), "").await.status, 400);
    assert_eq!(second.post(&format!("{steps}/explode"), "").await.status, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_live_server_without_a_wallet_uses_it() {
    let dir = TempDir::new().unwrap();
    let processor = Running::start(dir.path(), &[]);
    let setup = Setup::new().real_time().set("payments.mode", "live");
    let setup = setup.set("stripe.api_url", &processor.url).set("stripe.secret_key", "sk_test_x");
    let node = setup.start().await;
    assert!(node.app().sandbox_processor().is_none());
    let send = async |request: &ApiRequest| {
        let reply = node.app().card_processor().unwrap().send(request).await.unwrap();
        (reply.replayed, stripe::read_checkout(reply.status, &reply.body).unwrap())
    };
    let request = new_checkout();
    let (first, again) = (send(&request).await, send(&request).await);
    assert_eq!((first.0, again.0), (false, true));
    let id = first.1.id;
    assert_eq!(id, again.1.id);
    assert_eq!(processor.post(&format!("/form/{id}"), &card("4242424242424242")).await.status, 200);
    let (_, paid) = send(&stripe::retrieve_checkout(&id)).await;
    assert_eq!(paid.payment_status, PaymentStatus::Paid);
    assert_eq!(node.count("SELECT COUNT(*) FROM sandbox_objects").await, 0, "its objects are its own");
    processor.fault("/v1/checkout/sessions", "close_after").await;
    assert!(node.app().card_processor().unwrap().send(&stripe::expire_checkout(&id)).await.is_err());
    // Nothing can be paid with a wallet.
    let owed = node.post("/provision").send().await.refused(402, "payment_required");
    assert!(!owed.has("payment-required") && owed.json()["pay"]["url"].is_string());
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_have_the_processors_form() {
    let dir = TempDir::new().unwrap();
    let processor = Running::start(dir.path(), &[]);
    for (path, status) in [("/v1/nothing", 404), ("/", 404), ("/form/cs_unknown", 404)] {
        let answer = processor.get(path).await;
        assert_eq!((answer.status, &answer.json["error"]["type"]), (status, &json!("invalid_request_error")));
    }
    let unauthorized =
        client().get(format!("{}/v1/payment_intents/pi_1", processor.url)).send().await.unwrap();
    assert_eq!(unauthorized.status().as_u16(), 401);
    for body in ["", "{}", r#"{"path":"/v1/x","fault":"explode"}"#, r#"{"path":"/","fault":"stall"}"#] {
        assert_eq!(processor.post("/sandbox/faults", body).await.status, 400, "{body}");
    }
    assert_eq!(processor.post("/form/cs_1", "pin=1").await.status, 400);
    assert_eq!(processor.post("/v1/refunds", &"x".repeat(256 * 1024 + 1)).await.status, 413);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "without --data nothing is left here");
}

#[tokio::test(flavor = "multi_thread")]
async fn faults_happen_once_and_a_repeated_request_has_no_further_effect() {
    let dir = TempDir::new().unwrap();
    let processor = Running::start(dir.path(), &[]);
    let path = "/v1/checkout/sessions";
    let form = checkout();
    for (fault, status, is_done) in [
        ("error", Some(500), false),
        ("rate_limit", Some(429), false),
        ("close", None, false),
        ("error_after", Some(500), true),
        ("garbage", Some(200), true),
        ("close_after", None, true),
    ] {
        processor.fault(path, fault).await;
        let failed = processor.try_send("POST", path, &form, Some(fault)).await;
        assert_eq!(failed.as_ref().map(|answer| answer.status), status, "{fault}");
        assert!(failed.is_none_or(|answer| answer.json["id"].is_null()), "{fault}");
        let again = processor.try_send("POST", path, &form, Some(fault)).await.unwrap();
        assert_eq!((again.status, again.replayed), (200, is_done), "{fault}");
    }
    processor.fault(path, "replay").await;
    let replayed = processor.try_send("POST", path, &form, Some("replay")).await.unwrap();
    assert_eq!((replayed.status, replayed.replayed), (200, true));
    for fault in ["stall", "stall_after"] {
        processor.fault(path, fault).await;
        let url = format!("{}{path}", processor.url);
        let request = client().post(url).header("authorization", "Bearer sk_test_x").body(form.clone());
        let request = request.header("idempotency-key", fault).timeout(std::time::Duration::from_secs(1));
        assert!(request.send().await.unwrap_err().is_timeout(), "{fault}");
        let again = processor.try_send("POST", path, &form, Some(fault)).await.unwrap();
        assert_eq!((again.status, again.replayed), (200, fault == "stall_after"), "{fault}");
    }
    processor.fault(path, "error").await;
    assert_eq!(processor.try_send("DELETE", "/sandbox/faults", "", None).await.unwrap().status, 200);
    assert_eq!(processor.post(path, &form).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn events_are_signed_repeated_until_accepted_and_sent_again_on_request() {
    let dir = TempDir::new().unwrap();
    let receiver = Receiver::default();
    let hook = receiver.start().await;
    let webhook = ["--webhook-url", &hook, "--webhook-secret", SECRET];
    let processor = Running::start(dir.path(), &webhook);
    let id = processor.open_checkout().await;
    let paid = processor.post(&format!("/form/{id}"), &card("4242424242424242")).await;
    assert_eq!(paid.json["outcome"], "paid");
    // Redelivery waits behind everything that was queued before.
    let again = processor.post("/sandbox/redeliver", "").await.json;
    assert_eq!(again["accepted"], again["events"]);
    let bodies = receiver.received.lock().unwrap().clone();
    let count = usize::try_from(again["events"].as_u64().unwrap()).unwrap();
    assert_eq!(bodies.len(), 2 * count);
    assert_eq!(*receiver.requests.lock().unwrap(), 2 * count + 1, "the refused one was repeated");
    assert_eq!(bodies[..count], bodies[count..], "in the same order, with the same ids");
    let completed =
        bodies[..count].iter().filter(|event| matches!(event.kind, EventKind::CheckoutCompleted(_)));
    assert_eq!(completed.count(), 1);
}

#[test]
fn a_webhook_needs_an_address_and_a_secret() {
    let dir = TempDir::new().unwrap();
    let dropleaf = Dropleaf::in_dir(dir.path());
    assert!(
        dropleaf
            .complains(&["processor", "--webhook-url", "http://localhost:1/"])
            .contains("--webhook-secret")
    );
    let wrong = ["processor", "--webhook-url", "http://localhost:1/", "--webhook-secret", "secret"];
    assert!(dropleaf.complains(&wrong).contains("whsec_"));
}
