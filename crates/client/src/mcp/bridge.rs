//! The stdio bridge: reads the client's lines, starts an exchange for each request, and shuts down cleanly.

use super::failure::{ExchangeFailure, no_message, not_json};
use super::lines::Line;
use super::link::{Link, is_error};
use super::listener::listen;
use super::message::{Broken, Message, MessageKind};
use super::session::Session;
use super::wire::Wire;
use crate::error::ClientError;
use bytes::Bytes;
use serde_json::Value;
use std::collections::HashMap;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{RwLock, mpsc, oneshot, watch};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, sleep, timeout};

/// At most this many requests are in flight; further ones are refused at once.
const MOST_AT_ONCE: usize = 128;
/// How long requests in flight may take to finish after the client has closed its input.
const GRACE: Duration = Duration::from_secs(5);
/// How long the first messages of a session wait for its notification stream to open.
const OPENING: Duration = Duration::from_secs(2);
/// How often to check whether the client has left while one of its lines waits for the server.
const GLANCE: Duration = Duration::from_millis(100);
const FAREWELL: Duration = Duration::from_secs(3);

/// The settings of a bridge.
pub struct BridgeOptions {
    pub server: String,
    /// Returns the API key; called again when the server refuses the current one.
    pub keys: Box<dyn Fn() -> Option<String> + Send + Sync>,
    /// How long a message is retried while the server is unreachable.
    pub patience: Duration,
    /// Receives log messages for a person; the client does not see them.
    pub notes: Box<dyn Fn(&str) + Send + Sync>,
}

impl std::fmt::Debug for BridgeOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BridgeOptions").field("server", &self.server).finish_non_exhaustive()
    }
}

/// A request in flight.
#[derive(Debug)]
struct Running {
    task: AbortHandle,
    /// Closing the response stream cancels the request, as the protocol defines since 2026-07-28.
    ends_with_stream: bool,
    /// The request stays open until it is cancelled (`subscriptions/listen`).
    lasts: bool,
}

type RunningById = Arc<Mutex<HashMap<String, Running>>>;

#[derive(Debug)]
pub struct Bridge {
    link: Arc<Link>,
    tasks: JoinSet<()>,
    running: RunningById,
    listener: JoinSet<()>,
}

impl Bridge {
    /// Creates a bridge that writes lines for the client to `out`.
    pub fn new(options: BridgeOptions, out: mpsc::Sender<Vec<u8>>) -> Result<Self, ClientError> {
        let link = Link {
            wire: Wire::new(&options.server, options.keys)?,
            out,
            session: Arc::new(RwLock::new(Session::default())),
            renewed: watch::Sender::new(0),
            patience: options.patience,
            notes: options.notes,
        };
        Ok(Self {
            link: Arc::new(link),
            tasks: JoinSet::new(),
            running: RunningById::default(),
            listener: JoinSet::new(),
        })
    }

    /// Forwards messages until the client's input ends, `stop` completes, or the receiver of our output is dropped.
    pub async fn run(mut self, mut lines: mpsc::Receiver<Line>, stop: impl Future<Output = ()>) {
        let mut stop = pin!(stop);
        let shared = Arc::clone(&self.link);
        let mut ends = None;
        let grace = loop {
            let line = tokio::select! {
                line = lines.recv() => match line {
                    Some(line) => line,
                    None => break time_left(&mut ends),
                },
                Some(_) = self.tasks.join_next() => continue,
                () = &mut stop => break Duration::ZERO,
                () = shared.out.closed() => break Duration::ZERO,
            };
            // Handling a line can mean waiting for the server; that must not delay shutdown.
            tokio::select! {
                () = self.take(line) => {}
                () = overdue(&lines, &mut ends) => break Duration::ZERO,
                () = &mut stop => break Duration::ZERO,
                () = shared.out.closed() => break Duration::ZERO,
            }
        };
        self.leave(grace).await;
    }

    async fn take(&mut self, line: Line) {
        let Line::Whole(line) = line else {
            return self.link.send_line(no_message("The line is too long.")).await;
        };
        let message = match Message::read(&line) {
            Ok(message) => message,
            Err(Broken::NotJson(why)) => return self.link.send_line(not_json(&why)).await,
            Err(Broken::Batch) => {
                return self.link.send_line(no_message("Send one message per line, not a list.")).await;
            }
            Err(Broken::NotAMessage) => {
                return self.link.send_line(no_message("The line is JSON but not a JSON-RPC message.")).await;
            }
        };
        let line = Bytes::from(line);
        match message.kind.clone() {
            MessageKind::Request { id, method } if method == "initialize" => self.begin(line, id).await,
            MessageKind::Request { id, .. } => self.ask(line, message, id).await,
            MessageKind::Notification { method } if method == "notifications/cancelled" => {
                self.cancel(line, &message).await;
            }
            MessageKind::Notification { method } => {
                // Notifications are sent in order, before the next line is read, because the server may depend on the order.
                let outcome = self.link.notify(&line, &message).await;
                if outcome.is_ok() && method == "notifications/initialized" && self.listener.is_empty() {
                    // Open the notification stream before the next message, so that no event after it is missed.
                    let (send, tried) = oneshot::channel();
                    self.listener.spawn(listen(Arc::clone(&self.link), send));
                    let _ = timeout(OPENING, tried).await;
                }
                self.note(&method, outcome);
            }
            MessageKind::Answer { .. } => {
                let shared = Arc::clone(&self.link);
                self.tasks.spawn(async move {
                    if let Err(failure) = shared.notify(&line, &message).await {
                        shared.note(&failure.sentence(&shared.wire.server));
                    }
                });
            }
        }
    }

