//! The bridge at work: one message in each line of standard input, one in each line of standard output, and words for
//! people on standard error alone.

use crate::cli::person::{Surroundings, warn_if_readable};
use anyhow::Result;
use clap::Args;
use dropleaf_client::mcp::{Bridge as Carrier, BridgeOptions, Line, Lines};
use std::io::{BufReader, Write};
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

/// Lines that wait for the other side; each may be as long as a page.
const WAITING: usize = 8;
/// How long a client has to read the last lines.
const LAST_LINES: Duration = Duration::from_secs(10);

#[derive(Debug, Args)]
pub(super) struct Bridge {
    /// The server (default: `DROPLEAF_URL`, the one signed in to last, or <http://localhost:8080>)
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// How long a message waits for a server that is away
    #[arg(long, value_name = "SECONDS", default_value_t = 8)]
    wait: u64,
}

impl Bridge {
    pub(super) async fn run(self, around: &Surroundings) -> Result<()> {
        let server = around.server(self.server.as_deref())?;
        match around.key(self.server.as_deref(), &server) {
            Ok(Some(_)) => warn_if_readable(&server),
            Ok(None) => {}
            // Somebody may sign in while it runs, and whoever asks hears the server's own refusal.
            Err(error) => eprintln!("dropleaf mcp: {error:#}"),
        }
        let (keys, named, at) = (around.clone(), self.server, server.clone());
        let options = BridgeOptions {
            server,
            keys: Box::new(move || keys.key(named.as_deref(), &at).ok().flatten()),
            patience: Duration::from_secs(self.wait),
            notes: Box::new(|words| eprintln!("dropleaf mcp: {words}")),
        };
        let (out, written) = mpsc::channel(WAITING);
        let bridge = Carrier::new(options, out)?;
        let lines = read_lines();
        let through = write_lines(written);
        let mut asked_to_go = signal(SignalKind::terminate())?;
        let stop = async {
            tokio::select! {
                _ = asked_to_go.recv() => {}
                _ = tokio::signal::ctrl_c() => {}
            }
        };
        bridge.run(lines, stop).await;
        // Everything that could write has ended, so the writer has too when it is through. A client that keeps its end
        // open and does not read must not keep us.
        let _ = timeout(LAST_LINES, through).await;
        Ok(())
    }
}

/// On a thread of its own, which the end of the program does not wait for: nothing can interrupt a read.
fn read_lines() -> mpsc::Receiver<Line> {
    let (send, lines) = mpsc::channel(WAITING);
    std::thread::spawn(move || {
        for line in Lines::new(BufReader::new(std::io::stdin())) {
            let Ok(line) = line else { return };
            if send.blocking_send(line).is_err() {
                return;
            }
        }
    });
    lines
}

/// One writer, so that lines never mix. It ends with the last line, or when nobody reads them.
fn write_lines(mut written: mpsc::Receiver<Vec<u8>>) -> oneshot::Receiver<()> {
    let (done, through) = oneshot::channel();
    std::thread::spawn(move || {
        // Dropped with the thread, which is what the other side waits for.
        let _done: oneshot::Sender<()> = done;
        let mut out = std::io::stdout();
        while let Some(mut line) = written.blocking_recv() {
            line.push(b'\n');
            if out.write_all(&line).and_then(|()| out.flush()).is_err() {
                return;
            }
        }
    });
    through
}
