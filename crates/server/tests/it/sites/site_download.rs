//! `GET /sites/{idOrSlug}/download`: the files of a version as they were uploaded. Spec §4.

use crate::harness::{Answer, Form, Node, Setup, noise, on_each_database, page, pdf, site_path, zip};
use dropleaf_content::hostile::{Archive, Item};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{Cursor, Read};

async fn download(node: &Node, site: &Value, query: &str) -> Answer {
    node.get(&format!("{}/download{query}", site_path(site))).key(&node.key).send().await
}

fn unzip(bytes: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mut files = BTreeMap::new();
    for at in 0..archive.len() {
        let mut entry = archive.by_index(at).unwrap();
        let mut body = Vec::new();
        entry.read_to_end(&mut body).unwrap();
        files.insert(entry.name().unwrap().into_owned(), body);
    }
    files
}

#[tokio::test]
async fn a_single_file_is_downloaded_as_it_was_uploaded_under_its_own_name() {
    on_each_database(Setup::new, async |node| {
        let notebook = r##"{"cells":[{"cell_type":"markdown","metadata":{},"source":["# Hi"]}],"metadata":{},"nbformat":4,"nbformat_minor":5}"##;
        for (name, body, mime) in [
            ("über uns.html", page("Us").into_bytes(), "text/html"),
            ("notes.md", b"# Hello\n".to_vec(), "text/markdown"),
            ("paper.pdf", pdf(), "application/pdf"),
            ("numbers.csv", b"a,b\n1,2\n".to_vec(), "text/csv"),
            ("work.ipynb", notebook.as_bytes().to_vec(), "application/json"),
        ] {
            let site = node.publish(Form::file(name, &body)).await;
            let answer = download(node, &site, "").await.expect(200);
            assert!(answer.body == body, "{name}");
            assert!(answer.header("content-type").starts_with(mime), "{name}: {answer:?}");
            let disposition = answer.header("content-disposition");
            assert!(disposition.starts_with("attachment; filename*=UTF-8''"), "{disposition}");
            assert!(disposition.ends_with(&name.replace('ü', "%C3%BC").replace(' ', "%20")), "{disposition}");
            assert_eq!(answer.header("content-security-policy"), "sandbox; default-src 'none'");
            assert_eq!(answer.header("cache-control"), "no-store");
        }
        let secret = noise("ciphertext", 300_000);
        let site = node.publish(Form::file("x", &secret).field("e2e", "true")).await;
        assert!(download(node, &site, "").await.expect(200).body == secret);
    })
    .await;
}

#[tokio::test]
async fn an_archive_is_downloaded_as_the_same_zip_each_time_and_can_be_published_again() {
    on_each_database(Setup::new, async |node| {
        let (index, style) = (page("Zipped"), "p{color:red}".repeat(1000));
        let files = [("index.html", index.as_str()), ("css/ü.css", &style), ("empty.txt", "")];
        let site = node.publish(Form::file("site.zip", zip(&files)).field("slug", "my-archive")).await;
        let answer = download(node, &site, "").await.expect(200);
        assert_eq!(answer.header("content-type"), "application/zip");
        assert_eq!(answer.header("content-disposition"), "attachment; filename*=UTF-8''my-archive.zip");
        let found = unzip(&answer.body);
        let sent: BTreeMap<_, _> =
            files.iter().map(|(name, body)| ((*name).to_owned(), body.as_bytes().to_vec())).collect();
        assert_eq!(found, sent);
        assert!(download(node, &site, "").await.expect(200).body == answer.body, "not deterministic");
        let again = node.publish(Form::file("again.zip", &answer.body)).await;
        let copy = download(node, &again, "").await.expect(200);
        assert_eq!(unzip(&copy.body), sent);
    })
    .await;
}

#[tokio::test]
async fn every_kept_version_can_be_downloaded_and_no_other() {
    let node = Node::start().await;
    let site = node.publish_page("One").await;
    let put = node.put(&site_path(&site)).key(&node.key);
    put.form(Form::file("two.md", "# Two\n")).send().await.expect(200);
    assert_eq!(download(&node, &site, "?version=1").await.expect(200).text(), page("One"));
    let second = download(&node, &site, "?version=2").await.expect(200);
    assert_eq!(second.text(), "# Two\n");
    assert_eq!(second.header("content-disposition"), "attachment; filename*=UTF-8''two.md");
    assert_eq!(download(&node, &site, "").await.expect(200).text(), "# Two\n");
    download(&node, &site, "?version=3").await.refused(404, "not_found");
    for bad in ["?version=0", "?version=-1", "?version=x", "?version="] {
        download(&node, &site, bad).await.refused(400, "invalid_field");
    }
}

#[tokio::test]
async fn only_the_owner_of_a_page_that_is_not_gone_downloads_it() {
    let node = Node::start().await;
    let site = node.publish_page("Mine").await;
    let path = format!("{}/download", site_path(&site));
    node.get(&path).send().await.refused(401, "auth required");
    let other = node.account("solo").await;
    node.get(&path).key(&other).send().await.refused(404, "not_found");
    node.delete(&site_path(&site)).key(&node.key).send().await.expect(200);
    download(&node, &site, "").await.refused(404, "not_found");

    let burn = node.publish(Form::file("a.html", page("Once")).field("burn_after_read", "true")).await;
    download(&node, &burn, "").await.expect(200);
    node.app().take_down("tests", burn["id"].as_str().unwrap(), "a test").await.unwrap();
    download(&node, &burn, "").await.refused(404, "not_found");
}

#[tokio::test]
async fn five_thousand_files_and_a_large_one_are_streamed_in_full() {
    let node = Setup::new().set("limits.files", "6000").start().await;
    let large = noise("large", 12 << 20);
    let mut archive = Archive::default().item(Item::deflated("index.html", page("Many").as_bytes()));
    archive = archive.item(Item::deflated("large.bin", &large));
    for n in 0..4998 {
        archive =
            archive.item(Item::deflated(format!("d{}/f{n}.txt", n % 50), format!("file {n}").as_bytes()));
    }
    let site = node.publish(Form::file("many.zip", archive.build().bytes)).await;
    let found = unzip(&download(&node, &site, "").await.expect(200).body);
    assert_eq!(found.len(), 5000);
    assert!(found["large.bin"] == large);
    assert_eq!(found["d47/f4997.txt"], b"file 4997");
}
