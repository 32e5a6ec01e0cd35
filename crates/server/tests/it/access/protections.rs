//! Protections never fail open: an empty or misspelled one is 400 wherever a page is created or changed, and nothing is
//! stored or changed.

use crate::harness::{Answer, Ask, Form, Node, Purse, page, site_path};
use dropleaf_core::payment::Item;
use serde_json::{Value, json};

/// The protections that take a string, under all their names.
const STRINGS: [&str; 6] =
    ["password", "email_gate_domain", "allowed_email_domain", "expires_in_hours", "slug", "public_slug"];
/// Unknown fields that look like one.
const LOOKALIKES: [&str; 16] = [
    "passcode",
    "passwd",
    "pass",
    "pwd",
    "pin",
    "Password",
    "pass-word",
    "paswsord",
    "expires",
    "expiry",
    "ttl",
    "burn",
    "burnAfterRead",
    "private",
    "encrypted",
    "allowed_domain",
];

#[track_caller]
fn is_refused(answer: &Answer, sent: &str) {
    assert_eq!(answer.status, 400, "{sent}: {}", answer.text());
    let code = answer.json()["error"].clone();
    assert!(code == "invalid_field" || code == "invalid_slug", "{sent}: {code}");
}

fn object(base: Value, name: &str, value: Value) -> Value {
    let mut object = base;
    object[name] = value;
    object
}

async fn counts(node: &Node) -> [i64; 3] {
    [
        node.count("SELECT COUNT(*) FROM sites").await,
        node.count("SELECT COUNT(*) FROM site_versions").await,
        node.count("SELECT COUNT(*) FROM share_tokens").await,
    ]
}

/// A page with every gate, which must not change.
async fn protected(node: &Node) -> Value {
    let form = Form::file("a.html", page("Guarded"))
        .field("password", "correct horse")
        .field("email_gate_domain", "example.com")
        .field("expires_in_hours", "24");
    let site = node.publish(form).await;
    node.read_site(&site).await
}

#[tokio::test]
async fn empty_protections_are_400_at_every_entrance_of_the_api() {
    let node = Node::start().await;
    let site = protected(&node).await;
    let before = counts(&node).await;
    let (put, check) = (site_path(&site), "/check");
    for name in STRINGS {
        for value in ["", " "] {
            let form = || Form::file("a.html", page("New")).field(name, value);
            let asks: [(&str, Ask); 4] = [
                ("POST /sites anonymous", node.post("/sites").form(form())),
                ("POST /sites", node.post("/sites").key(&node.key).form(form())),
                ("PUT /sites", node.put(&put).key(&node.key).form(form())),
                ("POST /check", node.post(check).form(form())),
            ];
            for (entrance, ask) in asks {
                is_refused(&ask.send().await, &format!("{entrance} {name}={value:?}"));
            }
            let body = object(json!({"html": page("New")}), name, json!(value));
            is_refused(&node.post(check).json(&body).send().await, &format!("check JSON {name}"));
            is_refused(
                &node.patch_site(&site, json!({name: value})).await,
                &format!("PATCH {name}={value:?}"),
            );
        }
    }
    is_refused(&node.patch_site(&site, json!({"expires_at": ""})).await, "PATCH expires_at");
    for name in ["expires_in", "expires_in_hours", "max_uses"] {
        let path = format!("{}/share-tokens", site_path(&site));
        is_refused(&node.post(&path).key(&node.key).json(&json!({name: ""})).send().await, name);
    }
    assert_eq!(counts(&node).await, before);
    assert_eq!(node.read_site(&site).await, site);
}

