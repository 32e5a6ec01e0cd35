//! `create_upload` and its addresses: `PUT /uploads/{ticket}/{filename}` and `POST /uploads/{ticket}`.

use crate::harness::oauth::let_in;
use crate::harness::{Answer, Form, Node, Setup, noise, on_each_database, page, site_path, zip};
use serde_json::{Value, json};

const LIFE: i64 = 15 * 60;

async fn address(node: &Node, arguments: Value) -> String {
    address_of(node, &node.key, arguments).await
}

async fn address_of(node: &Node, credential: &str, arguments: Value) -> String {
    let made = node.mcp_modern(credential).give("create_upload", arguments).await;
    made["upload_url"].as_str().unwrap().to_owned()
}

async fn put(node: &Node, address: &str, name: &str, bytes: impl Into<Vec<u8>>) -> Answer {
    node.put(&format!("{address}{name}")).body("application/octet-stream", bytes).send().await
}

#[tokio::test]
async fn file_becomes_a_page_with_the_chosen_options() {
    on_each_database(Setup::new, async |node| {
        let made = node.mcp_modern(&node.key);
        let options = json!({
            "file": "./out/it's here.zip", "slug": "sent", "password": "secret", "agentation": true, "title": "Sent",
            "expires_in_hours": 24,
        });
        let made = made.call("create_upload", options).await;
        let given = &made["structuredContent"];
        let url = given["upload_url"].as_str().unwrap();
        assert!(url.starts_with(&format!("{}/uploads/upl_", node.base_url())) && url.ends_with('/'));
        assert!(!url.contains("secret"), "what was chosen is sealed");
        assert_eq!(given["expires_at"], crate::harness::NOW + LIFE);
        // Shells quote an apostrophe differently.
        assert_eq!(given["command"], format!("curl -sS -g -T FILE \"{url}\""));
        let says = made["content"][1]["text"].as_str().unwrap();
        assert!(says.contains(given["command"].as_str().unwrap()) && says.contains("with the file name"), "{says}");
        assert_eq!(given["form"]["url"], url.trim_end_matches('/'));
        let archive = zip(&[("index.html", &page("Zipped")), ("a.css", "p {}")]);
        let site = put(node, url, "here.zip", archive).await.expect(201).json();
        assert_eq!((&site["slug"], &site["title"]), (&json!("sent"), &json!("Sent")));
        assert_eq!((&site["password_protected"], &site["agentation"]), (&json!(true), &json!(true)));
        assert!(site.get("claim_token").is_none());
        let listed = node.get("/sites").key(&node.key).send().await.json();
        assert_eq!(listed["sites"][0]["id"], site["id"]);
    })
    .await;
}

#[tokio::test]
async fn file_replaces_the_content_at_the_same_link() {
    on_each_database(Setup::new, async |node| {
        let site = node.publish_page("Old").await;
        let seen = json!({"site": site["id"], "expected_updated_at": site["updated_at"], "agentation": true});
        let url = address(node, seen.clone()).await;
        let late = address(node, seen).await;
        let changed = put(node, &url, "new.md", "# New\n").await.expect(200).json();
        assert_eq!((&changed["url"], &changed["version"]), (&site["url"], &json!(2)));
        assert_eq!((&changed["title"], &changed["agentation"]), (&json!("New"), &json!(true)));
        let again = put(node, &url, "new.md", "# New\n").await.expect(200).json();
        assert_eq!(again, changed, "though the page has changed since `expected_updated_at`");
        put(node, &late, "late.md", "# Late\n").await.refused(409, "conflict");
        node.delete(&site_path(&site)).key(&node.key).send().await.expect(200);
        let gone = json!({"site": site["id"]});
        node.mcp_modern(&node.key).refused("create_upload", gone, "not_found").await;
        put(node, &late, "late.md", "# Late\n").await.refused(404, "not_found");
    })
    .await;
}

#[tokio::test]
async fn form_carries_the_file_and_nothing_else() {
    let node = Node::start().await;
    let url = address(&node, json!({"title": "Chosen"})).await;
    let form = || Form::file("a.html", page("Form")).field("title", "Other").field("colour", "red");
    let target = url.trim_end_matches('/');
    let site = node.post(target).form(form()).send().await.expect(201);
    assert_eq!(site.json()["title"], "Chosen");
    assert_eq!(site.json()["visibility"], "unlisted");
    assert!(site.json()["warnings"][0].as_str().unwrap().contains("create_upload"), "{}", site.text());
    assert_eq!(node.post(target).form(form()).send().await.expect(201).body, site.body);
    let other = address(&node, json!({})).await;
    let empty = node.post(other.trim_end_matches('/')).form(Form::new().field("x", "y")).send().await;
    empty.refused(400, "missing_file");
    let plain = Form::file("b.html", page("Either way"));
    let first = node.post(other.trim_end_matches('/')).form(plain).send().await.expect(201);
    let again = put(&node, &other, "b.html", page("Either way")).await.expect(201);
    assert_eq!(first.body, again.body, "the same file, sent the other way");
}

