//! A line on the terminal about an upload that is under way: on standard error, gone at the end, and nothing at all if that is
//! not a terminal.

use crate::cli::output::Size;
use dropleaf_client::Upload;
use std::io::{IsTerminal, Write};
use std::pin::pin;
use std::time::Duration;
use tokio::time::Instant;

/// The shortest time between two changes of the line.
const REDRAW: Duration = Duration::from_millis(100);
const BAR: u64 = 20;
/// So that the line fits an ordinary terminal.
const NAME_CHARACTERS: usize = 20;

/// Runs the call that sends the upload, and shows how far it is.
pub(super) async fn shown<T>(upload: &Upload, call: impl Future<Output = T>) -> T {
    if !std::io::stderr().is_terminal() {
        return call.await;
    }
    let mut call = pin!(call);
    let mut progress = upload.progress();
    let mut line = Line { name: short(upload.name()), total: upload.length(), started: Instant::now() };
    line.draw(0);
    let mut drawn = Instant::now();
    loop {
        tokio::select! {
            // The last byte is shown even if the response is there already.
            biased;
            Ok(()) = progress.changed() => {
                let sent = *progress.borrow_and_update();
                if sent == line.total || drawn.elapsed() >= REDRAW {
                    line.draw(sent);
                    drawn = Instant::now();
                }
            }
            outcome = &mut call => return outcome,
        }
    }
}

/// Erased when it is dropped, also when the upload is interrupted.
struct Line {
    name: String,
    total: u64,
    started: Instant,
}

impl Line {
    fn draw(&mut self, sent: u64) {
        let text = text(&self.name, sent, self.total, self.started.elapsed());
        eprint!("\r{text}\x1b[K");
        let _ = std::io::stderr().flush();
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        eprint!("\r\x1b[K");
        let _ = std::io::stderr().flush();
    }
}

fn text(name: &str, sent: u64, total: u64, elapsed: Duration) -> String {
    if sent >= total {
        return format!("{name}: {} sent, checking…", Size::from(total));
    }
    let filled = sent.saturating_mul(BAR) / total.max(1);
    let bar: String = (0..BAR).map(|at| if at < filled { '#' } else { '-' }).collect();
    let millis = elapsed.as_millis().max(1);
    let rate = u64::try_from(u128::from(sent) * 1000 / millis).unwrap_or(u64::MAX);
    format!("{name} [{bar}] {} of {}, {}/s", Size::from(sent), Size::from(total), Size::from(rate))
}

fn short(name: &str) -> String {
    let name = super::visible(name);
    if name.chars().count() <= NAME_CHARACTERS {
        return name;
    }
    name.chars().take(NAME_CHARACTERS - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_says_how_much_was_sent_how_fast_and_what_comes_last() {
        let line = |sent| text("site.zip", sent, 10 << 20, Duration::from_secs(2));
        assert_eq!(line(0), "site.zip [--------------------] 0 bytes of 10 MiB, 0 bytes/s");
        assert_eq!(line(5 << 20), "site.zip [##########----------] 5 MiB of 10 MiB, 2.5 MiB/s");
        assert_eq!(line(10 << 20), "site.zip: 10 MiB sent, checking…");
        assert_eq!(short("a-name-that-is-rather-long.html"), "a-name-that-is-rath…");
        assert_eq!(short("a\u{1b}[2J"), "a\\u{1b}[2J");
    }
}
