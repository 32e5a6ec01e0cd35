//! Nothing is left of a page after it has burnt.

use crate::access::burn::{asked, own_host, path_of, press, published};
use crate::harness::{Form, Node, Setup, noise, on_each_database, page, site_path};

/// Whether any file in the data folder contains these bytes. A file that is removed during the search does not.
fn on_disk(node: &Node, needle: &[u8]) -> bool {
    fn look(dir: &std::path::Path, needle: &[u8]) -> bool {
        std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).any(|path| {
            if path.is_dir() {
                return look(&path, needle);
            }
            match std::fs::read(&path) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => false,
                read => read.unwrap().windows(needle.len()).any(|part| part == needle),
            }
        })
    }
    look(node.data_dir(), needle)
}

const LEFT: [&str; 4] = [
    "SELECT COUNT(*) FROM blobs",
    "SELECT COUNT(*) FROM bundles",
    "SELECT COUNT(*) FROM site_versions",
    "SELECT COUNT(*) FROM burns",
];

#[tokio::test]
async fn bytes_are_erased_when_the_window_is_over() {
    on_each_database(Setup::new, async |node| {
        let text = "<title>tell-tale title</title>the very words to be forgotten";
        let site = node.publish(Form::file("a.html", text).field("burn_after_read", "true")).await;
        let large = noise("burnt", 40_000);
        let put = node.put(&site_path(&site)).key(&node.key);
        put.form(Form::file("x", &large).field("e2e", "true")).send().await.expect(200);
        let own = own_host(node, site["url"].as_str().unwrap()).await;
        let cookie = asked(node, &own).await;
        press(node, &own, &cookie).send().await.expect(303);
        node.clock.advance(59);
        node.app().sweep().await.unwrap();
        let bytes = node.get(&own).header("cookie", &cookie).send().await.expect(200).body;
        assert_eq!(bytes, large);
        node.clock.advance(1);
        node.app().sweep().await.unwrap();
        for sql in LEFT {
            assert_eq!(node.count(sql).await, 0, "{sql}");
        }
        let title = node.rows("SELECT title FROM sites", Vec::new(), |row| Ok(row.text(0)?.to_owned())).await;
        assert_eq!(title, [""]);
        for words in [b"tell-tale title".as_slice(), b"the very words to be forgotten", &large[..64]] {
            assert!(!on_disk(node, words), "neither in the database, nor in its log, nor in a folder");
        }
        node.get(&own).header("cookie", &cookie).send().await.expect(410);
        node.clock.advance(366 * 86_400);
        node.app().sweep().await.unwrap();
        assert_eq!(node.count("SELECT COUNT(*) FROM sites").await, 0);
    })
    .await;
}

#[tokio::test]
async fn bytes_are_erased_once_a_plain_client_has_them() {
    on_each_database(
        || Setup::new().real_time(),
        async |node| {
            let large = noise("plain", 9_000_000);
            let site =
                node.publish(Form::file("x", &large).field("e2e", "true").field("burn_after_read", "true"));
            let url = site.await["url"].as_str().unwrap().to_owned();
            assert_eq!(node.get(&url).send().await.expect(200).body, large);
            // The server erases in the background after its response: first the row, then the file.
            let start = std::time::Instant::now();
            while node.count("SELECT COUNT(*) FROM blobs").await > 0 || on_disk(node, &large[..64]) {
                assert!(start.elapsed() < std::time::Duration::from_mins(2), "the bytes are still there");
                tokio::task::yield_now().await;
            }
        },
    )
    .await;
}

#[tokio::test]
async fn start_erases_what_a_crash_left() {
    let node = Node::start().await;
    let (_, url) = published(&node, "Interrupted").await;
    let own = own_host(&node, &url).await;
    let cookie = asked(&node, &own).await;
    press(&node, &own, &cookie).send().await.expect(303);
    let dir = node.stop().await;
    let node = Setup::new().start_in(dir).await;
    assert_eq!(node.get(path_of(&url)).send().await.status, 410);
    node.clock.advance(60);
    node.app().sweep().await.unwrap();
    assert_eq!(node.count("SELECT COUNT(*) FROM blobs").await, 0);
}

#[tokio::test]
async fn bytes_that_another_page_shares_stay() {
    let node = Node::start().await;
    let (_, url) = published(&node, "Twin").await;
    let twin = node.publish_page("Twin").await;
    node.get(&url).send().await.expect(200);
    node.clock.advance(60);
    node.app().sweep().await.unwrap();
    assert_eq!(node.get(twin["url"].as_str().unwrap()).send().await.expect(200).text(), page("Twin"));
}
