//! Content that was taken down is refused when published again, also in altered form, at every entry point; nothing
//! else is.

#[path = "../../../../inspect/tests/it/disguises.rs"]
mod disguises;

use crate::harness::{
    Answer, Ask, Database, Dropleaf, Form, Node, Setup, a_second_later, on_each_database, page, pdf,
    site_path, zip,
};
use disguises::DISGUISES;
use dropleaf_core::Code;
use serde_json::{Value, json};
use std::fs;

/// A page that no check refuses but that an operator took down.
const SCAM: &str = r#"<!doctype html><html><head><title>Northern Harbour Growth Fund</title></head><body>
<h1>Northern Harbour Growth Fund</h1>
<p>For eleven quiet years our members have doubled what they brought to us, and not one of them has ever lost a single coin.
The captain of the fund trades timber, amber and salted fish between four ports, and he shares every profit on the first
Monday of the month.</p>
<div class="offer"><h2>How it works</h2>
<p>Bring at least two hundred and fifty in the first week. Within thirty days the harbour pays back five hundred, in cash or
in kind, whichever you like better. Tell three neighbours about it and the next payment arrives a week early.</p></div>
<div class="voices"><h2>What members say</h2>
<p>I bought a boat from what the captain paid me, writes Henrik of the lower town. My sister sold her loom and joined, and now
she owns the weaver's house, writes Marta. There is no risk at all, says the keeper of the lighthouse, who should know.</p></div>
<p>Places are few this season: only nine remain before the ice closes the harbour. Write to the captain today, and keep this
letter to yourself and to the friends you trust most.</p>
</body></html>"#;

const HONEST: &str = r"<!doctype html><html><head><title>Harbour report</title></head><body><h1>Harbour report</h1>
<p>The harbour moved four hundred tonnes of timber in October, a little more than in the year before. Salted fish fell by a
tenth because of the storms in the second week. Two boats are in repair; the lighthouse has a new lamp. The council meets on the
first Monday of the month to talk about the price of berths and about the ice, which is expected early this winter. Members
of the fishing club pay as they did last year. The weaver's house is for rent; ask at the office in the lower town.</p>
</body></html>";

fn text<'a>(site: &'a Value, field: &str) -> &'a str {
    site[field].as_str().unwrap()
}

async fn publish(node: &Node, form: Form) -> Answer {
    node.post("/sites").key(&node.key).form(form).send().await
}

/// Publishes the page as a user, and takes it down as an operator.
async fn taken_down(node: &Node) -> Value {
    let site = node.publish(Form::file("a.html", SCAM)).await;
    node.app().take_down("ada", text(&site, "id"), "fraud").await.unwrap();
    site
}

#[tokio::test]
async fn page_is_refused_in_every_disguise_and_its_neighbours_are_not() {
    on_each_database(Setup::new, async |node| {
        taken_down(node).await;
        for (disguise, dress) in DISGUISES {
            let answer = publish(node, Form::file("other.html", dress(SCAM))).await;
            assert_eq!(answer.status, 422, "{disguise}: {}", answer.text());
            assert_eq!(answer.json()["error"], "content_blocked", "{disguise}");
        }
        let same = publish(node, Form::file("b.html", SCAM)).await.refused(422, "content_blocked").json();
        assert_eq!(same["reasons"][0]["rule"], "taken-down-before");
        assert!(
            text(&same, "error_description").contains("previously taken down from this server"),
            "{same}"
        );
        assert_eq!(text(&same, "content_hash").len(), 64);
        let deep = zip(&[("index.html", HONEST), ("notes/deep/page.html", SCAM), ("a.css", "p{}")]);
        let deep = publish(node, Form::file("s.zip", deep)).await.refused(422, "content_blocked").json();
        assert_eq!(deep["reasons"][0]["file"], "notes/deep/page.html");
        let first = zip(&[("index.html", SCAM), ("a.css", "p{}")]);
        publish(node, Form::file("s.zip", first)).await.refused(422, "content_blocked");
        for honest in [HONEST.to_owned(), page("Northern Harbour Growth Fund"), page("x")] {
            publish(node, Form::file("a.html", honest)).await.expect(201);
        }
        publish(node, Form::file("s.zip", zip(&[("index.html", HONEST), ("a.css", "p{}")])))
            .await
            .expect(201);
    })
    .await;
}

