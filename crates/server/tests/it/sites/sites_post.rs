//! `POST /sites`: publishing with an account and without. Spec §2 `SiteUpload`, §3, §4.

use crate::harness::{Form, HOUR, NOW, Node, Setup, noise, on_each_database, page, pdf, zip};
use serde_json::{Value, json};

#[tokio::test]
async fn published_page_is_unlisted_and_its_link_opens() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish_page("Weekly report").await;
        assert_eq!(site["visibility"], "unlisted");
        assert_eq!(site["slug"], Value::Null);
        assert_eq!(site["title"], "Weekly report");
        assert_eq!(site["version"], 1);
        assert_eq!(site["created_at"], NOW);
        assert_eq!(site["updated_at"], NOW);
        assert_eq!(site["expires_at"], Value::Null);
        assert_eq!(site["expires_at_iso"], Value::Null);
        assert_eq!(site["byte_size"], page("Weekly report").len());
        assert_eq!(site["email_gate"], Value::Null);
        assert_eq!(site["warnings"], json!([]));
        for flag in ["agentation", "csp_strict", "e2e", "password_protected"] {
            assert_eq!(site[flag], false, "{flag}");
        }
        assert_eq!((&site["view_count"], &site["last_viewed_at"]), (&json!(0), &Value::Null));
        assert!(site.get("claim_token").is_none() && site.get("next").is_none());

        let token = site["unlisted_token"].as_str().unwrap();
        assert_eq!(token.len(), 22);
        assert_eq!(site["url"], format!("{}/p/{token}/", node.base_url()));
        let view = node.get(site["url"].as_str().unwrap()).send().await.expect(200);
        assert_eq!(view.text(), page("Weekly report"));
    })
    .await;
}

#[tokio::test]
async fn slug_makes_the_page_public_under_its_own_host() {
    on_each_database(Setup::new, async |node| {
        let form = Form::file("page.html", page("Public")).field("slug", "Weekly-Report");
        let site = node.publish(form).await;
        assert_eq!(site["visibility"], "public");
        assert_eq!(site["slug"], "weekly-report");
        assert_eq!(site["url"], format!("http://weekly-report.localhost:{}/", node.port));
        node.get(site["url"].as_str().unwrap()).send().await.expect(200);
        let token = site["unlisted_token"].as_str().unwrap();
        node.get(&format!("/p/{token}/")).send().await.expect(200);
    })
    .await;
}

#[tokio::test]
async fn anonymous_page_lives_24_hours_and_carries_its_claim_token() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish_anonymously().await;
        assert_eq!(site["visibility"], "unlisted");
        assert_eq!(site["expires_at"], NOW + 24 * HOUR);
        assert_eq!(site["expires_at_iso"], "2023-11-15T00:00:00Z");
        let token = site["claim_token"].as_str().unwrap();
        assert!(token.starts_with("clm_") && token.len() == 40, "{token}");
        let id = site["id"].as_str().unwrap();
        assert_eq!(site["claim_url"], format!("{}/claim/{id}#{token}", node.base_url()));
        let next = &site["next"]["update_in_place"];
        assert_eq!(next["method"], "PUT");
        assert_eq!(next["url"], format!("{}/sites/{id}", node.base_url()));
        assert_eq!(next["credentials"][0]["scheme"], "Claim");
        node.get(site["url"].as_str().unwrap()).send().await.expect(200);
    })
    .await;
}

#[tokio::test]
async fn anonymous_lifetime_is_capped_with_a_warning_and_never_refused() {
    let node = Node::start().await;
    for (asked, hours, warned) in [("1", 1, false), ("24", 24, false), ("100", 24, true), ("never", 24, true)]
    {
        let form = Form::file("page.html", page("Short")).field("expires_in_hours", asked);
        let site = node.post("/sites").form(form).send().await.expect(201).json();
        assert_eq!(site["expires_at"], NOW + hours * HOUR, "{asked}");
        assert_eq!(site["warnings"].as_array().unwrap().len(), usize::from(warned), "{asked}");
    }
}

