//! `PUT /sites/{idOrSlug}`: new content at the same address. Spec §3, §4, §5.

use crate::harness::{DAY, Form, NOW, Node, Setup, noise, on_each_database, page, pdf, site_path, zip};
use serde_json::json;
use std::fmt::Write;

#[tokio::test]
async fn replaced_content_is_served_at_the_same_url_at_once() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish_page("First").await;
        let url = site["url"].as_str().unwrap();
        assert_eq!(node.get(url).send().await.text(), page("First"));
        let put = node.put(&site_path(&site)).key(&node.key).json(&json!({"html": page("Second")}));
        let after = put.send().await.expect(200).json();
        assert_eq!(after["url"], site["url"]);
        assert_eq!(after["version"], 2);
        assert_eq!(after["title"], "Second");
        assert_eq!(after["created_at"], site["created_at"]);
        assert_eq!(node.get(url).send().await.text(), page("Second"));
    })
    .await;
}

#[tokio::test]
async fn multipart_carries_every_kind_and_changes_sent_settings() {
    let node = Node::start().await;
    let site = node.publish_page("First").await;
    let url = site["url"].as_str().unwrap();
    let archive = zip(&[("index.html", &page("Zipped")), ("a.txt", "hello")]);
    for (name, bytes) in [("a.zip", archive), ("a.pdf", pdf()), ("a.md", b"# Hello".to_vec())] {
        let put = node.put(&site_path(&site)).key(&node.key).form(Form::file(name, bytes));
        put.send().await.expect(200);
        node.get(url).send().await.expect(200);
    }
    let form = Form::file("a.html", page("Named")).field("slug", "named").field("expires_in_hours", "2");
    let after = node.put(&site_path(&site)).key(&node.key).form(form).send().await.expect(200).json();
    assert_eq!(after["visibility"], "public");
    assert_eq!(after["slug"], "named");
    assert_eq!(after["expires_at"], NOW + 7200);
    let form = Form::file("payload", noise("payload", 64)).field("e2e", "true");
    let after = node.put("/sites/named").key(&node.key).form(form).send().await.expect(200).json();
    assert_eq!(after["e2e"], true);
    assert_eq!(after["slug"], "named", "what is not sent stays");
    assert_eq!(node.get(url).send().await.expect(200).body, noise("payload", 64));
}

#[tokio::test]
async fn updated_at_rises_strictly_under_a_still_clock() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish_page("First").await;
        let mut last = site["updated_at"].as_i64().unwrap();
        for round in 0..5 {
            let put = node.put(&site_path(&site)).key(&node.key).json(&json!({"html": page("Again")}));
            let replaced = put.send().await.expect(200).json()["updated_at"].as_i64().unwrap();
            assert!(replaced > last, "round {round}");
            let patched = node.patch_site(&site, json!({"title": "T"})).await.expect(200).json();
            last = patched["updated_at"].as_i64().unwrap();
            assert!(last > replaced, "round {round}");
        }
        assert_eq!(node.read_site(&site).await["updated_at"], last);
    })
    .await;
}

#[tokio::test]
async fn stale_expected_updated_at_is_409_with_the_current_value() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish_page("First").await;
        let seen = site["updated_at"].as_i64().unwrap();
        let body = json!({"html": page("Mine"), "expected_updated_at": seen});
        let first = node.put(&site_path(&site)).key(&node.key).json(&body).send().await.expect(200).json();
        let second = node.put(&site_path(&site)).key(&node.key).json(&body).send().await;
        let second = second.refused(409, "conflict");
        assert_eq!(second.json()["updated_at"], first["updated_at"]);
        let form = Form::file("a.html", page("Form")).field("expected_updated_at", &seen.to_string());
        node.put(&site_path(&site)).key(&node.key).form(form).send().await.refused(409, "conflict");
        assert_eq!(node.read_site(&site).await["version"], 2);
    })
    .await;
}

