//! `--encrypt`: the link opens the page, and the server has only ciphertext.

use super::Machine;
use crate::harness::{Node, page};
use aes_gcm::Aes256Gcm;
use aes_gcm::aead::{Aead, KeyInit, Payload};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// Decrypts a page as its viewer does; returns its IV too.
async fn opened(node: &Node, link: &str) -> (String, Vec<u8>) {
    let (url, secret) = link.split_once("#k=").unwrap();
    let key: [u8; 32] = URL_SAFE_NO_PAD.decode(secret).unwrap().try_into().unwrap();
    let answer = node.get(url).send().await.expect(200);
    assert_eq!(answer.header("content-type"), "application/octet-stream");
    let bytes = answer.body;
    assert!(bytes.starts_with(b"E2E1\0"), "without a passphrase");
    let iv: [u8; 12] = bytes[28..40].try_into().unwrap();
    let payload = Payload { msg: &bytes[40..], aad: &bytes[..40] };
    let plain = Aes256Gcm::new(&key.into()).decrypt(&iv.into(), payload).unwrap();
    (String::from_utf8(plain).unwrap(), iv.to_vec())
}

#[tokio::test(flavor = "multi_thread")]
async fn encrypted_page_opens_with_its_link_and_keeps_it() {
    let node = Node::start().await;
    let machine = Machine::with_key(&node);
    machine.file("report.html", page("Secret report"));
    let (link, _) = machine.publish(&["report.html", "--encrypt"]);
    let (plain, first) = opened(&node, &link).await;
    assert_eq!(plain, page("Secret report"));

    machine.file("report.html", page("Second version"));
    let site = machine.json(&["report.html", "--encrypt"]);
    assert_eq!(site["link"], link.as_str(), "same page, same key");
    assert_eq!((&site["e2e"], &site["version"]), (&true.into(), &2.into()));
    let (plain, second) = opened(&node, &link).await;
    assert_eq!(plain, page("Second version"));
    assert_ne!(first, second, "a new IV for every version");

    // It is not published readable by mistake.
    for args in [&["report.html"][..], &["report.html", "--burn"]] {
        let (code, said) = machine.refused(args);
        assert_eq!(code, 2);
        assert!(said.contains("was published encrypted"), "{said}");
    }
    let (new, _) = machine.publish(&["report.html", "--encrypt", "--new"]);
    assert_ne!(new.split_once('#').unwrap().1, link.split_once('#').unwrap().1, "a new page has a new key");
    let (readable, _) = machine.publish(&["report.html", "--new"]);
    // Earlier versions of a page stay readable, so it does not become an encrypted one.
    let (other, notes) = machine.publish(&["report.html", "--encrypt"]);
    assert!(!other.starts_with(&readable), "{other}");
    assert!(notes.contains("is not encrypted; publishing a new page"), "{notes}");
}

#[tokio::test(flavor = "multi_thread")]
async fn named_page_keeps_its_key_however_it_is_named() {
    let node = Node::start().await;
    let machine = Machine::with_key(&node);
    machine.file("report.html", page("One"));
    machine.file("other.html", page("Two"));
    let site = machine.json(&["report.html", "--encrypt", "--public", "--slug", "my-report"]);
    let (id, url) = (site["id"].as_str().unwrap(), site["url"].as_str().unwrap());
    for name in [id, "my-report", url] {
        for file in ["report.html", "other.html"] {
            let again = machine.json(&[file, "--encrypt", "--update", name]);
            assert_eq!((&again["id"], &again["link"]), (&site["id"], &site["link"]), "{file}, {name}");
        }
    }
    // Neither an encrypted page nor the content of one becomes readable, whatever is named.
    machine.file("third.html", page("Three"));
    let readable = machine.json(&["third.html", "--new"]);
    for (file, name) in
        [("report.html", id), ("third.html", id), ("report.html", readable["id"].as_str().unwrap())]
    {
        let (code, said) = machine.refused(&[file, "--update", name]);
        assert_eq!(code, 2, "{said}");
        assert!(said.contains("was published encrypted"), "{said}");
    }
    assert!(opened(&node, site["link"].as_str().unwrap()).await.0.contains("Two"));
}

#[tokio::test(flavor = "multi_thread")]
async fn markdown_and_anonymous_pages_are_encrypted_too() {
    let node = Node::start().await;
    let machine = Machine::anonymous(&node.base_url());
    machine.file("notes.md", "# Notes\n\n*hello*\n");
    let (link, notes) = machine.publish(&["notes.md", "--encrypt"]);
    assert!(notes.contains("without an account"), "{notes}");
    let (plain, _) = opened(&node, &link).await;
    assert!(plain.starts_with("<!doctype html>") && plain.contains("<em>hello</em>"), "{plain}");
    machine.file("notes.md", "# Notes\n\n*again*\n");
    let (same, _) = machine.publish(&["notes.md", "--encrypt"]);
    assert_eq!(same, link);
    assert!(opened(&node, &link).await.0.contains("<em>again</em>"));
}
