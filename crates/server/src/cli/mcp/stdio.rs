//! Runs the MCP bridge: one message per line on standard input and output, and messages for people on standard error.

use crate::cli::remote::{ClientEnvironment, warn_if_readable};
use anyhow::Result;
use clap::Args;
use dropleaf_client::mcp::{Bridge as Carrier, BridgeOptions, Line, Lines};
use std::io::{BufReader, Write};
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

/// Queued lines in each direction; each may be as long as a page.
const WAITING: usize = 8;
/// How long a client has to read the last lines.
const LAST_LINES: Duration = Duration::from_secs(10);

#[derive(Debug, Args)]
pub(super) struct Bridge {
    /// The server (default: `DROPLEAF_URL`, the server you last signed in to, or <http://localhost:8080>)
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// How long a message waits for an unreachable server
    #[arg(long, value_name = "SECONDS", default_value_t = 8)]
    wait: u64,
}

impl Bridge {
    pub(super) async fn run(self, environment: &ClientEnvironment) -> Result<()> {
        let server = environment.server(self.server.as_deref())?;
        match environment.key(self.server.as_deref(), &server) {
            Ok(Some(_)) => warn_if_readable(&server),
            Ok(None) => {}
            // The user may sign in while it runs; until then the client gets the server's refusal.
            Err(error) => eprintln!("dropleaf mcp: {error:#}"),
        }
        let (keys, named, at) = (environment.clone(), self.server, server.clone());
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
        let mut terminate = signal(SignalKind::terminate())?;
        let stop = async {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = tokio::signal::ctrl_c() => {}
            }
        };
        bridge.run(lines, stop).await;
        // Everything that could write has ended, so the writer ends once it has written the rest. A client that keeps its end
        // open without reading must not keep us running.
        let _ = timeout(LAST_LINES, through).await;
        Ok(())
    }
}

/// Reads on a separate thread that is not joined at exit: nothing can interrupt a blocking read.
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

/// Writes on a single thread, so lines never mix. It ends with the last line, or if the client stops reading.
fn write_lines(mut written: mpsc::Receiver<Vec<u8>>) -> oneshot::Receiver<()> {
    let (done, through) = oneshot::channel();
    std::thread::spawn(move || {
        // Dropped with the thread, which completes the receiver.
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