#[tokio::test]
async fn every_endpoint_refuses_it() {
    on_each_database(Setup::new, async |node| {
        let client = node.mcp_modern(&node.key);
        let ticket = client.give("create_upload", json!({"file": "a.html"})).await;
        let mine = node.publish(Form::file("a.html", HONEST)).await;
        let copy = node.publish(Form::file("a.html", SCAM)).await;
        let deleted = node.publish(Form::file("a.html", SCAM)).await;
        node.delete(&site_path(&deleted)).key(&node.key).send().await.expect(200);
        let brief = Form::file("a.html", SCAM).field("expires_in_hours", "1");
        let expired = node.publish(brief).await;
        let turned = node.publish(Form::file("a.html", SCAM)).await;
        let put = node.put(&site_path(&turned)).key(&node.key).form(Form::file("a.html", HONEST));
        put.send().await.expect(200);
        taken_down(node).await;
        let code = "content_blocked";
        node.post(&format!("{}/restore", site_path(&deleted))).key(&node.key).send().await.refused(422, code);
        let back = node.post(&format!("{}/rollback", site_path(&turned))).key(&node.key);
        back.json(&json!({"version": 1})).send().await.refused(422, code);
        let put = node.put(&site_path(&mine)).key(&node.key).form(Form::file("a.html", SCAM));
        put.send().await.refused(422, code);
        node.post("/sites").form(Form::file("a.html", SCAM)).send().await.refused(422, code);
        let address = format!("{}a.html", text(&ticket, "upload_url"));
        node.put(&address).body("text/html", SCAM).send().await.refused(422, code);
        client.refused("publish_html", json!({"html": SCAM}), code).await;
        client.refused("update_site", json!({"site": mine["id"], "html": SCAM}), code).await;
        node.post("/publish").json(&json!({"html": SCAM})).send().await.refused(422, code);
        assert_eq!(node.count("SELECT COUNT(*) FROM payments").await, 0);
        let checked = node.post("/check").form(Form::file("a.html", SCAM)).send().await.expect(200).json();
        assert_eq!(
            (&checked["accepted"], &checked["reasons"][0]["rule"]),
            (&json!(false), &json!("taken-down-before"))
        );
        node.get(text(&mine, "url")).send().await.expect(200);
        // A copy elsewhere stays until it is taken down; but it cannot be restored.
        node.get(text(&copy, "url")).send().await.expect(200);
        // Nor with a later expiry, whether or not the sweep has marked it as expired.
        node.clock.advance(3601);
        for _ in 0..2 {
            let later = node.patch(&site_path(&expired)).key(&node.key).json(&json!({"expires_in_hours": 9}));
            later.send().await.refused(422, code);
            node.app().sweep().await.unwrap();
        }
    })
    .await;
}

#[tokio::test]
async fn page_that_is_a_file_or_ciphertext_is_known_by_its_bytes() {
    let node = Node::start().await;
    let cipher = crate::harness::noise("cipher", 5000);
    for form in [
        || Form::file("a.pdf", pdf()),
        || Form::file("x", crate::harness::noise("cipher", 5000)).field("e2e", "true"),
    ] {
        let site = node.publish(form()).await;
        node.app().take_down("ada", text(&site, "id"), "fraud").await.unwrap();
        publish(&node, form()).await.refused(422, "content_blocked");
    }
    let other = crate::harness::noise("other", cipher.len());
    publish(&node, Form::file("x", other).field("e2e", "true")).await.expect(201);
}

#[tokio::test]
async fn forgotten_content_may_come_back_and_the_page_stays_down() {
    on_each_database(Setup::new, async |node| {
        let site = taken_down(node).await;
        let again = || publish(node, Form::file("a.html", SCAM));
        again().await.refused(422, "content_blocked");
        let silent = node.app().unblock_content("ada", text(&site, "id"), "").await.unwrap_err();
        assert_eq!(silent.code, Code::InvalidField);
        node.app().unblock_content("ada", text(&site, "id"), "a mistake").await.unwrap();
        again().await.expect(201);
        node.get(text(&site, "url")).send().await.expect(410);
        let twice = node.app().unblock_content("ada", text(&site, "id"), "again").await.unwrap_err();
        assert_eq!(twice.code, Code::NotFound);
        node.app().sweep().await.unwrap();
        again().await.expect(201);
        let lines = node.app().list_audit_about(text(&site, "id"), 5).await.unwrap();
        assert_eq!(lines.iter().filter(|line| line.action.as_str() == "forget_unwanted").count(), 1);
    })
    .await;
}

