//! Events for a program that fetches them, which works behind NAT and without a public address. What it has received it
//! acknowledges with the next request.

use crate::app::App;
use dropleaf_core::account::Account;
use dropleaf_core::webhook::{EndpointKind, LISTEN_SECONDS, signature_header};
use dropleaf_core::{Code, Error, Result};
use dropleaf_store::{webhook_deliveries, webhook_endpoints};
use std::time::Duration;

/// Events in one response.
const BATCH: i64 = 20;
const POLL_EVERY: Duration = Duration::from_millis(500);

/// A signed event.
#[derive(Debug, Clone)]
pub struct ListenedEvent {
    /// To be acknowledged.
    pub seq: i64,
    pub id: String,
    pub timestamp: i64,
    pub signature: String,
    pub body: String,
}

impl App {
    /// The events that wait, oldest first, after acknowledging those up to `received`. Waits for one up to `patience`.
    pub async fn listen_to_webhook(
        &self,
        account: &Account,
        grant_id: Option<&str>,
        id: &str,
        received: Option<i64>,
        patience: Duration,
    ) -> Result<Vec<ListenedEvent>> {
        let endpoint = self.get_webhook(account, grant_id, id).await?;
        let now = self.now();
        if endpoint.kind != EndpointKind::Listen {
            return Err(Error::field("id", "is a webhook with a URL: its events are sent there"));
        }
        if endpoint.expires_at.is_none_or(|at| at <= now) {
            return Err(Error::not_found("webhook"));
        }
        let mut stmts = vec![webhook_endpoints::extend(&endpoint.id, now + LISTEN_SECONDS)];
        stmts.extend(
            received.into_iter().flat_map(|seq| webhook_deliveries::acknowledge(&endpoint.id, seq, now)),
        );
        let outcome = self.commit_for_account(&account.id, stmts).await;
        outcome.map_err(|error| self.webhook_guard_error(error))?;
        let end = tokio::time::Instant::now() + patience;
        loop {
            let found = self.store.list_waiting_deliveries(&endpoint.id, BATCH).await?;
            if found.is_empty() && tokio::time::Instant::now() < end {
                tokio::time::sleep(POLL_EVERY).await;
                continue;
            }
            // Read again: the secret may have been replaced in the meantime, the access revoked, the account suspended.
            let timestamp = self.now();
            let current = self.store.find_listening_webhook(&account.id, grant_id, &endpoint.id, timestamp);
            let (endpoint, sealed) = current.await?.ok_or_else(|| Error::not_found("webhook"))?;
            let secrets = self.open_webhook_secrets(&endpoint, &sealed).map_err(|error| {
                tracing::warn!(%error, webhook = endpoint.id, "webhook secret not readable");
                Error::new(
                    Code::Conflict,
                    "The secret of this webhook cannot be read. Rotate it, then try again.",
                )
            })?;
            let sign = |delivery: dropleaf_core::webhook::Delivery| ListenedEvent {
                seq: delivery.seq,
                signature: signature_header(&secrets, &delivery.id, timestamp, &delivery.body),
                id: delivery.id,
                timestamp,
                body: delivery.body,
            };
            return Ok(found.into_iter().map(sign).collect());
        }
    }
}
