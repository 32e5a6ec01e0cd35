//! SQL that writes events for an account's endpoints, in the transaction of the change they tell of. An account without an
//! endpoint costs two lookups by index and no round trip.

use crate::db::Stmt;
use dropleaf_core::webhook::{EventFilter, EventType};

/// An event that is ready to be written.
#[derive(Debug, Clone)]
pub struct OutboxEvent<'a> {
    pub id: &'a str,
    pub event_type: EventType,
    pub account_id: &'a str,
    pub site_id: Option<&'a str>,
    pub body: &'a str,
    pub now: i64,
}

/// What must hold for an event to be written, checked in the same transaction.
#[derive(Debug, Clone, Copy)]
pub enum OutboxCondition<'a> {
    Always,
    /// This comment is not resolved yet.
    Unresolved(&'a str),
    /// This page was never viewed.
    Unviewed(&'a str),
}

// The row locks of this statement put the events of an endpoint in the order of their commits, so that positions have no
// gaps that are filled later.
const ADMIT: &str = "UPDATE webhook_endpoints SET last_event = CASE WHEN waiting < $1 THEN $2 ELSE last_event END, \
     last_seq = last_seq + CASE WHEN waiting < $1 THEN 1 ELSE 0 END, \
     missed = missed + CASE WHEN waiting < $1 THEN 0 ELSE 1 END, \
     waiting = waiting + CASE WHEN waiting < $1 THEN 1 ELSE 0 END \
     WHERE account_id = $3 AND state = 'enabled' AND (site_id IS NULL OR site_id = $4) \
     AND (events = '*' OR events LIKE $5) AND (expires_at IS NULL OR expires_at > $6) \
     AND (grant_id IS NULL OR EXISTS (SELECT 1 FROM oauth_grants WHERE oauth_grants.id = webhook_endpoints.grant_id \
     AND oauth_grants.revoked_at IS NULL AND oauth_grants.ends_at > $6)) \
     AND (CAST($7 AS TEXT) IS NULL OR EXISTS (SELECT 1 FROM feedback WHERE feedback.id = $7 AND feedback.resolved_at IS NULL)) \
     AND (CAST($8 AS TEXT) IS NULL OR EXISTS (SELECT 1 FROM sites WHERE sites.id = $8 AND sites.view_count = 0))";

// Only the first delivery of a lane is due; the next one follows when it is finished.
const INSERT: &str = "INSERT INTO webhook_deliveries (endpoint_id, id, account_id, site_id, lane, seq, event_type, body, state, \
     attempts, claimed, next_attempt_at, created_at) \
     SELECT e.id, $1, e.account_id, $2, $3, e.last_seq, $4, $5, 'waiting', 0, 0, \
     CASE WHEN e.kind = 'listen' OR EXISTS (SELECT 1 FROM webhook_deliveries d WHERE d.endpoint_id = e.id \
     AND d.lane = $3 AND d.state = 'waiting') THEN 9223372036854775807 ELSE CAST($6 AS BIGINT) END, CAST($6 AS BIGINT) \
     FROM webhook_endpoints e WHERE e.account_id = $7 AND e.last_event = $1";

/// Writes an event for every endpoint that wants it. An endpoint for which `waiting_most` deliveries wait gets nothing, and
/// counts what it missed.
pub fn enqueue(event: &OutboxEvent<'_>, condition: OutboxCondition<'_>, waiting_most: i64) -> [Stmt; 2] {
    let (unresolved, unviewed) = match condition {
        OutboxCondition::Always => (None, None),
        OutboxCondition::Unresolved(feedback) => (Some(feedback), None),
        OutboxCondition::Unviewed(site) => (None, Some(site)),
    };
    let args = vec![
        waiting_most.into(),
        event.id.into(),
        event.account_id.into(),
        event.site_id.into(),
        EventFilter::pattern(event.event_type).into(),
        event.now.into(),
        unresolved.into(),
        unviewed.into(),
    ];
    [Stmt::new(ADMIT, args), insert(event)]
}

fn insert(event: &OutboxEvent<'_>) -> Stmt {
    Stmt::new(
        INSERT,
        vec![
            event.id.into(),
            event.site_id.into(),
            event.site_id.unwrap_or(event.id).into(),
            event.event_type.as_str().into(),
            event.body.into(),
            event.now.into(),
            event.account_id.into(),
        ],
    )
}

/// Writes an event for one endpoint, whatever its filter says. Fails with [`crate::webhook_endpoints::BUSY`] if it is not
/// enabled or too many deliveries wait.
pub fn enqueue_for(endpoint_id: &str, event: &OutboxEvent<'_>, waiting_most: i64) -> [Stmt; 2] {
    let admit = Stmt::new(
        "UPDATE webhook_endpoints SET last_event = $1, last_seq = last_seq + 1, waiting = waiting + 1 \
         WHERE id = $2 AND account_id = $3 AND state = 'enabled' AND waiting < $4",
        vec![event.id.into(), endpoint_id.into(), event.account_id.into(), waiting_most.into()],
    );
    [admit.one(crate::webhook_endpoints::BUSY), insert(event)]
}
