//! Records the orders of certificates: reserved before the authority is asked, then issued or failed.

use super::CERTIFICATES_CHANGED;
use crate::app::App;
use crate::infra::sealing;
use dropleaf_core::certificate::{self, Certificate, SHORTEST_INTERVAL};
use dropleaf_core::{Error, Result};
use dropleaf_store::certificates::{self as rows, CHANGED, FailedOrder, Issued, UNKNOWN};
use dropleaf_store::{DbError, revisions};
use std::fmt;
use tokio::sync::watch;

/// The longest pause after a check that costs the authority nothing.
const LONGEST_FREE_PAUSE: i64 = 3600;

/// A certificate that the authority issued.
pub struct NewCertificate {
    pub serial: String,
    pub not_before: i64,
    pub not_after: i64,
    /// PEM: the chain, leaf first, and the key.
    pub chain_and_key_pem: Vec<u8>,
}

impl fmt::Debug for NewCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewCertificate").field("serial", &self.serial).finish_non_exhaustive()
    }
}

/// Why no certificate was issued.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderFailure {
    /// For operators and the log.
    pub text: String,
    /// For the owner of the name.
    pub owner_text: String,
    /// The pause in seconds that the authority asks for.
    pub retry_after: Option<i64>,
    /// Whether the authority was asked at all.
    pub was_ordered: bool,
}

impl App {
    /// Wakes the task that places orders, because a name was added or an order became due.
    pub fn order_certificates_soon(&self) {
        self.certificates.work.notify_one();
    }

    /// Waits until an order may be due before the next regular check.
    pub async fn wait_for_certificate_work(&self) {
        self.certificates.work.notified().await;
    }

    /// Counts how often this node has looked for due orders and dealt with them.
    pub fn certificate_passes(&self) -> watch::Receiver<u64> {
        self.certificates.passes.subscribe()
    }

    pub fn count_certificate_pass(&self) {
        self.certificates.passes.send_modify(|count| *count += 1);
    }

    /// Orders that are due, most urgent first and then longest waiting. Custom domains only while they are served.
    pub async fn list_due_certificates(&self, most: usize) -> Result<Vec<Certificate>> {
        let now = self.now();
        let mut due = self.store.list_certificates().await?;
        due.retain(|certificate| certificate.is_due(now) && self.needs_order(&certificate.name));
        due.sort_by_cached_key(|it| (it.urgency(self.is_own_name(&it.name), now), it.next_order_at()));
        due.truncate(most);
        Ok(due)
    }

    fn needs_order(&self, name: &str) -> bool {
        self.is_own_name(name) || self.is_served_domain(name)
    }

    /// Reserves an order. `false` if another node was faster or the name is no longer needed.
    pub async fn begin_certificate_order(&self, due: &Certificate) -> Result<bool> {
        if !self.needs_order(&due.name) {
            return Ok(false);
        }
        let now = self.now();
        // Should this node die, the next attempt waits as after a failure.
        let next = certificate::next_attempt(now, due.failures + 1, None);
        match self.store.commit(vec![rows::begin_attempt(due, next, now)]).await {
            Ok(_) => Ok(true),
            Err(DbError::Guard(CHANGED)) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Makes an order due again that was interrupted because the server stops.
    pub async fn abandon_certificate_order(&self, name: &str) -> Result<()> {
        self.store.commit(vec![rows::set_next_attempt(name, self.now())]).await?;
        Ok(())
    }

    /// Stores a certificate and notifies the other nodes.
    pub async fn record_certificate(&self, name: &str, new: &NewCertificate) -> Result<()> {
        if new.not_after <= new.not_before {
            return Err(Error::internal("the authority issued a certificate without a lifetime"));
        }
        let now = self.now();
        let sealed =
            sealing::seal(&self.minter, self.certificate_key(name), name.as_bytes(), &new.chain_and_key_pem)?;
        let issued = Issued {
            name,
            sealed,
            serial: &new.serial,
            not_before: new.not_before,
            not_after: new.not_after,
            renew_at: certificate::default_renewal(new.not_before, new.not_after),
            window_check_at: now,
            next_attempt_at: now + SHORTEST_INTERVAL,
        };
        let stmts = vec![rows::record_issued(&issued, now), revisions::advance(revisions::CERTIFICATES)];
        match self.store.commit_changed(stmts, vec![CERTIFICATES_CHANGED.to_owned()]).await {
            Ok(()) => self.certificates_changed(),
            // The name was removed meanwhile.
            Err(DbError::Guard(UNKNOWN)) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Records a failure. Returns when the next order may be placed.
    pub async fn record_certificate_failure(&self, due: &Certificate, failure: &OrderFailure) -> Result<i64> {
        let (now, failures) = (self.now(), due.failures + 1);
        let mut next = certificate::next_attempt(now, failures, failure.retry_after);
        if !failure.was_ordered {
            next = next.min(now + LONGEST_FREE_PAUSE);
        }
        let (text, owner_text) =
            (certificate::error_text(&failure.text), certificate::error_text(&failure.owner_text));
        let failed = FailedOrder {
            name: &due.name,
            failures,
            next_attempt_at: next,
            error: &text,
            owner_error: &owner_text,
        };
        self.store.commit(vec![rows::record_failure(&failed, now)]).await?;
        Ok(next)
    }

    /// Places the next order for a name as soon as the authority's limits allow, because its owner has changed something. A
    /// valid certificate is not renewed.
    pub async fn retry_certificate_soon(&self, hostname: &str) -> Result<()> {
        let now = self.now();
        if let Some(found) = self.store.find_certificate(hostname).await?
            && found.failures > 0
            && !found.is_valid(now)
        {
            let soonest = (found.updated_at + certificate::pause_after(1)).max(now);
            if soonest < found.next_attempt_at {
                self.store.commit(vec![rows::set_next_attempt(hostname, soonest)]).await?;
            }
        }
        self.order_certificates_soon();
        Ok(())
    }
}
