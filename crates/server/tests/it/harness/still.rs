//! Time that stands still: no timer of the runtime fires, however long a busy machine takes.

use std::sync::mpsc::{Sender, channel};

/// Until this is dropped. For tests that run on one thread.
#[derive(Debug)]
pub(crate) struct StillTime {
    _held: Sender<()>,
}

impl StillTime {
    pub(crate) fn new() -> Self {
        tokio::time::pause();
        // Paused time jumps to the next timer when there is nothing to do, unless a blocking task runs.
        let (held, wait) = channel::<()>();
        tokio::task::spawn_blocking(move || wait.recv());
        Self { _held: held }
    }
}

impl Drop for StillTime {
    fn drop(&mut self) {
        tokio::time::resume();
    }
}