#[tokio::test]
async fn fields_that_look_like_a_protection_are_400_at_every_entrance_of_the_api() {
    let node = Node::start().await;
    let site = protected(&node).await;
    let unowned = node.publish_anonymously().await;
    let claim = unowned["claim_token"].as_str().unwrap();
    let before = counts(&node).await;
    let terms = node.app().listing(Item::Publish).unwrap().terms.clone();
    let purse = Purse::new();
    let proof = purse.header(&terms, 1, node.app().now());
    for name in LOOKALIKES {
        let form = || Form::file("a.html", page("New")).field(name, "x");
        let html = object(json!({"html": page("New")}), name, json!("x"));
        let path = site_path(&site);
        let claim_body = object(json!({"claim_token": claim}), name, json!("x"));
        let asks: [(&str, Ask); 11] = [
            ("POST /sites anonymous", node.post("/sites").form(form())),
            ("POST /sites", node.post("/sites").key(&node.key).form(form())),
            ("PUT form", node.put(&path).key(&node.key).form(form())),
            ("PUT JSON", node.put(&path).key(&node.key).json(&html)),
            ("PUT claim", node.put(&site_path(&unowned)).claim(claim).json(&html)),
            ("PATCH", node.patch(&path).key(&node.key).json(&json!({name: "x"}))),
            ("check form", node.post("/check").form(form())),
            ("check JSON", node.post("/check").json(&html)),
            ("publish", node.post("/publish").json(&html)),
            (
                "publish, paid",
                node.post("/publish").header(purse.generation.proof_header(), &proof).json(&html),
            ),
            ("claim", node.post(&format!("{}/claim", site_path(&unowned))).key(&node.key).json(&claim_body)),
        ];
        for (entrance, ask) in asks {
            is_refused(&ask.send().await, &format!("{entrance} {name}"));
        }
        let share = node.post(&format!("{path}/share-tokens")).key(&node.key).json(&json!({name: "x"}));
        is_refused(&share.send().await, &format!("share {name}"));
    }
    // A protection that a request does not accept is not ignored either.
    let html = json!({"html": page("New"), "password": "pw"});
    is_refused(&node.put(&site_path(&site)).key(&node.key).json(&html).send().await, "PUT password");
    is_refused(&node.post("/publish").json(&html).send().await, "publish password");
    is_refused(&node.patch_site(&site, json!({"burn_after_read": true})).await, "PATCH burn_after_read");
    let said = node.post("/sites").form(Form::file("a.html", page("A")).field("passcode", "x")).send().await;
    assert!(said.json()["error_description"].as_str().unwrap().contains("did you mean `password`?"));
    assert_eq!(counts(&node).await, before);
    assert_eq!(node.count("SELECT COUNT(*) FROM payments").await, 0, "nothing was charged");
    assert_eq!(node.read_site(&site).await, site);
    // Null clears, and a harmless unknown field is a warning.
    let cleared = json!({"password": null, "email_gate_domain": null, "expires_at": null, "colour": "red"});
    let answer = node.patch_site(&site, cleared).await.expect(200).json();
    assert_eq!(answer["warnings"].as_array().unwrap().len(), 1);
    let now = node.read_site(&site).await;
    assert_eq!((&now["password_protected"], &now["email_gate"]), (&json!(false), &Value::Null));
}

#[tokio::test]
async fn protections_in_the_query_of_a_write_are_400() {
    let node = Node::start().await;
    let site = protected(&node).await;
    let before = counts(&node).await;
    for name in ["password", "passcode", "expires_in_hours", "burn_after_read", "email%5Fgate%5Fdomain"] {
        let form = || Form::file("a.html", page("New"));
        let with = |path: &str| format!("{path}?purge=no&{name}=x");
        let (path, html) = (site_path(&site), json!({"html": page("New")}));
        let asks = [
            node.post(&with("/sites")).form(form()),
            node.post(&with("/sites")).key(&node.key).form(form()),
            node.put(&with(&path)).key(&node.key).form(form()),
            node.patch(&with(&path)).key(&node.key).json(&json!({"title": "New"})),
            node.post(&with("/publish")).json(&html),
            node.post(&with(&format!("{path}/share-tokens"))).key(&node.key).json(&json!({})),
        ];
        for ask in asks {
            is_refused(&ask.send().await, name);
        }
    }
    assert_eq!(counts(&node).await, before);
    assert_eq!(node.read_site(&site).await, site);
    node.patch(&format!("{}?from=mail", site_path(&site)))
        .key(&node.key)
        .json(&json!({"title": "B"}))
        .send()
        .await
        .expect(200);
}