#[tokio::test]
async fn same_bytes_get_the_same_answer_and_others_are_422() {
    on_each_database(Setup::new, async |node| {
        let url = address(node, json!({})).await;
        let tries = (0..8).map(|_| put(node, &url, "a.html", page("Same")));
        let answers = futures_util::future::join_all(tries).await;
        let made: Vec<_> = answers.iter().filter(|answer| answer.status == 201).collect();
        assert!(!made.is_empty() && made.iter().all(|answer| answer.body == made[0].body));
        for other in answers.iter().filter(|answer| answer.status != 201) {
            other.clone().refused(409, "idempotency_in_flight");
        }
        node.clock.advance(LIFE - 1);
        assert_eq!(put(node, &url, "a.html", page("Same")).await.expect(201).body, made[0].body);
        put(node, &url, "a.html", page("Other")).await.refused(422, "idempotency_mismatch");
        put(node, &url, "a.md", page("Same")).await.refused(422, "idempotency_mismatch");
        assert_eq!(node.count("SELECT COUNT(*) FROM sites").await, 1);
        let other = address(node, json!({})).await;
        put(node, &other, "a.html", page("Same")).await.expect(201);
        assert_eq!(
            node.count("SELECT COUNT(*) FROM sites").await,
            2,
            "each address is for a page of its own"
        );
    })
    .await;
}

#[tokio::test]
async fn restart_between_the_file_and_its_answer_makes_no_second_page() {
    let node = Node::start().await;
    let url = address(&node, json!({})).await;
    let path = url.strip_prefix(&node.base_url()).unwrap().to_owned();
    let first = put(&node, &path, "a.html", page("Kept")).await.expect(201).json();
    let node = Setup::new().start_in(node.stop().await).await;
    let again = put(&node, &path, "a.html", page("Kept")).await.expect(201).json();
    assert_eq!(again["id"], first["id"]);
    assert_eq!(node.count("SELECT COUNT(*) FROM sites").await, 1);
}

#[tokio::test]
async fn address_ends_after_15_minutes() {
    let node = Node::start().await;
    let (used, unused) = (address(&node, json!({})).await, address(&node, json!({})).await);
    put(&node, &used, "a.html", page("In time")).await.expect(201);
    node.clock.advance(LIFE);
    for url in [used, unused] {
        let refused =
            put(&node, &url, "a.html", page("In time")).await.refused(403, "invalid_upload_address");
        assert!(refused.text().contains("has expired"), "{}", refused.text());
    }
}

#[tokio::test]
async fn address_ends_with_the_key_or_the_access_it_was_made_with() {
    on_each_database(Setup::new, async |node| {
        let key = node.post("/api-keys").key(&node.key).json(&json!({})).send().await.expect(201).json();
        let url = address_of(node, key["key"].as_str().unwrap(), json!({})).await;
        let person = node.newcomer_on("pro").await;
        let program = let_in(&person, "").await;
        let granted = address_of(node, &program.access, json!({})).await;
        let made =
            node.post("/api-keys").key(&program.access).json(&json!({})).send().await.expect(201).json();
        let by_its_key = address_of(node, made["key"].as_str().unwrap(), json!({})).await;
        // The access token may expire: the grant is still valid.
        node.clock.advance(60);
        put(node, &address_of(node, &program.access, json!({})).await, "a.html", page("x")).await.expect(201);

        let gone = format!("/api-keys/{}", key["id"].as_str().unwrap());
        node.delete(&gone).key(&node.key).send().await.expect(200);
        let grants = node.app().list_grants(&person.account).await.unwrap();
        node.app().revoke_grant(&person.account, &grants[0].id).await.unwrap();
        for url in [url, granted, by_its_key] {
            let refused =
                put(node, &url, "a.html", page("Late")).await.refused(403, "invalid_upload_address");
            assert!(refused.text().contains("was revoked or has expired"), "{}", refused.text());
            assert!(!refused.has("www-authenticate"));
        }
    })
    .await;
}

