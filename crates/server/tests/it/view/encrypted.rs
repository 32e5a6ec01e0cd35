//! End-to-end encrypted pages: the viewer for browsers, the bytes for other clients, `dropleaf encrypt`. Spec §1.4.

use crate::harness::{Answer, Dropleaf, Form, Node, Setup, noise, on_each_database, site_path, zip};
use aes_gcm::Aes256Gcm;
use aes_gcm::aead::{Aead, KeyInit, Payload};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::io::Read;

fn sealed(len: usize) -> Vec<u8> {
    noise("sealed", len)
}

async fn published(node: &Node, bytes: &[u8], fields: &[(&str, &str)]) -> Value {
    let form = Form::file("page.html", bytes).field("e2e", "true");
    node.publish(fields.iter().fold(form, |form, (name, value)| form.field(name, value))).await
}

async fn own_host(node: &Node, site: &Value) -> String {
    let answer = node.get(site["url"].as_str().unwrap()).browser().send().await;
    answer.expect(307).header("location").to_owned()
}

/// The ciphertext inside the viewer, and its script.
#[track_caller]
fn inside(answer: &Answer) -> (Vec<u8>, String) {
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.header("content-type"), "text/html; charset=utf-8");
    assert_eq!(answer.header("cache-control"), "no-store");
    let html = answer.text();
    let (_, rest) = html.split_once("<script type=\"text/plain\" id=\"payload\">").expect("a payload");
    let (payload, rest) = rest.split_once("</script>").unwrap();
    let (script, _) = rest.split_once("<script>").unwrap().1.split_once("</script>").unwrap();
    (STANDARD.decode(payload.trim()).unwrap(), script.to_owned())
}

#[tokio::test]
async fn browsers_get_the_viewer_with_the_ciphertext_and_others_the_bytes() {
    on_each_database(Setup::new, async |node| {
        for len in [29, 30, 31, 100_000, 5_000_000] {
            let bytes = sealed(len);
            let site = published(node, &bytes, &[]).await;
            let own = own_host(node, &site).await;
            let seen = node.get(&own).browser().send().await;
            assert_eq!(inside(&seen).0, bytes, "{len}");
            assert!(!seen.has("content-security-policy") && !seen.has("etag"));
            assert_eq!(seen.header("cross-origin-opener-policy"), "same-origin-allow-popups");
            let html = seen.text();
            assert!(html.contains("_dropleaf/report\"") && !html.contains(" data-anonymous>"), "{len}");
            let head = node.head(&own).browser().send().await.expect(200);
            assert_eq!(head.header("content-length"), seen.body.len().to_string());
            let plain = node.get(site["url"].as_str().unwrap()).send().await.expect(200);
            assert_eq!(plain.body, bytes);
            assert_eq!(plain.header("content-type"), "application/octet-stream");
            assert_eq!(plain.header("cache-control"), "no-store");
            let content = node.get(&format!("{}/content", site_path(&site))).key(&node.key).send().await;
            assert_eq!(content.expect(200).body, bytes);
        }
    })
    .await;
}

#[tokio::test]
async fn strict_policy_allows_the_viewers_script_and_no_other() {
    let node = Node::start().await;
    let site = published(&node, &sealed(100), &[("csp_strict", "true")]).await;
    let seen = node.get(&own_host(&node, &site).await).browser().send().await;
    let (_, script) = inside(&seen);
    let source = format!("'sha256-{}'", STANDARD.encode(Sha256::digest(script)));
    let policy = seen.header("content-security-policy");
    assert!(
        policy.starts_with(&format!(
            "default-src 'none'; script-src 'self' 'wasm-unsafe-eval' {source}; style-src"
        )),
        "{policy}"
    );
    assert!(
        policy.ends_with("sandbox allow-scripts allow-same-origin allow-forms allow-modals allow-downloads")
    );
}

