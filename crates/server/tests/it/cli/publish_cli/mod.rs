//! `dropleaf publish`: the real binary against a running server.

mod encrypted;
mod paths;
mod same_page;
mod terminal;
mod watch;

use crate::harness::{Dropleaf, Node};
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use tempfile::TempDir;

/// A person's machine: a home folder, a folder to work in, and the address of the server.
struct Machine {
    home: TempDir,
    server: String,
    dropleaf: Dropleaf,
}

impl Machine {
    fn anonymous(server: &str) -> Self {
        let home = TempDir::new().unwrap();
        let dropleaf = Dropleaf::in_dir(home.path());
        Self { home, server: server.to_owned(), dropleaf }.without_key()
    }

    /// The same machine, signed out.
    fn without_key(self) -> Self {
        let dropleaf = Dropleaf::in_dir(self.home.path())
            .env("HOME", self.home.path().to_str().unwrap())
            .env("DROPLEAF_URL", &self.server);
        Self { dropleaf, ..self }
    }

    fn with_key(node: &Node) -> Self {
        Self::anonymous(&node.base_url()).key(&node.key)
    }

    /// From now on the commands use this key.
    fn key(self, key: &str) -> Self {
        self.env("DROPLEAF_API_KEY", key)
    }

    fn env(self, name: &str, value: &str) -> Self {
        Self { dropleaf: self.dropleaf.env(name, value), ..self }
    }

    /// Creates a file with its folders.
    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.home.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    fn link(&self, target: &Path, name: &str) {
        std::os::unix::fs::symlink(target, self.home.path().join(name)).unwrap();
    }

    fn record(&self) -> PathBuf {
        self.home.path().join(".config/dropleaf/published.json")
    }

    /// Publishes successfully; returns what it printed and its notes.
    #[track_caller]
    fn publish(&self, args: &[&str]) -> (String, String) {
        let output = self.dropleaf.run(&[&["publish"], args].concat());
        let (out, notes) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{notes}");
        (out.trim().to_owned(), notes)
    }

    #[track_caller]
    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.publish(&[args, &["--json"]].concat()).0).unwrap()
    }

    /// Fails to publish; returns the exit code and what it said.
    #[track_caller]
    fn refused(&self, args: &[&str]) -> (i32, String) {
        let output = self.dropleaf.run(&[&["publish"], args].concat());
        assert_eq!(text(&output.stdout), "", "nothing was published");
        (output.status.code().unwrap(), text(&output.stderr))
    }

    /// Publishes what is on standard input.
    fn pipe(&self, args: &[&str], input: &[u8]) -> Output {
        let mut command = self.dropleaf.command(&[&["publish"], args].concat());
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = pipes.spawn().unwrap();
        // A command that does not want it may be gone already.
        let _ = child.stdin.take().unwrap().write_all(input);
        child.wait_with_output().unwrap()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The number of pages that the operator has.
async fn page_count(node: &Node) -> usize {
    let list = node.get("/sites").key(&node.key).send().await.expect(200).json();
    list["sites"].as_array().unwrap().len()
}

async fn version(node: &Node, id: &str) -> i64 {
    let site = node.get(&format!("/sites/{id}")).key(&node.key).send().await.expect(200).json();
    site["version"].as_i64().unwrap()
}
