//! Sends the deliveries that are due: a bounded number at the same time, a few of each account, one of each page and
//! endpoint. A delivery is taken before it is sent, so that several nodes can work; if a node dies, it is sent again.

use super::WebhookMessage;
use super::in_flight::{InFlight, PER_ACCOUNT, READ_PER_ACCOUNT};
use crate::app::App;
use dropleaf_core::Result;
use dropleaf_core::webhook::{
    AttemptResult, Delivery, Endpoint, NextStep, after_attempt, is_given_up, signature_header,
};
use dropleaf_store::DbError;
use dropleaf_store::webhook_deliveries::{self as rows, Attempt};
use std::collections::VecDeque;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::time::{Instant, sleep_until};

/// When a delivery is sent again whose node died. Longer than an attempt may take.
const LEASE_SECONDS: i64 = 90;
const SECRET_UNREADABLE: &str = "the signing secret of the webhook cannot be read; rotate it";
const ENDPOINT_FAILED: &str = "the webhook was disabled because its deliveries failed for days";
const ENDPOINT_GONE: &str =
    "the receiver answered that it no longer exists (410), so the webhook was disabled";

/// What happened to deliveries since the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WebhookCounts {
    pub delivered: u64,
    /// Attempts that failed.
    pub failed: u64,
    /// Deliveries that were given up.
    pub dead: u64,
}

#[derive(Debug, Default)]
pub(crate) struct WebhookCounters {
    delivered: AtomicU64,
    failed: AtomicU64,
    dead: AtomicU64,
}

impl App {
    pub fn webhook_counts(&self) -> WebhookCounts {
        let WebhookCounters { delivered, failed, dead } = &self.notify.webhook_counters;
        WebhookCounts {
            delivered: delivered.load(Ordering::Relaxed),
            failed: failed.load(Ordering::Relaxed),
            dead: dead.load(Ordering::Relaxed),
        }
    }

    /// How many deliveries wait, on all nodes.
    pub async fn count_waiting_webhooks(&self) -> Result<i64> {
        Ok(self.store.count_waiting_deliveries().await?)
    }

    /// Sends deliveries until `stop` completes; then waits for those under way.
    pub async fn run_webhooks(&self, stop: impl Future<Output = ()>) {
        if self.notify.webhook_transport.is_none() {
            return;
        }
        let mut stop = pin!(stop);
        let mut in_flight = InFlight::default();
        loop {
            if let Err(error) = self.start_deliveries(&mut in_flight).await {
                in_flight.wait_after_failure(Instant::now());
                tracing::warn!(%error, "webhook deliveries not started, will retry");
            }
            let has_room = in_flight.len() < self.settings.webhooks.parallel;
            let next_read = in_flight.next_read().unwrap_or_else(Instant::now);
            tokio::select! {
                () = &mut stop => break,
                () = in_flight.next() => {}
                () = sleep_until(next_read), if has_room => {}
            }
        }
        while in_flight.len() > 0 {
            in_flight.next().await;
        }
    }

    /// Sends everything that is due now, and what becomes due by that. Returns how many attempts were made.
    pub async fn send_due_webhooks(&self) -> Result<usize> {
        let (mut in_flight, mut count) = (InFlight::default(), 0);
        loop {
            in_flight.read_without_delay();
            count += self.start_deliveries(&mut in_flight).await?;
            if in_flight.len() == 0 {
                return Ok(count);
            }
            in_flight.next().await;
        }
    }

