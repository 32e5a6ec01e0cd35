//! The same path updates the same page: the record of published pages, with and without an account.

use super::{Machine, page_count, version};
use crate::harness::{DAY, Node, Setup, page, site_path};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

#[tokio::test(flavor = "multi_thread")]
async fn same_path_updates_the_same_page() {
    let node = Node::start().await;
    let machine = Machine::with_key(&node);
    machine.file("site/index.html", page("One"));
    let site = machine.json(&["site"]);
    machine.file("site/index.html", page("Two"));
    // However the path is written.
    let inside = machine.home.path().join("site/../site/");
    let (link, notes) = machine.publish(&[inside.to_str().unwrap()]);
    assert_eq!((link.as_str(), notes.as_str()), (site["url"].as_str().unwrap(), ""));
    assert!(node.get(&link).send().await.expect(200).text().contains("Two"));
    assert_eq!(version(&node, site["id"].as_str().unwrap()).await, 2);
    let mode = std::fs::metadata(machine.record()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let new = machine.json(&["site", "--new"]);
    assert_ne!(new["id"], site["id"]);
    assert_eq!(machine.json(&["site"])["id"], new["id"]);
    // A page that is named becomes the page of the path.
    assert_eq!(machine.json(&["site", "--update", site["id"].as_str().unwrap()])["id"], site["id"]);
    assert_eq!(machine.json(&["site"])["id"], site["id"]);
    // A page that is deleted after its first view is a page of its own.
    let burn = machine.json(&["site", "--burn"]);
    assert_ne!(burn["id"], site["id"]);
    assert_eq!(machine.json(&["site"])["id"], site["id"]);

    node.delete(&site_path(&site)).key(&node.key).send().await.expect(200);
    let (link, notes) = machine.publish(&["site"]);
    assert_ne!(link, site["url"]);
    assert!(
        notes.contains(&format!("{} is gone; publishing a new page", site["url"].as_str().unwrap())),
        "{notes}"
    );
    let (code, said) = machine.refused(&["site", "--update", site["id"].as_str().unwrap()]);
    assert_eq!(code, 1, "a page that was named is not replaced: {said}");

    let (code, said) = machine.without_key().refused(&["site"]);
    assert_eq!(code, 4, "{said}");
    assert!(said.contains("was published with an account") && said.contains("--new"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn protected_page_that_is_gone_is_not_replaced_by_an_open_one() {
    let node = Node::start().await;
    let machine = Machine::with_key(&node);
    machine.file("a.html", page("Protected"));
    machine.file("password", "correct horse\n");
    let site = machine.json(&["a.html", "--password-file", "password"]);
    // The page keeps its password, and so does the record.
    assert_eq!(machine.json(&["a.html"])["password_protected"], true);
    node.delete(&site_path(&site)).key(&node.key).send().await.expect(200);
    let (code, said) = machine.refused(&["a.html"]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("would lack its password; add --password or --new"), "{said}");
    assert_eq!(page_count(&node).await, 0);
    let new = machine.json(&["a.html", "--password-file", "password"]);
    assert_eq!(new["password_protected"], true);
    node.delete(&site_path(&new)).key(&node.key).send().await.expect(200);
    assert_eq!(machine.json(&["a.html", "--new"])["password_protected"], false);
    // From now on it is a page without a password.
    assert_eq!(machine.json(&["a.html"])["version"], 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn anonymous_page_is_updated_and_then_claimed() {
    let node = Setup::new().real_time().start().await;
    let machine = Machine::anonymous(&node.base_url());
    machine.file("page.html", page("One"));
    let (link, notes) = machine.publish(&["page.html"]);
    assert!(notes.contains("/claim/"), "{notes}");
    machine.file("page.html", page("Two"));
    let (same, notes) = machine.publish(&["page.html"]);
    assert_eq!((same.as_str(), notes.as_str()), (link.as_str(), ""));
    assert!(node.get(&link).send().await.expect(200).text().contains("Two"));

    // Its settings cannot be changed without an account. The token of the first page is kept.
    let record = || std::fs::read_to_string(machine.record()).unwrap();
    let token = |of: &Value| of["claim_token"].as_str().unwrap().to_owned();
    let before: Value = serde_json::from_str(&record()).unwrap();
    let first = token(&before["pages"][0]);
    let (other, notes) = machine.publish(&["page.html", "--title", "Titled"]);
    assert_ne!(other, link);
    assert!(notes.contains("cannot be changed without an account"), "{notes}");
    let after: Value = serde_json::from_str(&record()).unwrap();
    assert_eq!(token(&after["unclaimed"][0]), first);
    assert_ne!(token(&after["pages"][0]), first);

    let machine = machine.key(&node.key);
    machine.file("page.html", page("Three"));
    let (claimed, notes) = machine.publish(&["page.html", "--title", "Mine"]);
    assert_eq!(claimed, other);
    assert!(notes.contains("it belongs to yours now"), "{notes}");
    let list = node.get("/sites").key(&node.key).send().await.expect(200).json();
    assert_eq!((&list["sites"][0]["title"], &list["sites"][0]["expires_at"]), (&"Mine".into(), &Value::Null));
    let after: Value = serde_json::from_str(&std::fs::read_to_string(machine.record()).unwrap()).unwrap();
    assert!(after["pages"][0]["claim_token"].is_null(), "{after}");
}

#[tokio::test(flavor = "multi_thread")]
async fn expired_and_claimed_pages_are_told_apart() {
    let node = Node::start().await;
    let machine = Machine::anonymous(&node.base_url());
    machine.file("page.html", page("One"));
    let site = machine.json(&["page.html"]);
    // Claimed in the browser by somebody: this machine no longer may.
    let claim = serde_json::json!({"claim_token": site["claim_token"]});
    let key = node.account("free").await;
    node.post(&format!("{}/claim", site_path(&site))).key(&key).json(&claim).send().await.expect(200);
    let (code, said) = machine.refused(&["page.html"]);
    assert_eq!(code, 4, "{said}");
    assert!(said.contains("belongs to an account now") && said.contains("--new"), "{said}");
    // With the key of that account the page is updated.
    let machine = machine.key(&key);
    assert_eq!(machine.json(&["page.html"])["id"], site["id"]);

    let machine = Machine::anonymous(&node.base_url());
    machine.file("page.html", page("One"));
    let (link, _) = machine.publish(&["page.html"]);
    node.clock.advance(2 * DAY);
    let (new, notes) = machine.publish(&["page.html"]);
    assert_ne!(new, link);
    assert!(notes.contains(&format!("{link} is gone; publishing a new page")), "{notes}");
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_that_publish_at_once_lose_no_page() {
    let node = Node::start().await;
    let machine = Machine::with_key(&node);
    let children: Vec<_> = (0..6)
        .map(|number| {
            let name = format!("page-{number}.html");
            machine.file(&name, page(&name));
            machine.dropleaf.command(&["publish", &name]).stdout(Stdio::null()).spawn().unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let record: Value = serde_json::from_str(&std::fs::read_to_string(machine.record()).unwrap()).unwrap();
    assert_eq!(record["pages"].as_array().unwrap().len(), 6);
    assert_eq!(page_count(&node).await, 6);
    // With a damaged record only a new page is published, on request, and the record is not overwritten.
    std::fs::write(machine.record(), "{").unwrap();
    let (code, reason) = machine.refused(&["page-0.html"]);
    assert_eq!(code, 1, "{reason}");
    assert!(reason.contains("published.json is damaged") && reason.contains("--new"), "{reason}");
    assert_eq!(page_count(&node).await, 6);
    let (_, notes) = machine.publish(&["page-0.html", "--new"]);
    assert!(notes.contains("published.json is damaged"), "{notes}");
    assert_eq!(std::fs::read_to_string(machine.record()).unwrap(), "{");
}