#[tokio::test]
async fn what_is_forgotten_before_it_is_sealed_is_not_noted_again() {
    on_each_database(Setup::new, async |node| {
        let spool = node.data_dir().join("spool");
        // Without a writable spool folder, the content waits to be sealed.
        fs::remove_dir_all(&spool).unwrap();
        let site = taken_down(node).await;
        publish(node, Form::file("a.html", SCAM)).await.refused(422, "content_blocked");
        node.app().unblock_content("ada", text(&site, "id"), "a mistake").await.unwrap();
        for _ in 0..2 {
            node.app().sweep().await.unwrap();
            publish(node, Form::file("a.html", SCAM)).await.expect(201);
            if !spool.exists() {
                fs::create_dir(&spool).unwrap();
            }
        }
        assert_eq!(node.count("SELECT COUNT(*) FROM evidence").await, 1, "and it is sealed in the end");
        assert_eq!(node.app().list_blocked_content(10).await.unwrap(), []);
    })
    .await;
}

#[tokio::test]
async fn publisher_of_markdown_hears_of_the_source() {
    let node = Node::start().await;
    let words: String =
        SCAM.split('<').filter_map(|part| part.split_once('>')).map(|(_, text)| text).collect();
    let form = |name: &str, words: &str| Form::file(name, format!("# Harbour\n\n{words}\n"));
    let site = node.publish(form("a.md", &words)).await;
    node.app().take_down("ada", text(&site, "id"), "fraud").await.unwrap();
    for again in [words.clone(), words.replace("eleven", "twelve")] {
        let refused = publish(&node, form("b.md", &again)).await.refused(422, "content_blocked").json();
        assert_eq!(refused["reasons"][0]["file"], "index.md", "{refused}");
    }
}

fn publish_scam(node: &Node, key: &str) -> Ask {
    node.post("/sites").key(key).form(Form::file("a.html", SCAM))
}

#[tokio::test]
async fn command_line_takes_down_and_forgets_and_the_server_knows_within_a_second() {
    let node = Setup::new().start().await;
    let site = node.publish(Form::file("a.html", SCAM)).await;
    let data = node.data_dir().display().to_string();
    let dropleaf = Dropleaf::in_dir(node.dir.path())
        .env("DROPLEAF_DATA_DIR", &data)
        .env("DROPLEAF_BASE_URL", &node.base_url());
    assert!(dropleaf.prints(&["unwanted", "list"]).contains("No blocked content"));
    dropleaf.prints(&["takedown", text(&site, "id"), "--reason", "fraud"]);
    a_second_later(&node, publish_scam(&node, &node.key), 422).await;
    assert!(dropleaf.prints(&["unwanted", "list"]).contains(text(&site, "id")));
    let listed: Value = serde_json::from_str(&dropleaf.prints(&["unwanted", "list", "--json"])).unwrap();
    assert_eq!(listed["unwanted"][0]["reason"], "fraud");
    dropleaf.complains(&["unwanted", "forget", text(&site, "id")]);
    dropleaf.prints(&["unwanted", "forget", text(&site, "id"), "--reason", "a mistake"]);
    a_second_later(&node, publish_scam(&node, &node.key), 201).await;
}

#[tokio::test]
async fn other_nodes_refuse_it_within_a_second() {
    let database = Database::postgres().await;
    let secret = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
    let setup = || Setup::new().set("secret_key", secret).database(database.clone());
    let (first, second) = (setup().start().await, setup().start().await);
    second.post("/sites").key(&first.key).form(Form::file("a.html", SCAM)).send().await.expect(201);
    taken_down(&first).await;
    a_second_later(&second, publish_scam(&second, &first.key), 422).await;
    first.stop().await;
    second.stop().await;
    database.remove().await;
}
