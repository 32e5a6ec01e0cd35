//! The progress line of backups and restores.

use dropleaf_store::backup::Progress;
use std::io::{IsTerminal, Write};

/// A progress line that overwrites itself; silent if standard error is not a terminal.
pub(super) fn show(progress: Progress) {
    if !std::io::stderr().is_terminal() {
        return;
    }
    let bar = |done: u64, total: u64| {
        let filled = usize::try_from(done * 30 / total.max(1)).unwrap_or(30);
        format!("[{:<30}] {done}/{total}", "#".repeat(filled.min(30)))
    };
    match progress {
        Progress::Waiting => eprint!("\rwaiting until old backups are deleted …\x1b[K"),
        Progress::Verifying { done, total } => eprint!("\rchecking     {}\x1b[K", bar(done, total)),
        Progress::Database => eprint!("\rdatabase …\x1b[K"),
        Progress::Objects { done, total } => eprint!("\rlarge files  {}\x1b[K", bar(done, total)),
    }
    let _ = std::io::stderr().flush();
}

pub(super) fn end_line() {
    if std::io::stderr().is_terminal() {
        eprintln!();
    }
}
