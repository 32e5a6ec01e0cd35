//! Keeps a session's notification stream (`GET /mcp`) open for as long as the bridge runs.

use super::failure::ExchangeFailure;
use super::link::Link;
use super::sse::Events;
use super::wire::McpHeaders;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// The server sends a heartbeat every few seconds; after this much silence the connection is considered dead.
const SILENCE: Duration = Duration::from_secs(90);

/// The position at which the stream was interrupted.
#[derive(Debug, Default)]
struct StreamPosition {
    after: Option<String>,
    /// The reconnection delay that the server requested (`retry`).
    retry: Option<Duration>,
}

/// Follows the session's stream until the bridge ends or the server answers 405 (no such stream). Signals `tried` after the first
/// attempt.
pub(super) async fn listen(link: Arc<Link>, tried: oneshot::Sender<()>) {
    let mut tried = Some(tried);
    let mut renewed = link.renewed.subscribe();
    let mut position = StreamPosition::default();
    let mut pause = FIRST_PAUSE;
    let mut has_notified = false;
    loop {
        let (headers, generation) = {
            let session = link.session.read().await;
            (session.headers(), session.generation())
        };
        renewed.mark_unchanged();
        let ended = tokio::select! {
            ended = follow(&link, &headers, &mut position, &mut tried) => ended,
            Ok(()) = renewed.changed() => {
                position = StreamPosition::default();
                continue;
            }
        };
        match ended {
            Ok(()) => {
                pause = FIRST_PAUSE;
                has_notified = false;
                sleep(position.retry.unwrap_or(FIRST_PAUSE)).await;
                continue;
            }
            Err(ExchangeFailure::SessionLost) => match link.renew(generation).await {
                Ok(()) => {
                    position = StreamPosition::default();
                    continue;
                }
                Err(failure) => note_once(&link, &failure, &mut has_notified),
            },
            Err(ExchangeFailure::Refused(refusal)) if refusal.status == 405 => return,
            Err(failure) => note_once(&link, &failure, &mut has_notified),
        }
        sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Forwards events until the stream ends.
async fn follow(
    link: &Link,
    headers: &McpHeaders,
    position: &mut StreamPosition,
    tried: &mut Option<oneshot::Sender<()>>,
) -> Result<(), ExchangeFailure> {
    let response = link.wire.get(headers, position.after.as_deref()).await;
    if let Some(tried) = tried.take() {
        let _ = tried.send(());
    }
    let mut events = Events::of(response?);
    let after = position.after.take();
    // Event ids restart when the server does, and a stream that cannot be resumed ends at once, so the id is kept only when at
    // least one event arrived.
    while let Ok(event) = timeout(SILENCE, events.next()).await {
        let Some(event) = event? else { break };
        if event.id.is_some() {
            position.after = event.id;
        } else if position.after.is_none() {
            position.after.clone_from(&after);
        }
        if let Some(retry) = event.retry_ms {
            position.retry = Some(Duration::from_millis(retry).min(LONGEST_PAUSE));
        }
        if !event.data.is_empty() {
            link.send_line(event.data).await;
        }
    }
    Ok(())
}

fn note_once(link: &Link, failure: &ExchangeFailure, has_notified: &mut bool) {
    if !std::mem::replace(has_notified, true) {
        link.note(&format!("no server events for now: {}", failure.sentence(&link.wire.server)));
    }
}