#[tokio::test]
async fn of_concurrent_replacements_with_one_expectation_exactly_one_wins() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish_page("First").await;
        let puts = (0..10).map(|n| {
            let body = json!({"html": page(&format!("N{n}")), "expected_updated_at": site["updated_at"]});
            node.put(&site_path(&site)).key(&node.key).json(&body).send()
        });
        let answers = futures_util::future::join_all(puts).await;
        assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
        assert_eq!(answers.iter().filter(|answer| answer.status == 409).count(), 9);
    })
    .await;
}

#[tokio::test]
async fn bad_json_bodies_are_400() {
    let node = Node::start().await;
    let site = node.publish_page("First").await;
    for (body, code) in [
        (json!({}), "invalid_field"),
        (json!({"html": 1}), "invalid_field"),
        (json!({"html": null}), "invalid_field"),
        (json!({"html": ""}), "empty_file"),
        (json!({"html": "<p>", "expected_updated_at": "now"}), "invalid_field"),
        (json!(["html"]), "invalid_request"),
    ] {
        let put = node.put(&site_path(&site)).key(&node.key).json(&body);
        put.send().await.refused(400, code);
    }
    let broken = node.put(&site_path(&site)).key(&node.key).body("application/json", "{\"html\":");
    broken.send().await.refused(400, "invalid_request");
    assert_eq!(node.read_site(&site).await["version"], 1);
}

#[tokio::test]
async fn unknown_json_field_is_a_warning() {
    let node = Node::start().await;
    let site = node.publish_page("First").await;
    let body = json!({"html": page("Second"), "colour": "red"});
    let after = node.put(&site_path(&site)).key(&node.key).json(&body).send().await.expect(200).json();
    assert!(after["warnings"][0].as_str().unwrap().contains("`colour`"));
}

#[tokio::test]
async fn page_of_another_account_or_no_page_is_404() {
    let node = Node::start().await;
    let site = node.publish_page("Mine").await;
    let stranger = node.account("solo").await;
    let body = json!({"html": page("Taken over")});
    let token = site["unlisted_token"].as_str().unwrap();
    for path in [site_path(&site), format!("/sites/{token}"), "/sites/no-such-page".to_owned()] {
        node.put(&path).key(&stranger).json(&body).send().await.refused(404, "not_found");
    }
    node.put(&site_path(&site)).json(&body).send().await.refused(401, "auth required");
}

#[tokio::test]
async fn claim_token_replaces_the_content_and_nothing_else() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish_anonymously().await;
        let token = site["claim_token"].as_str().unwrap();
        let put = node.put(&site_path(&site)).claim(token).json(&json!({"html": page("Revised")}));
        let after = put.send().await.expect(200).json();
        assert_eq!(after["version"], 2);
        assert_eq!(after["expires_at"], site["expires_at"]);
        assert!(after.get("claim_token").is_none(), "the token is shown once");
        assert_eq!(node.get(site["url"].as_str().unwrap()).send().await.text(), page("Revised"));
        for (name, value) in [("slug", "sneaky"), ("expires_in_hours", "never"), ("password", "x")] {
            let form = Form::file("a.html", page("More")).field(name, value);
            node.put(&site_path(&site)).claim(token).form(form).send().await.refused(403, "forbidden");
        }
    })
    .await;
}

#[tokio::test]
async fn wrong_claim_token_is_403() {
    let node = Node::start().await;
    let site = node.publish_anonymously().await;
    let other = node.publish_anonymously().await;
    let owned = node.publish_page("Owned").await;
    let body = json!({"html": page("Hijacked")});
    let other_token = other["claim_token"].as_str().unwrap();
    for token in [other_token, "clm_000000000000000000000000000000000000", "nonsense"] {
        let put = node.put(&site_path(&site)).claim(token).json(&body);
        put.send().await.refused(403, "invalid_claim_token");
    }
    let put = node.put(&site_path(&owned)).claim(other_token).json(&body);
    put.send().await.refused(403, "invalid_claim_token");
}

#[tokio::test]
async fn claim_token_stops_working_once_the_page_is_claimed() {
    let node = Node::start().await;
    let site = node.publish_anonymously().await;
    let token = site["claim_token"].as_str().unwrap();
    let claim = node.post(&format!("{}/claim", site_path(&site))).key(&node.key);
    claim.json(&json!({"claim_token": token})).send().await.expect(200);
    let put = node.put(&site_path(&site)).claim(token).json(&json!({"html": page("Late")}));
    put.send().await.refused(403, "invalid_claim_token");
    let put = node.put(&site_path(&site)).key(&node.key).json(&json!({"html": page("Owner")}));
    put.send().await.expect(200);
}

