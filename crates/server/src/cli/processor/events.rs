//! Events of the processor: sent to the webhook one after the other, each a few times until it is accepted, and kept so that a
//! test can have all of them sent again.

use super::ProcessorState;
use crate::outbound::Webhook;
use axum::extract::State;
use axum::response::Response;
use dropleaf_pay::stripe::sandbox::WebhookEvent;
use serde_json::json;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// The most events that wait to be sent; further ones are only kept.
const QUEUED: usize = 1000;
/// The most events that are kept; the oldest are forgotten.
const KEPT: usize = 1000;
const ATTEMPTS: u32 = 5;
/// The pause after the first failed attempt; it doubles with every further one.
const PAUSE: Duration = Duration::from_millis(200);

/// An event to send, and who waits for the result.
#[derive(Debug)]
struct Delivery {
    event: WebhookEvent,
    result: Option<oneshot::Sender<bool>>,
}

#[derive(Debug)]
pub(super) struct Events {
    /// None without a webhook.
    queue: Option<mpsc::Sender<Delivery>>,
    kept: Mutex<VecDeque<WebhookEvent>>,
}

/// Sends what is queued.
#[derive(Debug)]
pub(super) struct Deliverer {
    webhook: Option<Webhook>,
    queue: mpsc::Receiver<Delivery>,
}

impl Events {
    pub(super) fn new(webhook: Option<Webhook>) -> (Self, Deliverer) {
        let (sender, queue) = mpsc::channel(QUEUED);
        let events = Self { queue: webhook.is_some().then_some(sender), kept: Mutex::default() };
        (events, Deliverer { webhook, queue })
    }

    /// Keeps these events and queues them for the webhook, in this order.
    pub(super) fn queue(&self, events: Vec<WebhookEvent>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        for event in events {
            if kept.len() >= KEPT {
                kept.pop_front();
            }
            kept.push_back(event.clone());
            let delivery = Delivery { event, result: None };
            if self.queue.as_ref().is_some_and(|queue| queue.try_send(delivery).is_err()) {
                tracing::warn!("event not sent: too many are waiting");
            }
        }
    }

    /// Sends all kept events again, and waits until each was accepted or given up. Returns how many were accepted and how many
    /// there are.
    async fn redeliver(&self) -> (usize, usize) {
        let kept: Vec<_> = self.kept.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect();
        let total = kept.len();
        let Some(queue) = &self.queue else { return (0, total) };
        let mut accepted = 0;
        for event in kept {
            let (sender, result) = oneshot::channel();
            if queue.send(Delivery { event, result: Some(sender) }).await.is_ok()
                && result.await.unwrap_or(false)
            {
                accepted += 1;
            }
        }
        (accepted, total)
    }
}

impl Deliverer {
    /// Sends until the processor stops.
    pub(super) async fn run(mut self, stopping: CancellationToken) {
        let Some(webhook) = self.webhook.take() else { return };
        let sending = async {
            while let Some(Delivery { event, result }) = self.queue.recv().await {
                let accepted = deliver(&webhook, &event).await;
                if let Some(result) = result {
                    // The task that waited may be gone.
                    let _ = result.send(accepted);
                }
            }
        };
        stopping.run_until_cancelled(sending).await;
    }
}

/// Whether the webhook accepted the event.
async fn deliver(webhook: &Webhook, event: &WebhookEvent) -> bool {
    let mut pause = PAUSE;
    for attempt in 1..=ATTEMPTS {
        match webhook.send(&event.body).await {
            Ok(()) => return true,
            Err(why) => {
                tracing::warn!(why, event = event.id, kind = event.kind, attempt, "event not accepted");
            }
        }
        if attempt < ATTEMPTS {
            tokio::time::sleep(pause).await;
            pause = pause.saturating_mul(2);
        }
    }
    false
}

/// `POST /sandbox/redeliver`
pub(super) async fn redeliver(State(state): State<Arc<ProcessorState>>) -> Response {
    let (accepted, events) = state.events.redeliver().await;
    state.json(200, &json!({ "events": events, "accepted": accepted }))
}
