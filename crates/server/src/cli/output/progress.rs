//! A line that shows the progress of a command while it runs, and leaves nothing behind.

use std::io::{IsTerminal, Write};

/// Shows the text in a line that the next call overwrites; silent if standard error is not a terminal.
pub(in crate::cli) fn show_progress(text: &str) {
    write(&format!("\r{text}\x1b[K"));
}

/// Removes the line, so that the next message starts where it was.
pub(in crate::cli) fn clear_progress() {
    write("\r\x1b[K");
}

fn write(text: &str) {
    let mut out = std::io::stderr().lock();
    if out.is_terminal() {
        // Progress is a courtesy: the command goes on without it.
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }
}
