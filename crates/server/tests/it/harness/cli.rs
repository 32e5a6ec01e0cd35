//! Runs the real binary in a temporary folder with an environment controlled by the test.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

#[derive(Debug)]
pub(crate) struct Dropleaf {
    dir: PathBuf,
    env: Vec<(String, String)>,
}

impl Dropleaf {
    pub(crate) fn in_dir(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), env: Vec::new() }
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dropleaf"));
        command.current_dir(&self.dir).env_clear().envs(self.env.iter().cloned()).args(args);
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Runs a command that must succeed; returns its output.
    #[track_caller]
    pub(crate) fn prints(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs a command that must fail; returns its error output.
    #[track_caller]
    pub(crate) fn complains(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        String::from_utf8(output.stderr).unwrap()
    }

    /// Runs a command in a pseudo-terminal with this many columns, and types `input`. Returns the exit code and what the terminal
    /// received, with plain line breaks.
    pub(crate) fn on_terminal(&self, columns: u16, args: &[&str], input: &str) -> (i32, String) {
        let quoted = |word: &str| format!("'{}'", word.replace('\'', "'\\''"));
        let words: Vec<String> =
            std::iter::once(env!("CARGO_BIN_EXE_dropleaf")).chain(args.iter().copied()).map(quoted).collect();
        let line = format!("stty cols {columns} && exec {}", words.join(" "));
        let mut child = Command::new("script")
            .args(["--quiet", "--return", "--command", &line, "/dev/null"])
            .current_dir(&self.dir)
            .env_clear()
            .envs([("TERM", "xterm-256color"), ("PATH", "/usr/bin:/bin"), ("SHELL", "/bin/sh")])
            .envs(self.env.iter().cloned())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // Stays open: its end would be typed as well.
        let mut keyboard = child.stdin.take().unwrap();
        keyboard.write_all(input.as_bytes()).unwrap();
        let mut screen = Vec::new();
        child.stdout.take().unwrap().read_to_end(&mut screen).unwrap();
        let code = child.wait().unwrap().code().unwrap();
        (code, String::from_utf8(screen).unwrap().replace("\r\n", "\n"))
    }
}

/// A running program that a failed test does not leave behind.
#[derive(Debug)]
pub(crate) struct Background(pub(crate) Child);

impl Drop for Background {
    fn drop(&mut self) {
        let _ = self.0.kill();
    }
}
