//! Runs the real binary in a temporary folder with an environment controlled by the test.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

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
}
