//! `/operator/health`, and the requests that the server sends to itself for it.

use crate::harness::{Node, Person, Setup, in_time};
use dropleaf_core::secret::Keys;
use dropleaf_core::self_check::{self, PATH, TOKEN_HEADER};
use serde_json::Value;

const HEALTH: &str = "/operator/health";
const RUN: &str = "/operator/health/run";

impl Person<'_> {
    /// The page once the checks have ended.
    pub(crate) async fn health(&self) -> String {
        in_time("the checks", async {
            loop {
                let html = self.get(HEALTH).await.expect(200).text();
                if !html.contains("data-waiting") {
                    return html;
                }
                tokio::task::yield_now().await;
            }
        })
        .await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn operators_see_the_results_and_run_the_checks_again() {
    let node = Node::start().await;
    let operator = node.operator().await;
    let html = operator.health().await;
    for part in
        ["Wildcard DNS", "The server sees its clients directly", "sees its clients directly", "Run again"]
    {
        assert!(html.to_lowercase().contains(&part.to_lowercase()), "{part}: {html}");
    }
    assert!(!html.contains("badge bad"), "{html}");
    let sent = operator.submit(RUN, &[]).await.expect(303);
    assert_eq!(sent.header("location"), HEALTH);
    assert!(!operator.get(HEALTH).await.expect(200).text().contains("data-waiting"), "too soon");
    node.clock.advance(60);
    operator.submit(RUN, &[]).await.expect(303);
    operator.health().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn problems_are_shown_with_their_fix() {
    let node = Setup::new()
        .set("trusted_proxies", "0.0.0.0/0")
        .set("limits.connections", "9999999999")
        .start()
        .await;
    let html = node.operator().await.health().await;
    assert!(
        html.contains("List only the addresses of your proxies") && html.contains("LimitNOFILE="),
        "{html}"
    );
    assert!(html.contains("2 problems"), "{html}");
}

#[tokio::test]
async fn health_is_for_operators_who_signed_in_recently() {
    let node = Node::start().await;
    let (operator, eve) = (node.operator().await, node.newcomer("eve@example.org").await);
    eve.get(HEALTH).await.expect(404);
    eve.submit(RUN, &[]).await.expect(404);
    operator.cannot_be_imitated(RUN, &[]).await;
    node.clock.advance(3600);
    let sent = operator.submit(RUN, &[]).await.expect(303);
    assert_eq!(sent.header("location"), "/login?again=1&next=%2Foperator%2Fhealth");
}

/// The secret of a server under test.
fn keys(node: &Node) -> Keys {
    let text = std::fs::read_to_string(node.data_dir().join("secret.key")).unwrap();
    let bytes: Vec<u8> =
        (0..32).map(|at| u8::from_str_radix(&text[at * 2..at * 2 + 2], 16).unwrap()).collect();
    Keys::new(bytes.try_into().unwrap())
}

#[tokio::test]
async fn the_self_check_answers_the_server_alone_and_once() {
    let node = Node::start().await;
    let (keys, now) = (keys(&node), node.app().now());
    let ask = async |token: &str| node.get(PATH).header(TOKEN_HEADER, token).send().await;
    let nothing = node.get("/.well-known/nothing").send().await;
    for bad in [
        "",
        "x",
        &self_check::issue(&Keys::new([0; 32]), "n1", now),
        &self_check::issue(&keys, "n1", now - 301),
    ] {
        let refused = ask(bad).await;
        assert_eq!(refused.status, nothing.status, "{bad}");
    }
    node.get(PATH).send().await.expect(404);
    let token = self_check::issue(&keys, "n1", now);
    let answer: Value = ask(&token).await.expect(200).json();
    assert!(self_check::is_proof(&keys, "n1", answer["proof"].as_str().unwrap()));
    assert!(answer["peer"].as_str().unwrap().starts_with("127.0.0.1:"));
    ask(&token).await.expect(404);
    // Whatever host the proxy made of it.
    let other =
        node.get(PATH).host("192.0.2.1:8080").header(TOKEN_HEADER, &self_check::issue(&keys, "n2", now));
    assert_eq!(other.send().await.expect(200).json()["host"], "192.0.2.1:8080");
}