#[tokio::test]
async fn anonymous_slug_is_401() {
    let node = Node::start().await;
    let form = Form::file("page.html", page("Public")).field("slug", "mine-please");
    node.post("/sites").form(form).send().await.refused(401, "auth required");
}

#[tokio::test]
async fn options_are_stored_and_shown() {
    let node = Node::start().await;
    let form = Form::file("page.html", page("Options"))
        .field("password", "open sesame")
        .field("expires_in_hours", "1.5")
        .field("csp_strict", "true")
        .field("agentation", "1")
        .field("title", " My  own\ttitle ")
        .field("allowed_email_domain", "@Example.ORG");
    let site = node.publish(form).await;
    assert_eq!(site["expires_at"], NOW + 5400);
    assert_eq!(site["password_protected"], true);
    assert_eq!(site["csp_strict"], true);
    assert_eq!(site["agentation"], true);
    assert_eq!(site["title"], "My own title");
    assert_eq!(site["email_gate"], json!({"domain": "example.org", "required": true}));
    let stored =
        node.rows("SELECT password_hash FROM sites", vec![], |row| Ok(row.text(0)?.to_owned())).await;
    assert!(stored[0].starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{stored:?}");
}

#[tokio::test]
async fn burn_after_read_is_stored_and_not_combined_with_a_slug() {
    let node = Node::start().await;
    let form = Form::file("page.html", page("Once")).field("burn_after_read", "true");
    assert_eq!(node.publish(form.clone()).await["visibility"], "burn");
    let both = form.field("slug", "burning");
    node.post("/sites").key(&node.key).form(both).send().await.refused(400, "invalid_field");
}

#[tokio::test]
async fn visibility_is_taken_from_the_form_too() {
    let node = Node::start().await;
    let form = || Form::file("page.html", page("Shown"));
    assert_eq!(node.publish(form().field("visibility", "burn")).await["visibility"], "burn");
    let bare = node.post("/sites").key(&node.key).form(form().field("visibility", "public"));
    bare.send().await.refused(400, "slug_required");
    let named = node.publish(form().field("visibility", "public").field("slug", "shown-here")).await;
    assert_eq!(named["visibility"], "public");
}

#[tokio::test]
async fn public_slug_is_an_alias_of_slug() {
    let node = Node::start().await;
    let site = node.publish(Form::file("page.html", page("A")).field("public_slug", "alias-here")).await;
    assert_eq!(site["slug"], "alias-here");
}

#[tokio::test]
async fn unknown_field_is_ignored_with_a_warning() {
    let node = Node::start().await;
    let site = node.publish(Form::file("page.html", page("A")).field("colour", "red")).await;
    assert!(site["warnings"][0].as_str().unwrap().contains("`colour`"), "{site}");
}

#[tokio::test]
async fn bad_field_values_are_400_and_name_the_field() {
    let node = Node::start().await;
    for (name, value) in [
        ("expires_in_hours", "soon"),
        ("expires_in_hours", "-1"),
        ("expires_in_hours", "1e300"),
        ("burn_after_read", "maybe"),
        ("csp_strict", "2"),
        ("email_gate_domain", "not a domain"),
        ("title", "a\u{7}b"),
    ] {
        let form = Form::file("page.html", page("A")).field(name, value);
        let answer = node.post("/sites").key(&node.key).form(form).send().await.refused(400, "invalid_field");
        assert!(answer.json()["error_description"].as_str().unwrap().contains(name), "{}", answer.text());
    }
}

#[tokio::test]
async fn request_that_is_not_multipart_is_400() {
    let node = Node::start().await;
    let html = node.post("/sites").key(&node.key).body("text/html", "<p>hi");
    html.send().await.refused(400, "not_multipart");
    let json = node.post("/sites").key(&node.key).json(&json!({"html": "<p>hi"}));
    json.send().await.refused(400, "not_multipart");
    node.post("/sites").key(&node.key).send().await.refused(400, "not_multipart");
}

#[tokio::test]
async fn missing_file_is_400() {
    let node = Node::start().await;
    let form = Form::new().field("slug", "no-file-here");
    node.post("/sites").key(&node.key).form(form).send().await.refused(400, "missing_file");
}

#[tokio::test]
async fn two_files_are_400() {
    let node = Node::start().await;
    let form = Form::file("a.html", page("A")).and_file("b.html", page("B"));
    node.post("/sites").key(&node.key).form(form).send().await.refused(400, "invalid_field");
}

#[tokio::test]
async fn every_kind_of_file_is_taken_and_others_are_refused() {
    let node = Node::start().await;
    let index = zip(&[("index.html", &page("Zipped"))]);
    for (name, bytes) in [
        ("a.html", page("Plain").into_bytes()),
        ("a.HTM", page("Plain").into_bytes()),
        ("a.md", b"# Heading\n\ntext".to_vec()),
        ("a.zip", index),
        ("a.pdf", pdf()),
        ("a.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>".to_vec()),
        ("a.txt", b"text".to_vec()),
        ("a.csv", b"a,b\n1,2\n".to_vec()),
        ("a.ipynb", b"{\"cells\": []}".to_vec()),
        ("readme.zip", zip(&[("README.md", "# Heading")])),
        ("only.zip", zip(&[("about.html", "<p>no index")])),
    ] {
        let site = node.publish(Form::file(name, bytes)).await;
        node.get(site["url"].as_str().unwrap()).send().await.expect(200);
    }
    for (name, bytes, code) in [
        ("a.docx", b"hello".to_vec(), "unsupported_type"),
        ("a.docx", zip(&[("index.html", "<p>")]), "unsupported_type"),
        ("a.php", page("Sly").into_bytes(), "unsupported_type"),
        ("a.html", vec![], "empty_file"),
        ("a.html", noise("binary", 400), "not_text"),
        ("a.pdf", b"hello".to_vec(), "invalid_pdf"),
        ("a.zip", b"hello".to_vec(), "invalid_archive"),
        ("a.zip", zip(&[("about.html", "<p>no index"), ("b.html", "<p>")]), "missing_index"),
        ("a.zip", zip(&[("index.html", "<p>"), ("_dropleaf/x.js", "1")]), "forbidden_name"),
        ("a.zip", zip(&[("index.html", "<p>"), ("../x", "1")]), "forbidden_name"),
    ] {
        let answer = node.post("/sites").key(&node.key).form(Form::file(name, bytes)).send().await;
        answer.refused(400, code);
    }
    assert_eq!(node.count("SELECT COUNT(*) FROM sites").await, 11, "a refused file leaves no page");
}

#[tokio::test]
async fn oversized_upload_is_413_and_nothing_is_stored() {
    let node = Setup::new().set("limits.upload_bytes", "100000").start().await;
    let slightly = Form::file("a.html", vec![b'a'; 100_001]);
    node.post("/sites").key(&node.key).form(slightly).send().await.refused(413, "too_large");
    let hugely = Form::file("a.html", vec![b'a'; 3 << 20]);
    node.post("/sites").key(&node.key).form(hugely).send().await.refused(413, "too_large");
    assert_eq!(node.count("SELECT COUNT(*) FROM sites").await, 0);
    assert_eq!(node.count("SELECT COUNT(*) FROM blobs").await, 0);
    node.publish(Form::file("a.html", vec![b'a'; 100_000])).await;
}

#[tokio::test]
async fn archive_over_its_limits_is_413() {
    let node = Setup::new().set("limits.files", "3").set("limits.unpacked_bytes", "2000000").start().await;
    let many = zip(&[("index.html", "<p>"), ("a", ""), ("b", ""), ("c", "")]);
    let answer = node.post("/sites").key(&node.key).form(Form::file("a.zip", many)).send().await;
    answer.refused(413, "too_many_files");
    let text = "x".repeat(2_000_001);
    let large = zip(&[("index.html", "<p>"), ("a.txt", &text)]);
    let answer = node.post("/sites").key(&node.key).form(Form::file("a.zip", large)).send().await;
    answer.refused(413, "too_large");
}

#[tokio::test]
async fn invalid_bearer_is_401_even_here() {
    let node = Node::start().await;
    let last = if node.key.ends_with('x') { 'y' } else { 'x' };
    let mangled = format!("{}{last}", &node.key[..node.key.len() - 1]);
    let unknown = dropleaf_core::Minter::seeded(0).api_key();
    for key in [mangled.as_str(), unknown.as_str(), "", "stk_live_"] {
        let form = Form::file("page.html", page("A"));
        node.post("/sites").key(key).form(form).send().await.refused(401, "invalid_credential");
    }
    let basic = node.post("/sites").header("authorization", "Basic dTpw").form(Form::file("a.html", "<p>"));
    basic.send().await.refused(401, "invalid_credential");
    assert_eq!(node.count("SELECT COUNT(*) FROM sites").await, 0);
}

#[tokio::test]
async fn end_to_end_payload_is_kept_verbatim() {
    on_each_database(Setup::new, async |node| {
        let payload = noise("ciphertext", 3000);
        let form = Form::file("whatever.bin", &payload).field("e2e", "true");
        let site = node.publish(form).await;
        assert_eq!(site["e2e"], true);
        let view = node.get(site["url"].as_str().unwrap()).send().await.expect(200);
        assert_eq!(view.body, payload);
        assert_eq!(view.header("content-type"), "application/octet-stream");
        let short = Form::file("short.bin", noise("short", 28)).field("e2e", "true");
        let answer = node.post("/sites").key(&node.key).form(short).send().await;
        answer.refused(400, "invalid_ciphertext");
    })
    .await;
}

#[tokio::test]
async fn two_names_of_one_field_that_contradict_are_400() {
    let node = Node::start().await;
    let site = node.publish_page("Stays").await;
    for (first, second, values) in [
        ("slug", "public_slug", ["one-name", "another"]),
        ("email_gate_domain", "allowed_email_domain", ["one.example", "other.example"]),
    ] {
        let form = || {
            let form = Form::file("p.html", page("Twice"));
            form.field(first, values[0]).field(second, values[1])
        };
        let json = json!({"html": page("Twice"), first: values[0], second: values[1]});
        for ask in [
            node.post("/sites").key(&node.key).form(form()),
            node.put(&crate::harness::site_path(&site)).key(&node.key).form(form()),
            node.post("/check").form(form()),
            node.post("/check").json(&json),
        ] {
            let refused = ask.send().await.refused(400, "invalid_field");
            assert!(refused.text().contains(&format!("conflicts with `{first}`")), "{}", refused.text());
        }
    }
    let form =
        Form::file("p.html", page("Same")).field("slug", "same-name").field("public_slug", "Same-Name");
    assert_eq!(node.publish(form).await["slug"], "same-name");
}

#[tokio::test]
async fn type_of_a_form_may_have_blanks_and_needs_a_boundary() {
    let node = Node::start().await;
    let (kind, body) = Form::file("p.html", page("Blank")).encode();
    let boundary = kind.split_once("boundary=").unwrap().1.to_owned();
    for kind in [
        format!("multipart/form-data ; boundary={boundary}"),
        format!("Multipart/Form-Data;a=\";\" ; Boundary=\"{boundary}\""),
    ] {
        node.post("/sites").key(&node.key).body(&kind, body.clone()).send().await.expect(201);
    }
    for path in ["/sites", "/check"] {
        let refused = node.post(path).key(&node.key).body("multipart/form-data", body.clone()).send().await;
        let refused = refused.refused(400, "not_multipart");
        assert!(refused.text().contains("has no boundary"), "{}", refused.text());
    }
}
