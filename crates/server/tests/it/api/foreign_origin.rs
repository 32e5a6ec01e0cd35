//! Anonymous writes from web pages of other origins.

use crate::harness::{Answer, Ask, FacilitatorServer, Form, Node, Setup, page};
use reqwest::Method;
use serde_json::{Value, json};

const EVIL: &str = "https://evil.example";

/// A body that each operation would accept, so that a refusal is only for the origin.
fn filled(ask: Ask, operation: &Value) -> Ask {
    let content = &operation["requestBody"]["content"];
    if content.get("multipart/form-data").is_some() {
        ask.form(Form::file("a.html", page("Planted")))
    } else if content.get("application/json").is_some() {
        ask.json(&json!({"html": page("Planted"), "redirect_uris": ["https://evil.example/back"]}))
    } else {
        ask.fields(&[("grant_type", "authorization_code"), ("client_id", "x")])
    }
}

async fn things(node: &Node) -> i64 {
    node.count(
        "SELECT (SELECT COUNT(*) FROM sites) + (SELECT COUNT(*) FROM oauth_clients) + (SELECT COUNT(*) FROM appeals) \
         + (SELECT COUNT(*) FROM device_logins) + (SELECT COUNT(*) FROM payments) + (SELECT COUNT(*) FROM counters)",
    )
    .await
}

#[tokio::test]
async fn every_write_without_a_credential_is_refused_to_other_origins() {
    let node = Setup::new().with_rates().start().await;
    let document = node.get("/openapi.json").send().await.expect(200).json();
    let before = things(&node).await;
    let mut walked = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let Ok(verb) = method.to_uppercase().parse::<Method>() else { continue };
            if !["post", "put", "patch", "delete"].contains(&method.as_str()) {
                continue;
            }
            let target = path.replace(['{', '}'], "x");
            let ask = || node.ask(verb.clone(), &target);
            for origin in [EVIL, "null", "http://s-abc.localhost:8080", "https://localhost.evil.example"] {
                let answer = filled(ask().header("origin", origin), operation).send().await;
                assert_eq!(
                    (answer.status, answer.json()["error"].as_str()),
                    (403, Some("cross_site")),
                    "{method} {path}"
                );
            }
            // An invalid key does not help, not even where keys are ignored.
            let wrong = filled(ask().header("origin", EVIL).key("stk_live_wrong"), operation).send().await;
            assert!(matches!(wrong.status, 401 | 403), "{method} {path}: {}", wrong.status);
            walked += 1;
        }
    }
    assert!(walked >= 25, "{walked} operations");
    assert_eq!(things(&node).await, before, "nothing was made, nothing counted");
}

