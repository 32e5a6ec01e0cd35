//! Texts of the dashboard: 404 pages, confirmations of forms, sizes in one unit.

use crate::harness::oauth::{authorize_path, register};
use crate::harness::{Node, Setup};

#[tokio::test]
async fn lost_owner_reads_words_for_owners_and_finds_the_way_back() {
    let node = Node::start().await;
    let tab = node.operator().await;
    let nowhere = "/dashboard/pages/site_00000000000000000000";
    for path in
        [nowhere, "/dashboard/nothing", "/dashboard/pages/a/b/c", "/operator/nothing", "/operator/a/b"]
    {
        let text = tab.get(path).await.expect(404).text();
        assert!(text.contains("Page not found"), "{path}");
        assert!(text.contains("<a href=\"/dashboard\">Back to your pages</a>"), "{path}");
        assert!(!text.contains("the person who sent it"), "{path}");
    }
    assert_eq!(tab.get("/dashboard/").await.expect(303).header("location"), "/dashboard");
    let eve = node.newcomer_on("solo").await;
    eve.get("/operator/nothing").await.expect(404);
    // People who are not signed in are redirected to sign in, and scripts get JSON.
    let out = node.get("/dashboard/nothing").browser().send().await.expect(303);
    assert!(out.header("location").starts_with("/login?next="));
    let script =
        tab.script("/dashboard/nothing").header("accept", "application/json").send().await.expect(404);
    assert_eq!(script.json()["error"], "not_found");
}

#[tokio::test]
async fn each_form_says_what_it_changed() {
    let node = Setup::new().set("mail.mode", "outbox").start().await;
    let site = node.publish_page("Orchard").await;
    let tab = node.operator().await;
    let at = format!("/dashboard/pages/{}", site["id"].as_str().unwrap());
    for (form, fields, said) in [
        ("title", vec![("title", "Garden")], "Title saved"),
        ("password", vec![("act", "set"), ("password", "open sesame")], "Password saved"),
        ("password", vec![("act", "clear")], "Password removed"),
        ("email-gate", vec![("domain", "example.org")], "must now confirm an email address"),
        ("email-gate", vec![("act", "clear"), ("domain", "")], "Email gate removed"),
        ("expiry", vec![("expires", "24")], "Expiry saved"),
        ("visibility", vec![("visibility", "public"), ("slug", "orchard-of-words")], "is now public"),
        ("visibility", vec![("visibility", "unlisted"), ("slug", "")], "only people with the link"),
        ("visibility", vec![("visibility", "burn"), ("slug", "")], "viewed only once"),
    ] {
        let seen = node.read_site(&site).await["updated_at"].to_string();
        let fields = [fields.as_slice(), &[("updated_at", seen.as_str())]].concat();
        let sent = tab.submit(&format!("{at}/{form}"), &fields).await.expect(303);
        let page = tab.get(sent.header("location")).await.expect(200).text();
        let (before, done) = page.split_once("id=\"outcome\" role=\"status\" tabindex=\"-1\"><p>").unwrap();
        assert!(done.split('<').next().unwrap().contains(said), "{form}: {done:.60}");
        let section = before.rsplit_once("<section ").unwrap().1;
        assert!(section.contains("id=\"settings\""), "{form} is answered where it was sent: {section:.60}");
    }
}

#[tokio::test]
async fn every_form_leads_to_its_message() {
    let node = Node::start().await;
    let site = node.publish_page("Orchard").await;
    let tab = node.operator().await;
    let at = format!("/dashboard/pages/{}", site["id"].as_str().unwrap());
    let others = [
        "/dashboard",
        "/dashboard/upload",
        "/dashboard/domains",
        "/dashboard/keys",
        "/dashboard/account",
        "/dashboard/billing",
    ];
    for path in [at.as_str()].into_iter().chain(others) {
        let text = tab.get(path).await.expect(200).text();
        for form in text.split("<form ").skip(1).map(|form| form.split('>').next().unwrap()) {
            let is_ours = form.contains("method=\"post\"") && form.contains("action=\"/dashboard");
            assert!(!is_ours || form.contains("#outcome\""), "{path}: {form}");
        }
    }
    // An error is marked up the same way, and its field refers to it.
    let fields = [("title", " "), ("updated_at", &site["updated_at"].to_string())];
    let text = tab.submit(&format!("{at}/title"), &fields).await.expect(400).text();
    assert!(text.contains("id=\"outcome\" role=\"alert\" tabindex=\"-1\""), "{text}");
    assert!(text.contains("aria-describedby=\"outcome\""), "{text}");
    assert_eq!(text.matches("id=\"outcome\"").count(), 1);
}

#[tokio::test]
async fn grave_changes_ask_first() {
    let node = Node::start().await;
    let site = node.publish_page("Orchard").await;
    let id = site["id"].as_str().unwrap();
    let tab = node.operator().await;
    let at = format!("/dashboard/pages/{id}");
    let page = tab.get(&at).await.expect(200).text();
    let burn = page.split("id=\"v-burn\"").nth(1).unwrap();
    assert!(burn.split('>').next().unwrap().contains("data-confirm=\"Allow only one view?"));
    let seen = node.read_site(&site).await["updated_at"].to_string();
    let fields = [("act", "set"), ("password", "open sesame"), ("updated_at", seen.as_str())];
    tab.submit(&format!("{at}/password"), &fields).await.expect(303);
    let page = tab.get(&at).await.expect(200).text();
    assert!(page.contains("value=\"clear\" data-confirm=\"Remove the password?"));
}

#[tokio::test]
async fn limit_of_uploads_reads_the_same_everywhere() {
    let node = Setup::new().set("limits.upload_bytes", (25 << 20).to_string()).start().await;
    let site = node.publish_page("Orchard").await;
    let tab = node.operator().await;
    let page = format!("/dashboard/pages/{}", site["id"].as_str().unwrap());
    for path in ["/dashboard", "/dashboard/upload", "/dashboard/account", &page] {
        let text = tab.get(path).await.expect(200).text();
        assert!(text.contains("25 MiB") && !text.contains("26 MB"), "{path}");
    }
}

#[tokio::test]
async fn wrong_account_can_be_changed_at_the_consent_page() {
    let node = Node::start().await;
    let person = node.newcomer("ada@example.org").await;
    let asked = authorize_path(&register(&node, "A program").await, &[]);
    let page = person.get(&asked).await.expect(200).text();
    let (_, rest) = page.split_once("<a href=\"/login?again=1&#38;next=").expect("a way to another account");
    let next = rest.split('"').next().unwrap();
    let back = form_urlencoded::parse(format!("next={next}").as_bytes()).next().unwrap().1.into_owned();
    assert_eq!(back, asked);
    // The form is shown although the person is signed in.
    let login = person.get(&format!("/login?again=1&next={next}")).await.expect(200).text();
    assert!(login.contains("name=\"email\""));
}

#[tokio::test]
async fn passkeys_name_the_host_they_belong_to() {
    let node =
        Setup::new().set("base_url", "https://leaf.example").set("mail.smtp_url", "smtp://127.0.0.1:1");
    let node = node.start().await;
    let text = node.get("/login").header("host", "leaf.example").browser().send().await.expect(200).text();
    assert!(text.contains("id=\"use-passkey\" data-host=\"leaf.example\""));
}
