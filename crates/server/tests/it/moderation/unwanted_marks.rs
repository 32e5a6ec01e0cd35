//! Which pages of an archive are refused after it was taken down: those it was probably taken down for, and no one
//! else's.

use crate::harness::{Dropleaf, Form, Node, Person, Setup, on_each_database, site_path, zip};
use dropleaf_app::IdempotentResult;
use dropleaf_core::Code;
use futures_util::future::join_all;
use serde_json::Value;
use std::fmt::Write as _;

/// It asks for something, and no check refuses it.
const SCAM: &str = r#"<!doctype html><html><head><title>Northern Harbour Growth Fund</title></head><body>
<h1>Northern Harbour Growth Fund</h1>
<p>For eleven quiet years our members have doubled what they brought to us, and not one of them has ever lost a single coin.
The captain of the fund trades timber, amber and salted fish between four ports, and he shares every profit on the first
Monday of the month. Bring at least two hundred and fifty in the first week. Within thirty days the harbour pays back five
hundred, in cash or in kind, whichever you like better.</p>
<form><label>Your boat <input name="boat"></label><label>Your neighbours <textarea name="n"></textarea></label></form>
</body></html>"#;

/// Another account's own page, which also asks for something.
const HONEST: &str = r#"<!doctype html><html><head><title>Harbour report</title></head><body><h1>Harbour report</h1>
<p>The harbour moved four hundred tonnes of timber in October, a little more than in the year before. Salted fish fell by a
tenth because of the storms in the second week. Two boats are in repair; the lighthouse has a new lamp. The council meets on the
first Monday of the month to talk about the price of berths and about the ice, which is expected early this winter. Members
of the fishing club pay as they did last year. The weaver's house is for rent; ask at the office in the lower town.</p>
<form><label>What do you think? <textarea name="answer"></textarea></label></form></body></html>"#;

const NOTES: &str = r"<!doctype html><html><head><title>Notes</title></head><body><h1>How ropes are made</h1>
<p>Hemp is combed until its threads lie side by side, then spun into yarn by a man who walks backwards along the whole length of
the ropewalk. Three yarns make a strand and three strands make a rope; each is twisted against the one before, so that none of
them can open. Tar keeps the water out but makes it stiff, and a rope for a lighthouse is never tarred. A good rope of forty
fathoms takes two people four days, and lasts nine winters if it is dried after every storm.</p></body></html>";

fn text<'a>(site: &'a Value, field: &str) -> &'a str {
    site[field].as_str().unwrap()
}

fn small(title: &str) -> String {
    format!("<!doctype html><title>{title}</title><p>{title}</p>")
}

async fn sent(node: &Node, name: &str, body: impl AsRef<str>) -> u16 {
    let archive = zip(&[("index.html", &small(name)), ("pages/x.html", body.as_ref())]);
    node.post("/sites").key(&node.key).form(Form::file("a.zip", archive)).send().await.status
}

async fn put(node: &Node, key: &str, site: &Value, form: Form) -> u16 {
    node.put(&site_path(site)).key(key).form(form).send().await.status
}

async fn key_of(node: &Node, person: &Person<'_>) -> String {
    match node.app().create_key(&person.account, None, None, |_| Vec::new()).await.unwrap() {
        IdempotentResult::New(new) => new.secret,
        IdempotentResult::Replayed { .. } => panic!("a new key is no repeat"),
    }
}

/// A long, distinct page without anything to fill in.
fn junk(number: usize) -> String {
    let mut page = format!("<!doctype html><title>{number}</title><p>");
    for word in 0..120_usize {
        let (a, b) = (number * 131 + word * 17, number * 37 + word * word);
        write!(
            page,
            "{}{} ",
            ["tar", "mast", "keel", "sail", "oar"][a % 5],
            char::from(b'a' + u8::try_from(b % 26).unwrap())
        )
        .unwrap();
    }
    page + "</p>"
}

#[tokio::test]
async fn page_that_asks_is_not_crowded_out_and_the_others_are_free() {
    on_each_database(Setup::new, async |node| {
        let many: Vec<(String, String)> = (0..520).map(|at| (format!("a{at:03}.html"), junk(at))).collect();
        let crowd: Vec<(&str, &str)> =
            many.iter().map(|(path, body)| (path.as_str(), body.as_str())).collect();
        let index = small("Start");
        let first = [&[("index.html", index.as_str()), ("z/join.html", SCAM)][..], &crowd[..300]].concat();
        let site = node.publish(Form::file("a.zip", zip(&first))).await;
        let newest = [&[("index.html", index.as_str())][..], &crowd[..]].concat();
        assert_eq!(put(node, &node.key, &site, Form::file("a.zip", zip(&newest))).await, 200);
        node.app().take_down("ada", text(&site, "id"), "fraud").await.unwrap();
        assert_eq!(node.app().find_marked_pages(text(&site, "id")).await.unwrap(), ["z/join.html"]);
        let changed = SCAM.replace("eleven quiet", "twelve quiet");
        let again = join_all((0..6).map(|_| sent(node, "Other", &changed))).await;
        assert_eq!(again, [422; 6]);
        assert_eq!(sent(node, "Other", &many[0].1).await, 201);
        assert_eq!(sent(node, "Other", NOTES).await, 201);
    })
    .await;
}

