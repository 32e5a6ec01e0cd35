//! `--watch`: publishes again when something changes, whatever happens in between.

use super::{Machine, version};
use crate::harness::{Node, Setup, harvest, in_time, page};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// A running `dropleaf publish --watch`.
struct Watching {
    child: Child,
    /// The ID of its page; the first, if it has several.
    id: String,
    /// The IDs of its other pages.
    other_ids: Vec<String>,
    notes: UnboundedReceiver<String>,
}

impl Watching {
    async fn start(machine: &Machine, path: &str) -> Self {
        Self::start_all(machine, &[path]).await
    }

    async fn start_all(machine: &Machine, paths: &[&str]) -> Self {
        let mut command = machine.dropleaf.command(&[&["publish", "--watch", "--json"], paths].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let (send, notes) = unbounded_channel();
        std::thread::spawn(move || stderr.lines().map_while(Result::ok).try_for_each(|line| send.send(line)));
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (send, mut lines) = unbounded_channel();
        std::thread::spawn(move || {
            stdout.lines().map_while(Result::ok).for_each(|line| drop(send.send(line)));
        });
        let mut ids = Vec::new();
        for path in paths {
            let line = in_time(&format!("the first version of {path}"), lines.recv()).await.unwrap();
            let site: serde_json::Value = serde_json::from_str(&line).unwrap();
            ids.push(site["id"].as_str().unwrap().to_owned());
        }
        let mut watching = Self { child, id: ids.remove(0), other_ids: ids, notes };
        watching.note("Watching for changes").await;
        watching
    }

    /// Waits for a line with these words.
    async fn note(&mut self, words: &str) -> String {
        in_time(words, async {
            while let Some(line) = self.notes.recv().await {
                if line.contains(words) {
                    return line;
                }
            }
            panic!("it ended without saying: {words}");
        })
        .await
    }

    /// Waits until the server has a newer version than this; returns how long that took.
    async fn newer(&self, node: &Node, than: i64) -> Duration {
        let start = Instant::now();
        in_time("a new version", async {
            while version(node, &self.id).await <= than {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        })
        .await;
        start.elapsed()
    }

    /// Presses Ctrl-C.
    async fn interrupt(mut self) -> Option<i32> {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        in_time("the end", tokio::task::spawn_blocking(move || self.child.wait().unwrap().code()))
            .await
            .unwrap()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_are_published_within_a_second() {
    let node = Node::start().await;
    let machine = Machine::with_key(&node);
    machine.file("site/index.html", page("Start"));
    let watching = Watching::start(&machine, "site").await;
    let mut fastest = Duration::MAX;
    // The fastest of five counts, because the machine may be busy.
    for number in 1..=5 {
        let before = version(&node, &watching.id).await;
        machine.file("site/index.html", page(&format!("Change {number}")));
        fastest = fastest.min(watching.newer(&node, before).await);
    }
    assert!(fastest < Duration::from_secs(1), "{fastest:?}");
    // A new folder, and a file in it.
    let before = version(&node, &watching.id).await;
    machine.file("site/new/folder/a.css", "a");
    watching.newer(&node, before).await;
    // The folder is built again from nothing.
    let before = version(&node, &watching.id).await;
    std::fs::remove_dir_all(machine.home.path().join("site")).unwrap();
    machine.file("site/index.html", page("Rebuilt"));
    watching.newer(&node, before).await;
    let before = version(&node, &watching.id).await;
    machine.file("site/index.html", page("And changed"));
    watching.newer(&node, before).await;
    assert_eq!(watching.interrupt().await, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn replaced_file_and_refused_version() {
    let node = Node::start().await;
    let machine = Machine::with_key(&node);
    machine.file("page.html", page("Start"));
    let mut watching = Watching::start(&machine, "page.html").await;
    // As many editors save.
    let new = machine.file(".page.html.swp", page("Saved"));
    std::fs::rename(new, machine.home.path().join("page.html")).unwrap();
    watching.newer(&node, 1).await;
    machine.file("page.html", harvest("refused"));
    let line = watching.note("page.html was not published").await;
    assert!(line.starts_with("dropleaf: "), "{line}");
    assert_eq!(version(&node, &watching.id).await, 2);
    machine.file("page.html", page("Corrected"));
    watching.note("Published version 3").await;
    assert_eq!(watching.interrupt().await, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn same_content_is_no_new_version() {
    let node = Node::start().await;
    let machine = Machine::with_key(&node);
    machine.file("a.html", page("Same"));
    machine.file("b.html", page("Start"));
    let mut watching = Watching::start_all(&machine, &["a.html", "b.html"]).await;
    // Changes are noticed in order and published in the order of the paths, so the first page would get its version before
    // the second.
    machine.file("a.html", page("Same"));
    machine.file("b.html", page("Changed"));
    watching.note("Published version 2 of b.html").await;
    assert_eq!(version(&node, &watching.other_ids[0]).await, 2);
    assert_eq!(version(&node, &watching.id).await, 1);
    // It is still watched.
    machine.file("a.html", page("Different"));
    watching.note("Published version 2 of a.html").await;
    assert_eq!(watching.interrupt().await, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn server_that_is_away_for_a_while_gets_the_latest_version() {
    let node = Node::start().await;
    let (key, url) = (node.key.clone(), node.base_url());
    let machine = Machine::anonymous(&url).key(&key);
    machine.file("page.html", page("Start"));
    let mut watching = Watching::start(&machine, "page.html").await;
    let (dir, port) = node.stop_for_restart().await;
    machine.file("page.html", page("While it was away"));
    watching.note(&format!("cannot reach {url}")).await;
    machine.file("page.html", page("The latest"));
    let mut node = Setup::new().port(port).start_in(dir).await;
    node.key = key;
    watching.note("Published version 2").await;
    watching.newer(&node, 1).await;
    let site = node.get(&format!("/sites/{}/content", watching.id)).key(&node.key).send().await.expect(200);
    assert!(site.text().contains("The latest"), "{}", site.text());
    assert_eq!(watching.interrupt().await, Some(0));
}
