//! Handles signals: stop, or reload the lists and the certificate files.

use anyhow::Result;
use std::io::{IsTerminal, stderr, stdin, stdout};
use tokio::signal::unix::{Signal, SignalKind, signal};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SignalAction {
    Stop,
    Reload,
}

#[derive(Debug)]
pub(crate) struct Signals {
    term: Signal,
    int: Signal,
    hangup: Signal,
    /// The server was started from a terminal.
    had_terminal: bool,
}

impl Signals {
    /// Starts handling signals.
    pub(crate) fn listen() -> Result<Self> {
        Ok(Self {
            term: signal(SignalKind::terminate())?,
            int: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
            had_terminal: has_terminal(),
        })
    }

    pub(crate) async fn next(&mut self) -> SignalAction {
        tokio::select! {
            _ = self.term.recv() => SignalAction::Stop,
            _ = self.int.recv() => SignalAction::Stop,
            _ = self.hangup.recv() => self.hung_up(),
        }
    }

    /// Waits until the server should stop. Until then there is nothing to reload.
    pub(crate) async fn stop(&mut self) {
        while self.next().await != SignalAction::Stop {}
    }

    /// SIGHUP is also sent when the terminal is closed, which stops the server.
    fn hung_up(&self) -> SignalAction {
        if self.had_terminal && !has_terminal() { SignalAction::Stop } else { SignalAction::Reload }
    }
}

fn has_terminal() -> bool {
    stdin().is_terminal() || stdout().is_terminal() || stderr().is_terminal()
}