    /// Takes due deliveries as far as there is room. Returns how many.
    async fn start_deliveries<'a>(&'a self, in_flight: &mut InFlight<'a>) -> Result<usize> {
        let most = self.settings.webhooks.parallel;
        if self.notify.webhook_transport.is_none() {
            return Ok(0);
        }
        let mut count = self.take_deliveries(in_flight).await?;
        if in_flight.len() < most && in_flight.begin_read(Instant::now()) {
            // More than there is room for: they are sent without another read.
            let limit = i64::try_from(most.saturating_mul(4)).unwrap_or(i64::MAX);
            in_flight.due = self.store.list_due_deliveries(self.now(), READ_PER_ACCOUNT, limit).await?.into();
            count += self.take_deliveries(in_flight).await?;
        }
        Ok(count)
    }

    /// Takes deliveries of those that were read, as far as there is room. Returns how many.
    async fn take_deliveries<'a>(&'a self, in_flight: &mut InFlight<'a>) -> Result<usize> {
        let (now, mut count) = (self.now(), 0);
        // Of accounts that have enough under way.
        let mut later = VecDeque::new();
        while in_flight.len() < self.settings.webhooks.parallel
            && let Some(delivery) = in_flight.due.pop_front()
        {
            if in_flight.count_of(&delivery.account_id) >= PER_ACCOUNT {
                later.push_back(delivery);
                continue;
            }
            match self.store.commit(vec![rows::claim(&delivery, now + LEASE_SECONDS, now)]).await {
                Ok(_) => {}
                Err(DbError::Guard(rows::MOVED)) => continue,
                Err(error) => return Err(error.into()),
            }
            count += 1;
            in_flight.add(&delivery.account_id.clone(), async move {
                if let Err(error) = self.attempt_delivery(&delivery, now + LEASE_SECONDS).await {
                    // It is sent again when its lease ends.
                    let Delivery { id, endpoint_id, .. } = &delivery;
                    tracing::warn!(%error, delivery = id, webhook = endpoint_id, "webhook delivery not recorded");
                }
            });
        }
        later.append(&mut in_flight.due);
        in_flight.due = later;
        Ok(count)
    }

    async fn attempt_delivery(&self, delivery: &Delivery, lease_until: i64) -> Result<()> {
        let Some(transport) = &self.notify.webhook_transport else { return Ok(()) };
        let found = self.store.find_webhook_with_secrets(&delivery.endpoint_id).await?;
        let Some((endpoint, sealed)) = found else { return Ok(()) };
        if self.now() >= lease_until {
            // This node was stopped for a while. Another one sends the delivery, and by now perhaps later ones.
            return Ok(());
        }
        // What cannot be sent is a failed attempt too: otherwise it would be taken again for ever.
        let answer = match (&endpoint.url, self.open_webhook_secrets(&endpoint, &sealed)) {
            (Some(url), Ok(secrets)) => {
                let timestamp = self.now();
                let message = WebhookMessage {
                    url: url.as_str().to_owned(),
                    id: delivery.id.clone(),
                    timestamp,
                    signature: signature_header(&secrets, &delivery.id, timestamp, &delivery.body),
                    body: delivery.body.clone(),
                };
                transport.send(&message).await
            }
            (_, Err(error)) => {
                tracing::warn!(%error, webhook = endpoint.id, "webhook secret not readable");
                Err(SECRET_UNREADABLE.to_owned())
            }
            (None, Ok(_)) => Err("the webhook has no address".to_owned()),
        };
        self.record_attempt(delivery, &endpoint, answer).await
    }

    async fn record_attempt(
        &self,
        delivery: &Delivery,
        endpoint: &Endpoint,
        answer: Result<u16, String>,
    ) -> Result<()> {
        let now = self.now();
        let number = delivery.attempts + 1;
        let (result, status, mut error) = match answer {
            Ok(status @ 200..=299) => (AttemptResult::Answered(status), Some(status), None),
            Ok(status) => {
                let why = format!("the receiver answered with status {status}");
                (AttemptResult::Answered(status), Some(status), Some(why))
            }
            Err(why) => (AttemptResult::NotDelivered, None, Some(why)),
        };
        let step = after_attempt(result, number, self.minter.bytes::<1>()[0], now);
        let mut gives_up = step == NextStep::DeadAndGone;
        if gives_up {
            error = Some(ENDPOINT_GONE.to_owned());
        } else if step == NextStep::Dead {
            // Not at an earlier attempt: `failing_since` may be from a delivery that was given up long ago.
            gives_up = endpoint.failing_since.is_some_and(|since| is_given_up(since, now));
        }
        let attempt = Attempt {
            endpoint_id: &delivery.endpoint_id,
            id: &delivery.id,
            number,
            status: status.map(i64::from),
            error: error.as_deref(),
        };
        let mut stmts = match step {
            NextStep::Delivered => rows::record_delivered(&attempt, now),
            NextStep::Retry(at) => rows::record_failed(&attempt, at, now),
            NextStep::Dead | NextStep::DeadAndGone => rows::record_dead(&attempt, now),
        };
        if gives_up {
            let why = if step == NextStep::DeadAndGone { ENDPOINT_GONE } else { ENDPOINT_FAILED };
            stmts.extend(rows::give_up_endpoint(&endpoint.id, why));
        }
        match self.store.commit(stmts).await {
            Ok(_) => {}
            // The endpoint was deleted, or the attempt took longer than its lease and another node repeats it.
            Err(DbError::Guard(rows::MOVED)) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        self.count_attempt(delivery, step, gives_up, error.as_deref());
        Ok(())
    }

    /// Counts and logs an attempt, without the URL, which may contain a token.
    fn count_attempt(&self, delivery: &Delivery, step: NextStep, gives_up: bool, why: Option<&str>) {
        let Delivery { id, endpoint_id, event_type, .. } = delivery;
        let counters = &self.notify.webhook_counters;
        match step {
            NextStep::Delivered => {
                counters.delivered.fetch_add(1, Ordering::Relaxed);
                tracing::debug!(delivery = id, webhook = endpoint_id, event_type, "webhook delivered");
            }
            NextStep::Retry(next_attempt_at) => {
                counters.failed.fetch_add(1, Ordering::Relaxed);
                tracing::debug!(
                    delivery = id,
                    webhook = endpoint_id,
                    why,
                    next_attempt_at,
                    "webhook not delivered"
                );
            }
            NextStep::Dead | NextStep::DeadAndGone => {
                counters.failed.fetch_add(1, Ordering::Relaxed);
                counters.dead.fetch_add(1, Ordering::Relaxed);
                tracing::info!(delivery = id, webhook = endpoint_id, why, "webhook delivery given up");
            }
        }
        if gives_up {
            tracing::info!(webhook = endpoint_id, "webhook disabled");
        }
    }
}
