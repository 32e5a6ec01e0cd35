//! What commands print: JSON for programs, tables and details for people. Everything that comes from a server or from a stored
//! page goes through `visible` before it reaches a terminal.

mod details;
mod moment;
mod progress;
mod prompt;
mod table;
mod terminal;

pub(super) use details::Details;
pub(super) use dropleaf_client::visible;
pub(super) use dropleaf_pages::Size;
pub(super) use moment::Now;
pub(super) use progress::{clear_progress, show_progress};
pub(super) use prompt::{Confirmation, confirm};
pub(super) use table::{Cell, Column, Table};
pub(super) use terminal::{columns, is_terminal};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use anyhow::{Context, Result};
use serde::Serialize;
use std::io::{ErrorKind, Write as _};

pub(super) const HEADING: Style = Style::new().bold();
pub(super) const GOOD: Style = AnsiColor::Green.on_default();
pub(super) const BAD: Style = AnsiColor::Red.on_default();
pub(super) const WARNING: Style = AnsiColor::Yellow.on_default();
pub(super) const FAINT: Style = Style::new().dimmed();

/// Prints a result. A reader that closes the pipe early is not an error. Colours are removed unless standard output is a terminal
/// that wants them (`NO_COLOR`, `CLICOLOR`, `TERM`).
pub(super) fn print_line(text: &str) -> Result<()> {
    let out = std::io::stdout().lock();
    let colors = if is_terminal() { AutoStream::choice(&out) } else { ColorChoice::Never };
    let mut out = AutoStream::new(out, colors);
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(error).context("cannot write to standard output")
        }
        _ => Ok(()),
    }
}

/// Prints a value for programs, indented. JSON escapes control characters itself.
pub(super) fn print_json(value: &impl Serialize) -> Result<()> {
    print_line(&serde_json::to_string_pretty(value)?)
}

/// A size for people.
pub(super) fn size(bytes: u64) -> Size {
    Size(i64::try_from(bytes).unwrap_or(i64::MAX))
}

/// At most `most` characters of untrusted text.
pub(super) fn shortened(text: &str, most: usize) -> String {
    let short: String = text.chars().take(most).collect();
    visible(&short)
}