#[tokio::test]
async fn anonymous_page_may_send_neither_forms_nor_anything_else() {
    let node = Node::start().await;
    let form = Form::file("x", sealed(100)).field("e2e", "true");
    let site = node.post("/sites").form(form).send().await.expect(201).json();
    let seen = node.get(&own_host(&node, &site).await).browser().send().await;
    let policy = seen.header("content-security-policy");
    assert!(policy.starts_with("default-src 'none'; ") && policy.ends_with("form-action 'none'"), "{policy}");
    assert!(policy.contains("connect-src data: blob:;") && !policy.contains("http") && !policy.contains('*'));
    assert!(seen.text().contains(" data-anonymous>"));
}

#[tokio::test]
async fn shared_origin_is_a_sandbox() {
    let node = Setup::new().set("isolation", "sandbox").start().await;
    let owned = published(&node, &sealed(100), &[]).await;
    let form = Form::file("x", sealed(100)).field("e2e", "true");
    let nobodys = node.post("/sites").form(form).send().await.expect(201).json();
    for (site, forms) in [(&owned, true), (&nobodys, false)] {
        let seen = node.get(site["url"].as_str().unwrap()).browser().send().await;
        assert_eq!(inside(&seen).0, sealed(100));
        let policy = seen.header("content-security-policy");
        assert!(
            policy.starts_with("sandbox allow-scripts") && !policy.contains("allow-same-origin"),
            "{policy}"
        );
        assert_eq!(policy.contains("allow-forms"), forms);
        assert_eq!(policy.contains("form-action 'none'"), !forms);
        assert!(!seen.has("access-control-allow-origin"));
    }
}

#[tokio::test]
async fn encrypted_page_burns_in_the_viewer() {
    on_each_database(Setup::new, async |node| {
        let bytes = sealed(1000);
        let site = published(node, &bytes, &[("burn_after_read", "true")]).await;
        let own = own_host(node, &site).await;
        let asked = node.get(&own).browser().send().await.expect(200);
        assert!(asked.text().contains("<form method=\"post\">"), "the button keeps what is behind the #");
        let cookie = asked.header("set-cookie").split(';').next().unwrap().to_owned();
        let press =
            node.post(&own).browser().header("sec-fetch-site", "same-origin").header("cookie", &cookie);
        press.send().await.expect(303);
        for _ in 0..2 {
            let seen = node.get(&own).browser().header("cookie", &cookie).send().await;
            assert_eq!(inside(&seen).0, bytes);
            assert_eq!(seen.header("content-security-policy"), "frame-ancestors 'self'");
        }
        node.get(&own).browser().send().await.expect(410);
        node.clock.advance(60);
        node.get(&own).browser().header("cookie", &cookie).send().await.expect(410);
    })
    .await;
}

#[tokio::test]
async fn payload_that_cannot_be_ciphertext_is_400() {
    let node = Node::start().await;
    let mut broken = b"E2E1".to_vec();
    broken.resize(100, 0xff);
    for bytes in [sealed(28), b"E2E1 and too short for a frame".to_vec(), broken] {
        let form = Form::file("x", bytes).field("e2e", "true");
        node.post("/sites").key(&node.key).form(form).send().await.refused(400, "invalid_ciphertext");
    }
}

/// Decrypts like a viewer's browser.
fn open(payload: &[u8], fragment: &str, passphrase: Option<&str>) -> Vec<u8> {
    let secret: [u8; 32] =
        URL_SAFE_NO_PAD.decode(fragment.trim().strip_prefix("#k=").unwrap()).unwrap().try_into().unwrap();
    let key = match passphrase {
        None => secret,
        Some(words) => {
            let rounds = u32::from_be_bytes(payload[8..12].try_into().unwrap());
            let both = [words.as_bytes(), &secret].concat();
            pbkdf2::pbkdf2_hmac_array::<Sha256, 32>(&both, &payload[12..28], rounds)
        }
    };
    let iv: [u8; 12] = payload[28..40].try_into().unwrap();
    let message = Payload { msg: &payload[40..], aad: &payload[..40] };
    Aes256Gcm::new(&key.into()).decrypt(&iv.into(), message).unwrap()
}

