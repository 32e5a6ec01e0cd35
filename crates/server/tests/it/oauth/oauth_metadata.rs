//! The metadata documents of RFC 8414 and RFC 9728, in the exact form that strict clients compare.

use crate::harness::{Node, Setup};
use serde_json::json;

#[tokio::test]
async fn server_document_names_what_works_and_nothing_else() {
    let node = Node::start().await;
    let base = node.base_url();
    let answer = node.get("/.well-known/oauth-authorization-server").send().await.expect(200);
    assert_eq!(answer.header("content-type"), "application/json");
    assert_eq!(answer.header("cache-control"), "public, max-age=300");
    assert_eq!(answer.header("access-control-allow-origin"), "*");
    let document = answer.json();
    assert_eq!(document["issuer"], json!(base), "without a slash at the end");
    for (name, path) in [
        ("authorization_endpoint", "/oauth/authorize"),
        ("token_endpoint", "/oauth/token"),
        ("registration_endpoint", "/oauth/register"),
        ("revocation_endpoint", "/oauth/revoke"),
        ("service_documentation", "/auth.md"),
    ] {
        assert_eq!(document[name], json!(format!("{base}{path}")));
    }
    assert_eq!(document["scopes_supported"], json!(["sites:read", "sites:write"]));
    assert_eq!(document["response_types_supported"], json!(["code"]));
    assert_eq!(document["code_challenge_methods_supported"], json!(["S256"]));
    assert_eq!(document["authorization_response_iss_parameter_supported"], json!(true));
    let methods = json!(["none", "client_secret_basic", "client_secret_post"]);
    assert_eq!(document["token_endpoint_auth_methods_supported"], methods);
    assert_eq!(document["revocation_endpoint_auth_methods_supported"], methods);
    let grants = document["grant_types_supported"].as_array().unwrap();
    assert!(grants.contains(&json!("authorization_code")) && grants.contains(&json!("refresh_token")));
    for never in ["jwks_uri", "userinfo_endpoint", "introspection_endpoint"] {
        assert!(document.get(never).is_none(), "{never}");
    }
    node.get("/.well-known/openid-configuration").send().await.expect(404);
}

#[tokio::test]
async fn agent_auth_lists_only_what_works() {
    let node = Node::start().await;
    let base = node.base_url();
    let block = node.get("/.well-known/oauth-authorization-server").send().await.json()["agent_auth"].clone();
    assert_eq!(block["skill"], json!(format!("{base}/auth.md")));
    assert_eq!(block["identity_types_supported"], json!([]));
    for absent in ["identity_endpoint", "claim_endpoint", "register_uri", "events_endpoint"] {
        assert!(block.get(absent).is_none(), "{absent} does not exist");
    }
    let anonymous = &block["anonymous_publishing"];
    assert_eq!(anonymous["endpoint"], json!(format!("{base}/sites")));
    let page = node.publish_anonymously().await;
    assert_eq!(
        page["expires_at"].as_i64().unwrap() - page["created_at"].as_i64().unwrap(),
        anonymous["lifetime_seconds"].as_i64().unwrap()
    );
    let path = |member: &str, name: &str| {
        let address = block[member][name].as_str().unwrap().to_owned();
        address.strip_prefix(&base).expect("an address of ours").to_owned()
    };
    let login =
        node.post(&path("device_login", "code_endpoint")).json(&json!({})).send().await.expect(200).json();
    let person = node.newcomer("ada@example.org").await;
    let allow = [("user_code", login["user_code"].as_str().unwrap()), ("answer", "allow")];
    person.submit("/device", &allow).await;
    let asked = json!({"device_code": login["device_code"]});
    let given =
        node.post(&path("device_login", "token_endpoint")).json(&asked).send().await.expect(200).json();
    let key = given["access_token"].as_str().unwrap();
    let header = block["api_key"]["header"].as_str().unwrap().replace("stk_live_…", key);
    let (name, value) = header.split_once(": ").unwrap();
    let keys = node.get(&path("api_key", "management_endpoint")).header(name, value).send().await.expect(200);
    assert_eq!(keys.json()["keys"][0]["id"], given["key_id"]);
}

#[tokio::test]
async fn resource_documents_name_the_resource_they_were_asked_for() {
    let node = Node::start().await;
    let base = node.base_url();
    for (path, resource) in [("", base.clone()), ("/mcp", format!("{base}/mcp"))] {
        let answer =
            node.get(&format!("/.well-known/oauth-protected-resource{path}")).send().await.expect(200);
        assert_eq!(answer.header("access-control-allow-origin"), "*");
        assert_eq!(answer.header("cache-control"), "public, max-age=300");
        assert_eq!(
            answer.json(),
            json!({
                "resource": resource, "resource_name": "dropleaf", "authorization_servers": [base],
                "scopes_supported": ["sites:read", "sites:write"], "bearer_methods_supported": ["header"],
                "resource_documentation": format!("{base}/auth.md"),
            })
        );
    }
}

#[tokio::test]
async fn documents_come_from_the_settings_and_never_from_the_request() {
    let node = Setup::new().set("base_url", "https://drop.example.org").start().await;
    let ask = node.get("/.well-known/oauth-authorization-server").host("drop.example.org:443");
    let ask = ask.header("x-forwarded-host", "evil.example").header("forwarded", "host=evil.example");
    let answer = ask.send().await.expect(200);
    assert_eq!(answer.json()["issuer"], "https://drop.example.org");
    assert!(!answer.text().contains("evil"));
    let asked = node.get("/me").host("drop.example.org").send().await.expect(401);
    assert_eq!(
        asked.header("www-authenticate"),
        "Bearer resource_metadata=\"https://drop.example.org/.well-known/oauth-protected-resource\", \
         scope=\"sites:read sites:write\""
    );
}

#[tokio::test]
async fn browsers_may_ask_with_the_headers_of_mcp_and_read_the_challenge() {
    let node = Node::start().await;
    let path = "/.well-known/oauth-protected-resource/mcp";
    let preflight = node.ask(reqwest::Method::OPTIONS, path).header("origin", "https://app.example");
    let preflight = preflight.header("access-control-request-headers", "mcp-protocol-version").send().await;
    assert_eq!(preflight.status, 204);
    assert!(preflight.header("access-control-allow-headers").contains("MCP-Protocol-Version"));
    let answer = node.get("/me").header("origin", "https://app.example").send().await.expect(401);
    for name in ["WWW-Authenticate", "Mcp-Session-Id"] {
        assert!(answer.header("access-control-expose-headers").contains(name), "{name}");
    }
}