#[tokio::test]
async fn claim_credential_works_on_put_alone() {
    let node = Node::start().await;
    let site = node.publish_anonymously().await;
    let token = site["claim_token"].as_str().unwrap();
    let path = site_path(&site);
    for ask in [node.get(&path), node.delete(&path), node.patch(&path), node.get("/sites"), node.get("/me")] {
        ask.claim(token).send().await.refused(401, "invalid_credential");
    }
}

#[tokio::test]
async fn expired_page_cannot_be_replaced() {
    let node = Node::start().await;
    let site = node.publish_anonymously().await;
    node.clock.advance(DAY);
    let token = site["claim_token"].as_str().unwrap();
    let put = node.put(&site_path(&site)).claim(token).json(&json!({"html": page("Late")}));
    put.send().await.refused(410, "expired");
}

#[tokio::test]
async fn content_types_are_read_without_regard_to_case_and_with_parameters() {
    let node = Node::start().await;
    let site = node.publish_page("First").await;
    for (at, kind) in ["Application/JSON", "application/json;charset=UTF-8", "APPLICATION/JSON ; x=\"a;b\""]
        .iter()
        .enumerate()
    {
        let title = format!("Version {at}");
        let body = json!({"html": page(&title)}).to_string();
        let put = node.put(&site_path(&site)).key(&node.key).body(kind, body);
        assert_eq!(put.send().await.expect(200).json()["title"], title, "{kind}");
    }
    let (kind, body) = Form::file("a.html", page("Form")).encode();
    let kind = kind.replacen("multipart/form-data; boundary", "Multipart/Form-Data;Boundary", 1);
    assert!(kind.starts_with("Multipart"), "{kind}");
    let after = node.put(&site_path(&site)).key(&node.key).body(&kind, body).send().await.expect(200).json();
    assert_eq!(after["title"], "Form");
}

#[tokio::test]
async fn body_of_another_type_is_400_and_names_both_shapes() {
    let node = Node::start().await;
    let site = node.publish_page("First").await;
    let put = || node.put(&site_path(&site)).key(&node.key);
    for ask in [
        put().body("text/html", page("Bare")),
        put().body("application/jsonp", json!({"html": "<p>"}).to_string()),
        put().body("application/json, text/html", json!({"html": "<p>"}).to_string()),
        put(),
    ] {
        let refused = ask.send().await.refused(400, "not_multipart");
        let said = refused.json()["error_description"].as_str().unwrap().to_owned();
        assert!(said.contains("multipart/form-data with a `file`"), "{said}");
        assert!(said.contains("{\"html\": \"…\"} with Content-Type: application/json"), "{said}");
    }
    assert_eq!(node.read_site(&site).await["version"], 1);
}

#[tokio::test]
async fn limit_is_on_the_html_and_not_on_how_it_is_escaped() {
    let node = Setup::new().set("limits.upload_bytes", "100000").start().await;
    let site = node.publish_page("First").await;
    let put = async |html: &str| {
        let mut escaped = String::new();
        for unit in html.encode_utf16() {
            write!(escaped, "\\u{unit:04x}").unwrap();
        }
        let body = format!("{{\"html\": \"{escaped}\"}}");
        node.put(&site_path(&site)).key(&node.key).body("application/json", body).send().await
    };
    let fits = format!("<!doctype html>{}", "x".repeat(100_000 - 15));
    assert_eq!(put(&fits).await.expect(200).json()["byte_size"], 100_000);
    put(&format!("{fits}x")).await.refused(413, "too_large");
    let check = async |html: &str| node.post("/check").json(&json!({"html": html})).send().await;
    check(&"\u{1}".repeat(30_000)).await.expect(200);
    let many = json!({"html": "<p>", "more": vec![0; 200_000]});
    node.put(&site_path(&site)).key(&node.key).json(&many).send().await.refused(413, "too_large");
}