#[tokio::test]
async fn encrypt_writes_a_payload_that_its_fragment_opens() {
    let node = Node::start().await;
    let dir = tempfile::TempDir::new().unwrap();
    let at = |name: &str| dir.path().join(name);
    let page = "<!doctype html><title>Sealed</title><p>for your eyes only".repeat(20);
    std::fs::write(at("page.html"), &page).unwrap();
    std::fs::write(at("words.txt"), "correct horse\n").unwrap();
    let dropleaf = Dropleaf::in_dir(dir.path());

    let fragment = dropleaf.prints(&["encrypt", "page.html"]);
    assert_eq!(fragment.lines().count(), 1, "{fragment}");
    let payload = std::fs::read(at("page.html.e2e")).unwrap();
    assert_eq!(open(&payload, &fragment, None), page.as_bytes());
    assert_ne!(dropleaf.prints(&["encrypt", "page.html"]), fragment, "every page has a key of its own");

    let report: Value =
        serde_json::from_str(&dropleaf.prints(&["encrypt", "page.html", "--json", "-o", "sealed"])).unwrap();
    assert_eq!(report["output"], "sealed");
    let payload = std::fs::read(at("sealed")).unwrap();
    assert_eq!(open(&payload, report["fragment"].as_str().unwrap(), None), page.as_bytes());

    let locked = ["encrypt", "page.html", "-o", "out", "--gzip", "--passphrase-file", "words.txt"];
    let fragment = dropleaf.prints(&locked);
    let payload = std::fs::read(at("out")).unwrap();
    assert_eq!(payload[4..6], [1, 1]);
    let mut text = String::new();
    let packed = open(&payload, &fragment, Some("correct horse"));
    flate2::read::GzDecoder::new(&packed[..]).read_to_string(&mut text).unwrap();
    assert_eq!(text, page);
    let site = published(&node, &payload, &[]).await;
    assert_eq!((&site["e2e"], &site["byte_size"]), (&json!(true), &json!(payload.len())));

    std::fs::write(at("empty"), "").unwrap();
    for wrong in [
        &["encrypt", "missing.html"][..],
        &["encrypt", "empty"],
        &["encrypt", "page.html", "--passphrase-file", "empty"],
        &["encrypt", "page.html", "--passphrase-file", "words.txt", "--ask-passphrase"],
    ] {
        dropleaf.complains(wrong);
    }
}

#[tokio::test]
async fn payload_that_is_not_encrypted_is_400() {
    let node = Node::start().await;
    let site = published(&node, &sealed(100), &[]).await;
    assert_eq!(site["warnings"], json!([]));
    let mut program = b"MZ\x90\0".to_vec();
    program.resize(0x3c, 0);
    program.extend([0x80, 0, 0, 0]);
    program.resize(0x80, 0);
    program.extend(b"PE\0\0");
    program.extend(sealed(20_000));
    for bytes in [
        crate::harness::page("Sent in plain text").into_bytes(),
        crate::harness::pdf(),
        STANDARD.encode(sealed(100)).into_bytes(),
        zip(&[("index.html", "<p>x"), ("setup.exe", "MZ")]),
        program.clone(),
        [&vec![0; 0x8001][..], b"CD001", &sealed(5000)].concat(),
        // Wrapping it in our format does not help.
        [b"E2E1\0\0\0\0\0\0\0\0", &sealed(28)[..], &program].concat(),
    ] {
        let form = || Form::file("page.html", &bytes).field("e2e", "true");
        for ask in [
            node.post("/sites"),
            node.post("/sites").key(&node.key),
            node.put(&site_path(&site)).key(&node.key),
            node.post("/check"),
        ] {
            let said = ask.form(form()).send().await.refused(400, "invalid_ciphertext").json();
            assert!(said["error_description"].as_str().unwrap().contains("is not encrypted"), "{said}");
        }
    }
    assert_eq!(node.read_site(&site).await["version"], 1);
}
