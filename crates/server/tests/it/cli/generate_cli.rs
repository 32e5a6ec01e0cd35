//! `dropleaf completions` and `dropleaf man`: usable by shells and packages.

use crate::harness::Dropleaf;
use std::process::Command;
use tempfile::TempDir;

#[test]
fn completions_know_every_command_and_shells_can_read_them() {
    let dir = TempDir::new().unwrap();
    let dropleaf = Dropleaf::in_dir(dir.path());
    let names = ["publish", "rollback", "takedown", "completions"];
    for shell in ["bash", "zsh", "fish"] {
        let script = dropleaf.prints(&["completions", shell]);
        for name in names {
            assert!(script.contains(name), "{shell}: {name}");
        }
    }
    let file = dir.path().join("dropleaf.bash");
    std::fs::write(&file, dropleaf.prints(&["completions", "bash"])).unwrap();
    // What bash offers after `dropleaf ro`, and after `dropleaf share l`.
    for (words, offer) in [("dropleaf ro", "rollback"), ("dropleaf share l", "list")] {
        let script = format!(
            ". '{}'; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _dropleaf dropleaf \"${{COMP_WORDS[COMP_CWORD]}}\" \"\"; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            file.display()
        );
        let output = Command::new("bash").args(["-c", &script]).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert_eq!(said.trim(), offer, "{words}: {}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(dropleaf.run(&["completions", "cmd"]).status.code(), Some(2));
}

#[test]
fn every_command_has_a_manual_page_and_they_are_always_the_same() {
    let dir = TempDir::new().unwrap();
    let dropleaf = Dropleaf::in_dir(dir.path());
    for folder in ["a/man1", "b/man1"] {
        dropleaf.prints(&["man", folder]);
    }
    let read = |folder: &str| {
        let entries = std::fs::read_dir(dir.path().join(folder)).unwrap().map(|entry| entry.unwrap());
        let mut pages: Vec<_> = entries
            .map(|entry| {
                let name = entry.file_name().into_string().unwrap();
                (name, std::fs::read_to_string(entry.path()).unwrap())
            })
            .collect();
        pages.sort();
        pages
    };
    let pages = read("a/man1");
    assert_eq!(pages, read("b/man1"));
    for name in ["dropleaf.1", "dropleaf-publish.1", "dropleaf-share-list.1", "dropleaf-backup-restore.1"] {
        let (_, text) = pages.iter().find(|(page, _)| page == name).unwrap_or_else(|| panic!("no {name}"));
        assert!(text.contains(".TH") && text.contains(".SH SYNOPSIS"), "{name}: {text}");
    }
}