#[tokio::test]
async fn address_that_was_changed_or_made_up_opens_nothing() {
    let node = Node::start().await;
    let url = address(&node, json!({})).await;
    let ticket = url.trim_end_matches('/').rsplit('/').next().unwrap().to_owned();
    let mut bad =
        vec!["x".to_owned(), "upl_".into(), format!("upl_{}", "A".repeat(400)), ticket.replace("upl_", "")];
    for at in (4..ticket.len()).step_by(29) {
        let mut bytes = ticket.clone().into_bytes();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        bad.push(String::from_utf8(bytes).unwrap());
    }
    bad.push(ticket[..ticket.len() - 4].to_owned());
    bad.push(format!("{ticket}AAAA"));
    bad.push("upl_".to_owned() + &"A".repeat(20_000));
    for ticket in bad {
        let answer = put(&node, &format!("/uploads/{ticket}/"), "a.html", page("x")).await;
        assert!(answer.status == 403 || ticket.len() > 16_000, "{ticket}: {}", answer.status);
        assert!(answer.status >= 400 && answer.status < 500, "{}", answer.status);
    }
    // Another server's secret creates other addresses.
    let other = Node::start().await;
    let foreign = address(&other, json!({})).await.replace(&other.base_url(), "");
    put(&node, &foreign, "a.html", page("x")).await.refused(403, "invalid_upload_address");
    assert_eq!(node.count("SELECT COUNT(*) FROM sites").await, 0);
    put(&node, &url, "a.html", page("x")).await.expect(201);
}

#[tokio::test]
async fn twelve_mebibytes_are_sent_by_the_ready_command() {
    let node = Node::start().await;
    let dir = tempfile::tempdir().unwrap();
    let name = "a page, [1] {2} & it's 100% ä.html";
    let html = format!("<!doctype html><title>Sent</title><!--{}-->", "x".repeat(12 << 20));
    std::fs::write(dir.path().join(name), &html).unwrap();
    std::fs::write(dir.path().join("-"), page("Dash")).unwrap();
    std::fs::write(dir.path().join("a page ä.html"), page("Plain")).unwrap();
    for (file, size) in
        [(name, html.len()), ("-", page("Dash").len()), ("a page ä.html", page("Plain").len())]
    {
        let made = node.mcp_modern(&node.key).give("create_upload", json!({"file": file})).await;
        let command = made["command"].as_str().unwrap();
        assert_eq!(command.contains(" FILE "), file == name, "{command}");
        // The name quoted for this shell.
        let command = command.replace("FILE", &format!("'{}'", name.replace('\'', r"'\''")));
        let dir = dir.path().to_owned();
        let shell = move || std::process::Command::new("sh").arg("-c").arg(command).current_dir(dir).output();
        let ran = tokio::task::spawn_blocking(shell).await.unwrap().unwrap();
        let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
        let site: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{err}"));
        assert_eq!(site["byte_size"], size, "{site}");
    }
}

#[tokio::test]
async fn too_much_is_413_and_leaves_the_address_good() {
    let node = Setup::new().set("limits.upload_bytes", "100000").start().await;
    let url = address(&node, json!({})).await;
    put(&node, &url, "a.html", noise("x", 100_001)).await.refused(413, "too_large");
    put(&node, &url, "a.exe", vec![0; 10]).await.refused(400, "unsupported_type");
    put(&node, &url, "a.html", page("Small")).await.expect(201);
}

#[tokio::test]
async fn limits_of_the_plan_and_of_the_key_hold() {
    let setup = Setup::new().with_rates().set("limits.key_per_minute", "7");
    let node = setup.start().await;
    let free = node.account("free").await;
    for n in 0..3 {
        let form = Form::file("a.html", page(&n.to_string()));
        node.publish_as(&free, form).await;
    }
    let url = address_of(&node, &free, json!({})).await;
    put(&node, &url, "a.html", page("Fourth")).await.refused(402, "plan_page_limit");
    node.clock.advance(60);
    // One request created this address and six more use it: they count for the key.
    let url = address_of(&node, &node.key, json!({})).await;
    for _ in 0..6 {
        put(&node, &url, "a.html", page("Same")).await.expect(201);
    }
    let refused = put(&node, &url, "a.html", page("Same")).await.refused(429, "rate_limited");
    assert!(refused.has("retry-after"));
    node.get("/me").key(&node.key).send().await.refused(429, "rate_limited");
}