    /// Messages that follow an `initialize` wait for its response: the write lock is taken here and released in the task.
    async fn begin(&mut self, line: Bytes, id: Value) {
        let mut session = Arc::clone(&self.link.session).write_owned().await;
        let shared = Arc::clone(&self.link);
        self.tasks.spawn(async move {
            let answer = match shared.open(&line, &id).await {
                Ok(opened) => {
                    session.begin(serde_json::from_slice(&line).unwrap_or_default(), &opened);
                    shared.renewed.send_replace(session.generation());
                    opened.answer
                }
                Err(failure) => failure.answer(&id, &shared.wire.server),
            };
            drop(session);
            shared.send_line(answer).await;
        });
    }

    async fn ask(&mut self, line: Bytes, message: Message, id: Value) {
        let key = id.to_string();
        if self.count() >= MOST_AT_ONCE {
            return self.link.send_line(ExchangeFailure::Busy.answer(&id, &self.link.wire.server)).await;
        }
        let (shared, running) = (Arc::clone(&self.link), Arc::clone(&self.running));
        let ends_with_stream = message.version.is_some();
        let lasts = message.method() == "subscriptions/listen";
        let done = key.clone();
        // The task removes itself from the map, so the lock is held until it has been inserted.
        let mut list = self.running.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let task = self.tasks.spawn(async move {
            let answer = match shared.ask(&line, &message, &id).await {
                Ok(answer) => {
                    remember(&shared, &message, &answer).await;
                    answer
                }
                Err(failure) => failure.answer(&id, &shared.wire.server),
            };
            forget(&running, &done);
            shared.send_line(answer).await;
        });
        list.insert(key, Running { task, ends_with_stream, lasts });
    }

    async fn cancel(&mut self, line: Bytes, message: &Message) {
        let key = message.request_id.as_ref().map(ToString::to_string).unwrap_or_default();
        let running = forget(&self.running, &key);
        let is_legacy = running.as_ref().is_none_or(|running| !running.ends_with_stream);
        if is_legacy && self.link.session.read().await.has_begun() {
            let outcome = self.link.notify(&line, message).await;
            self.note(message.method(), outcome);
        }
        if let Some(running) = running {
            running.task.abort();
        }
    }

    fn count(&self) -> usize {
        self.running.lock().map_or(0, |running| running.len())
    }

    fn note(&self, method: &str, outcome: Result<(), ExchangeFailure>) {
        if let Err(failure) = outcome {
            self.link.note(&format!("{method} was not sent: {}", failure.sentence(&self.link.wire.server)));
        }
    }

    async fn leave(mut self, grace: Duration) {
        self.listener.shutdown().await;
        if let Ok(running) = self.running.lock() {
            running.values().filter(|running| running.lasts).for_each(|running| running.task.abort());
        }
        let _ = timeout(grace, async { while self.tasks.join_next().await.is_some() {} }).await;
        self.tasks.shutdown().await;
        let session = self.link.session.read().await;
        if session.has_begun() {
            let _ = timeout(FAREWELL, self.link.wire.delete(&session.headers())).await;
        }
    }
}

/// What is left of the grace period, which starts when the end of the input is first noticed.
fn time_left(ends: &mut Option<Instant>) -> Duration {
    let now = Instant::now();
    ends.get_or_insert(now + GRACE).saturating_duration_since(now)
}

/// Waits until the client has closed its input and the grace period is over, even while lines are still queued.
async fn overdue(lines: &mpsc::Receiver<Line>, ends: &mut Option<Instant>) {
    while !lines.is_closed() {
        sleep(GLANCE).await;
    }
    sleep(time_left(ends)).await;
}

fn forget(running: &RunningById, key: &str) -> Option<Running> {
    running.lock().ok()?.remove(key)
}

/// Records the session's resource subscriptions, so that they can be restored when the session has to be recreated.
async fn remember(link: &Link, message: &Message, answer: &[u8]) {
    let Some(uri) = message.uri.as_deref().filter(|_| message.version.is_none()) else { return };
    let is_fine = !is_error(answer);
    match message.method() {
        "resources/subscribe" if is_fine => link.session.write().await.watch(uri),
        "resources/unsubscribe" if is_fine => link.session.write().await.unwatch(uri),
        _ => {}
    }
}
