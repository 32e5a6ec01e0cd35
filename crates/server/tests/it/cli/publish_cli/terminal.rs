//! The progress of an upload: on a terminal, gone at the end, and nowhere else.

use super::{Machine, text};
use crate::harness::{Node, noise, page};
use std::process::{Command, Stdio};

#[tokio::test(flavor = "multi_thread")]
async fn progress_is_shown_on_a_terminal_only() {
    let node = Node::start().await;
    let machine = Machine::with_key(&node);
    machine.file("site/index.html", page("Large"));
    machine.file("site/noise.png", noise("large", 20 << 20));
    let (link, notes) = machine.publish(&["site"]);
    assert!(!notes.contains('\r') && !notes.contains("sent"), "{notes}");

    // `script` runs the command in a pseudo-terminal. Standard output stays a file.
    let command = format!("'{}' publish site >link", env!("CARGO_BIN_EXE_dropleaf"));
    let output = Command::new("script")
        .args(["-qec", &command, "/dev/null"])
        .current_dir(machine.home.path())
        .env("HOME", machine.home.path())
        .env("SHELL", "/bin/sh")
        .env("DROPLEAF_URL", node.base_url())
        .env("DROPLEAF_API_KEY", &node.key)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let shown = text(&output.stdout);
    assert!(output.status.success(), "{shown}");
    assert_eq!(std::fs::read_to_string(machine.home.path().join("link")).unwrap().trim(), link);
    let frames: Vec<&str> = shown.split('\r').collect();
    assert!(frames[1].starts_with("site.zip [--------------------] 0 bytes of 20 MiB, "), "{frames:?}");
    let checking = frames.iter().position(|frame| frame.starts_with("site.zip: 20 MiB sent, checking…"));
    let checking = checking.unwrap_or_else(|| panic!("{frames:?}"));
    assert!(
        checking > 1 && frames[checking + 1].starts_with("\u{1b}[K"),
        "it is gone at the end: {frames:?}"
    );
    assert!(!frames[checking + 1..].iter().any(|frame| frame.contains("site.zip")), "{frames:?}");
}
