//! Keeps a session's notification stream (`GET /mcp`) open for as long as the bridge runs.

use super::link::Link;
use super::sse::Events;
use super::trouble::Trouble;
use super::wire::Seat;
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
struct Place {
    after: Option<String>,
    /// The reconnection delay that the server requested (`retry`).
    retry: Option<Duration>,
}

/// Follows the session's stream until the bridge ends or the server answers 405 (no such stream). Signals `tried` after the first
/// attempt.
pub(super) async fn listen(link: Arc<Link>, tried: oneshot::Sender<()>) {
    let mut tried = Some(tried);
    let mut renewed = link.renewed.subscribe();
    let mut place = Place::default();
    let mut pause = FIRST_PAUSE;
    let mut has_told = false;
    loop {
        let (seat, generation) = {
            let session = link.session.read().await;
            (session.seat(), session.generation())
        };
        renewed.mark_unchanged();
        let ended = tokio::select! {
            ended = follow(&link, &seat, &mut place, &mut tried) => ended,
            Ok(()) = renewed.changed() => {
                place = Place::default();
                continue;
            }
        };
        match ended {
            Ok(()) => {
                pause = FIRST_PAUSE;
                has_told = false;
                sleep(place.retry.unwrap_or(FIRST_PAUSE)).await;
                continue;
            }
            Err(Trouble::Lost) => match link.renew(generation).await {
                Ok(()) => {
                    place = Place::default();
                    continue;
                }
                Err(trouble) => tell_once(&link, &trouble, &mut has_told),
            },
            Err(Trouble::Refused(refusal)) if refusal.status == 405 => return,
            Err(trouble) => tell_once(&link, &trouble, &mut has_told),
        }
        sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Forwards events until the stream ends.
async fn follow(
    link: &Link,
    seat: &Seat,
    place: &mut Place,
    tried: &mut Option<oneshot::Sender<()>>,
) -> Result<(), Trouble> {
    let response = link.wire.get(seat, place.after.as_deref()).await;
    if let Some(tried) = tried.take() {
        let _ = tried.send(());
    }
    let mut events = Events::of(response?);
    let after = place.after.take();
    // Event ids restart when the server does, and a stream that cannot be resumed ends at once, so the id is kept only when at
    // least one event arrived.
    while let Ok(event) = timeout(SILENCE, events.next()).await {
        let Some(event) = event? else { break };
        if event.id.is_some() {
            place.after = event.id;
        } else if place.after.is_none() {
            place.after.clone_from(&after);
        }
        if let Some(retry) = event.retry_ms {
            place.retry = Some(Duration::from_millis(retry).min(LONGEST_PAUSE));
        }
        if !event.data.is_empty() {
            link.say(event.data).await;
        }
    }
    Ok(())
}

fn tell_once(link: &Link, trouble: &Trouble, has_told: &mut bool) {
    if !std::mem::replace(has_told, true) {
        link.note(&format!("no server events for now: {}", trouble.sentence(&link.wire.server)));
    }
}
