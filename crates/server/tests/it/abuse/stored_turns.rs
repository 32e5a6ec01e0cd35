//! Stored content that is shown again is checked with limited concurrency, like uploads: many requests need no more
//! memory.
//! Measured in a separate process whose allocator returns large blocks to the system at once: its resident memory is
//! what it holds, whatever the number of processors and other tests.

use crate::harness::{Form, Node, Setup, page, site_path, zip};
use futures_util::future::join_all;
use serde_json::json;
use std::fs;
use std::process::Command;

/// Marks the separate process in which memory is measured.
const ALONE: &str = "DROPLEAF_TEST_ALONE";
const LARGE: usize = 16 << 20;
/// Enough to need four times the allowed memory if each held only the bytes themselves; and few enough not to remove
/// the version from those that are kept.
const AT_ONCE: usize = 18;

/// A memory figure of this process in bytes.
fn figure(name: &str) -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() << 10
}

async fn rolled_back(node: &Node, path: &str) -> u16 {
    let rollback = node.post(&format!("{path}/rollback")).key(&node.key).json(&json!({"version": 1}));
    rollback.send().await.status
}

#[test]
fn rollbacks_at_once_read_one_after_the_other() {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "abuse::stored_turns::a_process_of_its_own_rolls_back", "--nocapture"])
        .env(ALONE, "1");
    // glibc: one heap for all threads, and blocks of 64 KiB and more are mapped separately and unmapped when freed.
    command
        .env("MALLOC_ARENA_MAX", "1")
        .env("MALLOC_MMAP_THRESHOLD_", "65536")
        .env("MALLOC_MMAP_MAX_", "1000000");
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("MEASURED"), "{said}");
    print!("{said}");
}

/// The same responses in every process; memory is measured only in the one that the test above starts.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "what the first process hands over comes in the environment")]
async fn a_process_of_its_own_rolls_back() {
    let measures = std::env::var(ALONE).is_ok();
    let setup = Setup::new().set("limits.parallel_uploads", "1").set("safety.pii_check", "off");
    let node = setup.start().await;
    let data = "tar mast keel sail oar\n".repeat(LARGE / 23);
    let site =
        node.publish(Form::file("a.zip", zip(&[("index.html", &page("x")), ("data.txt", &data)]))).await;
    drop(data);
    let path = site_path(&site);
    node.put(&path).key(&node.key).form(Form::file("a.html", page("Small"))).send().await.expect(200);
    let before = figure("VmRSS");
    if measures {
        // Resets the peak counter.
        fs::write("/proc/self/clear_refs", "5").unwrap();
    }
    let answers = join_all((0..AT_ONCE).map(|_| rolled_back(&node, &path))).await;
    assert!(
        answers.contains(&200) && answers.iter().all(|status| [200, 409].contains(status)),
        "{answers:?}"
    );
    if !measures {
        return;
    }
    let grown = figure("VmHWM").saturating_sub(before);
    println!("\nMEASURED {} MB for {} MB", grown >> 20, LARGE >> 20);
    assert!(grown < 4 * LARGE, "{} MB for {} MB", grown >> 20, LARGE >> 20);
}