#[tokio::test]
async fn tools_and_upload_addresses_refuse_them_too() {
    let node = Node::start().await;
    let site = protected(&node).await;
    let mcp = node.mcp_modern(&node.key);
    let id = &site["id"];
    let made = mcp.give("create_upload", json!({})).await;
    let before = counts(&node).await;
    for name in STRINGS {
        for (tool, base) in [("publish_html", json!({"html": page("New")})), ("create_upload", json!({}))] {
            mcp.refused(tool, object(base, name, json!("")), "invalid_field").await;
        }
    }
    for (tool, name) in [
        ("set_password", "password"),
        ("set_email_gate", "email_gate_domain"),
        ("set_expiry", "expires_in_hours"),
    ] {
        mcp.refused(tool, json!({"site": id, name: ""}), "invalid_field").await;
    }
    let bases = [
        ("publish_html", json!({"html": page("New")})),
        ("update_site", json!({"site": id, "html": page("New")})),
        ("edit_site", json!({"site": id, "edits": [{"find": "<title>", "replace": "<title>New "}]})),
        ("create_upload", json!({})),
        ("create_upload", json!({"site": id})),
        ("set_visibility", json!({"site": id, "visibility": "unlisted"})),
        ("set_agentation", json!({"site": id, "agentation": true})),
        ("set_live", json!({"site": id, "live": true})),
        ("rollback_site", json!({"site": id, "version": 1})),
        ("create_share_link", json!({"site": id})),
    ];
    for (tool, base) in bases {
        for name in LOOKALIKES {
            mcp.refused(tool, object(base.clone(), name, json!("x")), "invalid_field").await;
        }
    }
    let url = made["upload_url"].as_str().unwrap().trim_end_matches('/').to_owned();
    for name in STRINGS.into_iter().chain(LOOKALIKES) {
        let form = Form::file("a.html", page("New")).field(name, "x");
        is_refused(&node.post(&url).form(form).send().await, &format!("upload address {name}"));
    }
    assert_eq!(counts(&node).await, before);
    assert_eq!(node.read_site(&site).await, site);
}

#[tokio::test]
async fn forms_of_the_dashboard_remove_a_gate_only_by_its_own_button() {
    let node = Node::start().await;
    let site = protected(&node).await;
    let tab = node.operator().await;
    let at = |form: &str| format!("/dashboard/pages/{}{form}", site["id"].as_str().unwrap());
    let seen = site["updated_at"].to_string();
    let seen = ("updated_at", seen.as_str());
    for (form, fields) in [
        ("/email-gate", vec![("domain", "")]),
        ("/email-gate", vec![]),
        ("/email-gate", vec![("act", "clear"), ("domain", "other.example"), ("domain_shown", "example.com")]),
        ("/password", vec![("password", ""), ("act", "set")]),
        ("/password", vec![("password", " "), ("act", "set")]),
        ("/expiry", vec![("expires", "")]),
        ("/expiry", vec![]),
        ("/share-links", vec![("expires_in_hours", "")]),
    ] {
        let fields = [fields.as_slice(), &[seen]].concat();
        assert_eq!(tab.submit(&at(form), &fields).await.status, 400, "{form} {fields:?}");
    }
    assert_eq!(node.read_site(&site).await, site);
    assert_eq!(node.count("SELECT COUNT(*) FROM share_tokens").await, 0);
    let send = async |form: Form| {
        tab.bare("/dashboard/upload").header("origin", &node.base_url()).form(form).send().await.status
    };
    let form = || Form::new().field("form_token", &tab.token());
    // A browser sends an empty string for a blank field; spaces were typed.
    let bad = form().field("password", "  ").and_file("a.html", page("New"));
    assert_eq!(send(bad).await, 400);
    let bad = form().field("passcode", "x").and_file("a.html", page("New"));
    assert_eq!(send(bad).await, 400);
    let left_alone = form()
        .field("visibility", "unlisted")
        .field("slug", "")
        .field("password", "")
        .field("expires_in_hours", "")
        .and_file("a.html", page("New"));
    assert_eq!(send(left_alone).await, 303);
    let shown = tab.get(&at("")).await.expect(200).text();
    assert!(shown.contains("Remove the email gate?"), "{shown}");
    let clear = [("act", "clear"), ("domain", "example.com"), ("domain_shown", "example.com"), seen];
    assert_eq!(tab.submit(&at("/email-gate"), &clear).await.status, 303);
    assert_eq!(node.read_site(&site).await["email_gate"], Value::Null);
}