#[tokio::test]
async fn the_refusal_comes_before_the_body() {
    let node = Node::start().await;
    // Declared but never sent: a server that waited for it would time out.
    let head = format!(
        "POST /sites HTTP/1.1\r\nHost: localhost:{}\r\nOrigin: {EVIL}\r\nContent-Type: text/plain\r\nContent-Length: 1000000\r\n\r\n",
        node.port
    );
    let answer = raw(&node, head.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
}

/// Sends these bytes and returns the response up to the end of its first head.
pub(crate) async fn raw(node: &Node, bytes: &[u8]) -> String {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut stream = tokio::net::TcpStream::connect(("127.0.0.1", node.port)).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    let (mut answer, mut piece) = (Vec::new(), [0; 4096]);
    while !answer.windows(4).any(|end| end == b"\r\n\r\n") {
        let read = stream.read(&mut piece).await.unwrap();
        assert!(read > 0, "the connection ended after {}", String::from_utf8_lossy(&answer));
        answer.extend_from_slice(&piece[..read]);
    }
    String::from_utf8_lossy(&answer).into_owned()
}

async fn publish(node: &Node, origin: &str) -> Answer {
    node.post("/sites").header("origin", origin).form(Form::file("a.html", page("Sent"))).send().await
}

#[tokio::test]
async fn our_own_pages_programs_and_keys_go_on() {
    let node = Node::start().await;
    node.publish_anonymously().await;
    publish(&node, &node.base_url()).await.expect(201);
    publish(&node, &format!("http://127.0.0.1:{}", node.port)).await.expect(201);
    let keyed = node.post("/sites").key(&node.key).header("origin", EVIL);
    keyed.form(Form::file("a.html", page("Keyed"))).send().await.expect(201);
    node.get("/llms.txt").header("origin", EVIL).send().await.expect(200);
    let site = node.publish_anonymously().await;
    let put = node.put(&format!("/sites/{}", site["id"].as_str().unwrap())).header("origin", EVIL);
    put.claim(site["claim_token"].as_str().unwrap()).json(&json!({"html": "<p>x"})).send().await.expect(200);
    let edit = node.patch(&format!("/sites/{}/content", site["id"].as_str().unwrap())).header("origin", EVIL);
    let edits = json!({"edits": [{"find": "<p>x", "replace": "<p>y"}]});
    edit.claim(site["claim_token"].as_str().unwrap()).json(&edits).send().await.expect(200);
    // A claim token opens nothing else.
    let made = node.post("/sites").header("origin", EVIL).claim(site["claim_token"].as_str().unwrap());
    made.form(Form::file("a.html", page("x"))).send().await.refused(403, "cross_site");
}

#[tokio::test]
async fn operators_name_the_origins_that_may() {
    let node = Setup::new().set("anonymous.origins", "https://app.example").start().await;
    publish(&node, "https://app.example").await.expect(201);
    publish(&node, EVIL).await.refused(403, "cross_site");
    publish(&node, "null").await.refused(403, "cross_site");
    let twice = node.post("/sites").header("origin", "https://app.example").header("origin", EVIL);
    twice.form(Form::file("a.html", page("x"))).send().await.refused(403, "cross_site");
    let open = Setup::new().set("anonymous.origins", "*").start().await;
    publish(&open, EVIL).await.expect(201);
    publish(&open, "null").await.expect(201);
}

#[tokio::test]
async fn programs_in_browsers_that_may_use_mcp_may_sign_in() {
    let node = Setup::new().set("mcp.allowed_origins", "https://inspector.example").start().await;
    let register = async |origin: &str| {
        let client = json!({"redirect_uris": ["https://inspector.example/back"], "token_endpoint_auth_method": "none"});
        node.post("/oauth/register").header("origin", origin).json(&client).send().await
    };
    register("https://inspector.example").await.expect(201);
    register("http://localhost:6274").await.expect(201);
    register(EVIL).await.refused(403, "cross_site");
    publish(&node, "https://inspector.example").await.refused(403, "cross_site");
}

#[tokio::test]
async fn preflights_are_answered_only_where_the_request_would_be() {
    let node = Node::start().await;
    let preflight = async |origin: &str, method: &str, headers: &str, private: bool| {
        let mut ask = node.ask(Method::OPTIONS, "/sites").header("origin", origin);
        ask = ask.header("access-control-request-method", method);
        if !headers.is_empty() {
            ask = ask.header("access-control-request-headers", headers);
        }
        if private {
            ask = ask.header("access-control-request-private-network", "true");
        }
        ask.send().await
    };
    for headers in ["authorization,content-type", "Authorization"] {
        let allowed = preflight(EVIL, "POST", headers, false).await.expect(204);
        assert_eq!(allowed.header("access-control-allow-origin"), "*");
    }
    preflight(EVIL, "GET", "if-none-match", false).await.expect(204);
    preflight(&node.base_url(), "POST", "content-type", false).await.expect(204);
    for headers in ["", "content-type", "x-authorization"] {
        let refused = preflight(EVIL, "POST", headers, false).await.refused(403, "cross_site");
        assert!(!refused.has("access-control-allow-origin"));
    }
    for (method, headers) in [("GET", ""), ("POST", "authorization")] {
        preflight(EVIL, method, headers, true).await.refused(403, "cross_site");
    }
    let own = preflight(&node.base_url(), "POST", "", true).await.expect(204);
    assert!(!own.has("access-control-allow-private-network"));
}

async fn preflight(node: &Node, path: &str, method: &str, headers: &str) -> Answer {
    let ask = node.ask(Method::OPTIONS, path).header("origin", EVIL);
    ask.header("access-control-request-method", method)
        .header("access-control-request-headers", headers)
        .send()
        .await
}

#[tokio::test]
async fn paid_routes_are_open_to_other_origins_where_money_moves() {
    let fake = FacilitatorServer::start().await;
    let live = Setup::new().set("payments.mode", "live").set("payments.facilitator_url", fake.url());
    let live = live.set("payments.evm_pay_to", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8").start().await;
    let sandbox = Node::start().await;
    let proofs =
        [("payment-signature", "proof"), ("x-payment", "proof"), ("authorization", "Payment id=\"x\"")];
    for path in ["/publish", "/provision", "/unlock?feature=higher_limits"] {
        for (name, value) in proofs {
            let pay = async |node: &Node, path: &str| {
                let ask = node.post(path).header("origin", EVIL).header(name, value);
                ask.json(&json!({"html": page("Paid for")})).send().await
            };
            let answer = pay(&live, path).await;
            assert_ne!(answer.json()["error"], "cross_site", "{path} with {name}");
            pay(&sandbox, path).await.refused(403, "cross_site");
            pay(&live, "/sites").await.refused(403, "cross_site");
            preflight(&live, path, "POST", &format!("content-type,{name}")).await.expect(204);
        }
        preflight(&live, path, "POST", "content-type").await.expect(204);
        preflight(&sandbox, path, "POST", "payment-signature").await.refused(403, "cross_site");
        let terms = live.post(path).header("origin", EVIL).send().await;
        assert_ne!(terms.json()["error"], "cross_site", "{path} without a payment");
        if path.starts_with("/unlock") {
            continue;
        }
        // It gets the terms whatever it sends, and does not use up its visitor's rate limit.
        for body in [json!({"html": page("A page")}), json!({"html": 1}), json!({"ap2_mandate": "x"})] {
            for _ in 0..20 {
                let ask = live.post(path).header("origin", EVIL).header("x-forwarded-for", "203.0.113.9");
                ask.json(&body).send().await.refused(402, "payment_required");
            }
        }
        sandbox.post(path).header("origin", EVIL).send().await.refused(403, "cross_site");
    }
    preflight(&live, "/sites", "POST", "x-payment").await.refused(403, "cross_site");
}

#[tokio::test]
async fn upload_address_is_a_credential() {
    let node = Node::start().await;
    let made = node.mcp_modern(&node.key).give("create_upload", json!({})).await;
    let url = made["upload_url"].as_str().unwrap();
    let path = url.strip_prefix(&node.base_url()).unwrap();
    preflight(&node, path, "PUT", "content-type").await.expect(204);
    let put = node.put(&format!("{path}a.html")).header("origin", EVIL);
    put.body("application/octet-stream", page("Sent")).send().await.expect(201);
    for wrong in ["/uploads/upl_x/a.html", "/uploads/x/a.html"] {
        preflight(&node, wrong, "PUT", "content-type").await.refused(403, "cross_site");
        let put = node.put(wrong).header("origin", EVIL).body("text/html", page("x"));
        put.send().await.refused(403, "cross_site");
    }
    let unknown = format!("/uploads/upl_{}/a.html", "A".repeat(100));
    let put = node.put(&unknown).header("origin", EVIL).body("text/html", page("x"));
    put.send().await.refused(403, "invalid_upload_address");
}
