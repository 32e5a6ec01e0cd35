//! `/operator/certificates` and `dropleaf certs`: what the server knows about certificates, and renewal on request.

use crate::harness::{Dropleaf, Node, Setup, on_each_database};
use dropleaf_store::certificates::{self, FailedOrder};

const LIST: &str = "/operator/certificates";
const RENEW: &str = "/operator/certificates/renew";

#[tokio::test]
async fn operators_see_failures_and_request_a_renewal() {
    on_each_database(Setup::new, async |node| {
        let operator = node.operator().await;
        let html = operator.get(LIST).await.expect(200).text();
        assert!(html.contains("obtains no certificates"), "{html}");
        let now = node.app().now();
        let failed = certificates::record_failure(
            &FailedOrder {
                name: "a.example",
                failures: 3,
                next_attempt_at: now + 7200,
                error: "refused <b>by</b> the authority",
                owner_error: "refused",
            },
            now,
        );
        node.commit(vec![certificates::require("a.example", now), failed]).await;
        let html = operator.get(LIST).await.expect(200).text();
        for part in
            ["a.example", "failed", "after 3 attempts", "refused &#60;b&#62;by&#60;/b&#62; the authority"]
        {
            assert!(html.contains(part), "{part}: {html}");
        }
        let sent = operator.submit(RENEW, &[("name", "a.example")]).await.expect(303);
        let html = operator.get(sent.header("location")).await.expect(200).text();
        assert!(html.contains("Renewal requested") && html.contains("order due now"), "{html}");
        operator.submit(RENEW, &[("name", "b.example")]).await.expect(404);
        let html = operator.get("/operator/audit").await.expect(200).text();
        assert!(html.contains("requested the renewal of the certificate for"), "{html}");
    })
    .await;
}

#[tokio::test]
async fn certificates_are_for_operators_who_signed_in_recently() {
    let node = Node::start().await;
    let (operator, eve) = (node.operator().await, node.newcomer("eve@example.org").await);
    let now = node.app().now();
    node.commit(vec![certificates::require("a.example", now)]).await;
    eve.get(LIST).await.expect(404);
    eve.submit(RENEW, &[("name", "a.example")]).await.expect(404);
    operator.cannot_be_imitated(RENEW, &[("name", "a.example")]).await;
    node.clock.advance(3600);
    let sent = operator.submit(RENEW, &[("name", "a.example")]).await.expect(303);
    assert_eq!(sent.header("location"), "/login?again=1&next=%2Foperator%2Fcertificates");
    assert_eq!(node.count("SELECT COUNT(*) FROM audit").await, 0);
}

#[tokio::test]
async fn command_line_lists_certificates_and_makes_them_due() {
    let node = Node::start().await;
    let (now, later) = (node.app().now(), 4_000_000_000);
    let wait = |name| certificates::set_next_attempt(name, later);
    let require = |name| certificates::require(name, now);
    node.commit(vec![require("drop.example"), require("*.pages.example")]).await;
    node.commit(vec![wait("drop.example"), wait("*.pages.example")]).await;
    let data_dir = node.data_dir().display().to_string();
    let dropleaf = Dropleaf::in_dir(node.data_dir()).env("DROPLEAF_DATA_DIR", &data_dir);
    let listed: serde_json::Value =
        serde_json::from_str(&dropleaf.prints(&["certs", "list", "--json"])).unwrap();
    assert_eq!(listed["certificates"][0]["name"], "*.pages.example");
    assert_eq!(listed["certificates"][0]["state"], "pending");
    assert!(dropleaf.prints(&["certs", "list"]).contains("drop.example"));
    let refused = dropleaf.complains(&["certs", "renew", "--all"]);
    assert!(refused.contains("`tls.mode` is not acme"), "{refused}");
    dropleaf.complains(&["certs", "renew"]);
    let dropleaf =
        dropleaf.env("DROPLEAF_TLS__MODE", "acme").env("DROPLEAF_BASE_URL", "https://drop.example");
    assert_eq!(dropleaf.prints(&["certs", "renew", "Drop.example"]), "Due now: drop.example.\n");
    let due = "SELECT COUNT(*) FROM certificates WHERE next_attempt_at < 4000000000";
    assert_eq!(node.count(due).await, 1);
    assert!(dropleaf.complains(&["certs", "renew", "other.example"]).contains("No certificate is managed"));
    let all = dropleaf.prints(&["certs", "renew", "--all", "--json"]);
    let all: serde_json::Value = serde_json::from_str(&all).unwrap();
    assert_eq!(all["due"], serde_json::json!(["*.pages.example", "drop.example"]));
    assert_eq!(node.count(due).await, 2);
    assert_eq!(node.count("SELECT COUNT(*) FROM audit WHERE actor = 'command line'").await, 3);
}