#[tokio::test]
async fn what_stands_under_another_account_stays_theirs() {
    on_each_database(Setup::new, async |node| {
        let person = node.newcomer_on("pro").await;
        let key = key_of(node, &person).await;
        let theirs = node.publish_as(&key, Form::file("a.html", HONEST)).await;
        let beside = zip(&[("index.html", SCAM), ("copy.html", HONEST)]);
        let before = zip(&[("index.html", HONEST), ("join.html", SCAM)]);
        for (archive, at) in [(beside, "index.html"), (before, "join.html")] {
            let bad = node.publish(Form::file("a.zip", archive)).await;
            node.app().take_down("ada", text(&bad, "id"), "fraud").await.unwrap();
            assert_eq!(node.app().find_marked_pages(text(&bad, "id")).await.unwrap(), [at]);
            assert_eq!(sent(node, "Other", SCAM).await, 422);
            let changed = HONEST.replace("four hundred", "five hundred");
            assert_eq!(put(node, &key, &theirs, Form::file("a.html", changed)).await, 200);
            assert_eq!(put(node, &key, &theirs, Form::file("a.html", HONEST)).await, 200);
            node.app().unblock_content("ada", text(&bad, "id"), "next").await.unwrap();
        }
        // A page without an account exempts nothing: the offender could have published it.
        node.post("/sites").form(Form::file("a.html", SCAM)).send().await.expect(201);
        let bad = node.publish(Form::file("a.html", SCAM)).await;
        node.app().take_down("ada", text(&bad, "id"), "fraud").await.unwrap();
        assert_eq!(sent(node, "Other", SCAM).await, 422);
    })
    .await;
}

#[tokio::test]
async fn operator_names_the_page_it_is_about() {
    on_each_database(Setup::new, async |node| {
        let archive = || zip(&[("index.html", &small("Start")), ("notes/ropes.html", NOTES)]);
        let first = node.publish(Form::file("a.zip", archive())).await;
        node.app().take_down("ada", text(&first, "id"), "x").await.unwrap();
        assert_eq!(sent(node, "Other", NOTES).await, 201);
        node.app().unblock_content("ada", text(&first, "id"), "next").await.unwrap();
        let second = node.publish(Form::file("a.zip", archive())).await;
        let down = async |page: &str| {
            let pages = [page.to_owned()];
            node.app().take_down_pages("ada", text(&second, "id"), "x", &pages).await
        };
        assert_eq!(down("notes/rope.html").await.unwrap_err().code, Code::InvalidField);
        node.get(text(&second, "url")).send().await.expect(200);
        down("/notes/ropes.html").await.unwrap();
        assert_eq!(sent(node, "Other", NOTES).await, 422);
        assert_eq!(node.count("SELECT COUNT(*) FROM unwanted_named").await, 0);
    })
    .await;
}

#[tokio::test]
async fn command_line_names_pages_and_forgets_them_by_any_name() {
    let node = Node::start().await;
    let data = node.data_dir().display().to_string();
    let dropleaf = Dropleaf::in_dir(node.dir.path())
        .env("DROPLEAF_DATA_DIR", &data)
        .env("DROPLEAF_BASE_URL", &node.base_url());
    let listed = || -> Value {
        let told: Value = serde_json::from_str(&dropleaf.prints(&["unwanted", "list", "--json"])).unwrap();
        told["unwanted"].clone()
    };
    let forget = |name: &str, more: &[&str]| {
        dropleaf.prints(&[&["unwanted", "forget", name, "--reason", "a mistake"][..], more].concat())
    };
    for by in ["id", "token", "url", "site_id"] {
        let archive = zip(&[("index.html", SCAM), ("notes.html", NOTES)]);
        let site = node.publish(Form::file("a.zip", archive)).await;
        let id = text(&site, "id");
        let said = dropleaf.prints(&["takedown", id, "--reason", "fraud", "--page", "notes.html"]);
        assert!(said.contains("Blocked from being published again: notes.html, index.html"), "{said}");
        let noted = listed()[0].clone();
        assert_eq!(noted["pages"], serde_json::json!(["notes.html", "index.html"]));
        let lines = dropleaf.prints(&["unwanted", "list"]);
        assert!(lines.contains(text(&noted, "id")) && lines.contains("notes.html, index.html"), "{lines}");
        let name = match by {
            "id" => text(&noted, "id"),
            "token" => text(&site, "unlisted_token"),
            "url" => text(&site, "url"),
            _ => id,
        };
        forget(name, &["--page", "notes.html"]);
        assert_eq!(listed()[0]["pages"], serde_json::json!(["index.html"]));
        forget(name, &[]);
        assert_eq!(listed(), serde_json::json!([]));
        node.clock.advance(1);
    }
}
