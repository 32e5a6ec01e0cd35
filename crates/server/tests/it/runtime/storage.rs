//! Bodies outside the database: an S3 server, and how often an uncached page is fetched from it.

use crate::harness::{Database, Form, Node, Setup, noise, page, s3_url, site_path, zip};
use dropleaf::tasks::Tasks;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

fn on_s3(url: &str) -> Setup {
    Setup::new().set("blobs_url", url).set("storage.inline_bytes", "0")
}

#[tokio::test]
async fn whole_life_of_a_page_on_s3() {
    let databases = [Database::Sqlite, Database::postgres().await];
    for database in databases {
        let node = on_s3(&s3_url()).database(database.clone()).start().await;
        life(&node).await;
        node.stop().await;
        database.remove().await;
    }
}

async fn life(node: &Node) {
    let archive = zip(&[("index.html", &page("On S3")), ("a.css", "p{}"), ("b.css", "b{}")]);
    let site = node.publish(Form::file("s.zip", archive)).await;
    let url = site["url"].as_str().unwrap();
    assert_eq!(node.count("SELECT COUNT(*) FROM blobs WHERE body IS NOT NULL").await, 0);
    assert_eq!(node.count("SELECT COUNT(*) FROM blobs WHERE object_key IS NOT NULL").await, 3);
    assert_eq!(node.get(url).send().await.expect(200).text(), page("On S3"));
    assert_eq!(node.get(&format!("{url}b.css")).send().await.expect(200).text(), "b{}");

    let large = noise("s3", 6 << 20);
    let put = node.put(&site_path(&site)).key(&node.key).form(Form::file("x", &large).field("e2e", "true"));
    put.send().await.expect(200);
    let whole = node.get(url).send().await.expect(200);
    assert!(whole.body == large);
    let part = node.get(url).header("range", "bytes=1000000-1000999").send().await.expect(206);
    assert!(part.body == large[1_000_000..1_001_000]);
    let back = node.post(&format!("{}/rollback", site_path(&site))).key(&node.key);
    back.json(&json!({"version": 1})).send().await.expect(200);
    assert_eq!(node.get(url).send().await.expect(200).text(), page("On S3"));

    node.delete(&format!("{}?purge=true", site_path(&site))).key(&node.key).send().await.expect(200);
    assert_eq!(node.count("SELECT COUNT(*) FROM blobs").await, 0);
    node.get(url).send().await.expect(410);
}

#[tokio::test]
async fn cold_page_asked_by_64_at_once_is_loaded_once() {
    let url = s3_url();
    let (_, rest) = url.split_once("endpoint=http://").unwrap();
    let (server, _) = rest.split_once('&').unwrap();
    let counter = Counter::start(server.to_owned()).await;
    let through = url.replace(server, &counter.address);
    // A restart for each part, so that the page is not cached.
    let node = on_s3(&through).start().await;
    let site = node.publish_page("Cold").await;
    let path = format!("/p/{}/", site["unlisted_token"].as_str().unwrap());
    let dir = node.stop().await;
    let node = on_s3(&through).start_in(dir).await;
    let before = counter.reads.load(Ordering::SeqCst);
    let views = futures_util::future::join_all((0..64).map(|_| node.get(&path).send())).await;
    for view in views {
        assert_eq!(view.expect(200).text(), page("Cold"));
    }
    assert_eq!(counter.reads.load(Ordering::SeqCst) - before, 1);
    node.stop().await;
    counter.tasks.stopping.cancel();
}

/// Forwards connections to the S3 server and counts read requests.
struct Counter {
    address: String,
    reads: Arc<AtomicUsize>,
    tasks: Tasks,
}

impl Counter {
    async fn start(server: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (reads, tasks) = (Arc::new(AtomicUsize::new(0)), Tasks::default());
        let (seen, inner) = (Arc::clone(&reads), tasks.clone());
        tasks.spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let upstream = TcpStream::connect(&server).await.unwrap();
                inner.spawn(pass(client, upstream, Arc::clone(&seen)));
            }
        });
        Self { address, reads, tasks }
    }
}

async fn pass(client: TcpStream, upstream: TcpStream, reads: Arc<AtomicUsize>) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = upstream.into_split();
    let up = async {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(n @ 1..) = from_client.read(&mut buffer).await {
            // A read has no body, so each starts a new chunk.
            reads.fetch_add(usize::from(buffer[..n].starts_with(b"GET /")), Ordering::SeqCst);
            if to_server.write_all(&buffer[..n]).await.is_err() {
                break;
            }
        }
    };
    let down = async {
        let _either_side_may_end_it = tokio::io::copy(&mut from_server, &mut to_client).await;
    };
    tokio::select! { () = up => {}, () = down => {} }
}
