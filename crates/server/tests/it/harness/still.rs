//! Pauses tokio's time: no timer fires, however long a busy machine takes.

use std::sync::mpsc::{Sender, channel};

/// Paused until this is dropped. For tests on one thread.
#[derive(Debug)]
pub(crate) struct StillTime {
    _held: Sender<()>,
}

impl StillTime {
    pub(crate) fn new() -> Self {
        tokio::time::pause();
        // Paused time advances to the next timer when the runtime is idle, unless a blocking task runs.
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
