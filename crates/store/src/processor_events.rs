//! SQL for `processor_events`: events of the card processor that came before the payment they concern, and marks of what has
//! happened to disputes.

use crate::db::{DbError, Stmt};
use crate::store::Store;

/// An event or a mark of this id is stored.
pub const STORED: &str = "processor_event_stored";
/// Events that can wait for one payment; a payment has few, so more are not from our processor.
const WAITING_MOST: i64 = 20;

impl Store {
    /// The bodies of events that wait for this payment intent, oldest first.
    pub async fn list_waiting_events(&self, intent: &str) -> Result<Vec<(String, String)>, DbError> {
        let sql = "SELECT id, body FROM processor_events WHERE intent = $1 AND body IS NOT NULL \
                   ORDER BY received_at, id LIMIT $2";
        self.db
            .list(sql, vec![intent.into(), WAITING_MOST.into()], |row| Ok((row.string(0)?, row.string(1)?)))
            .await
    }

    /// Payment intents with waiting events whose payment is decided by now.
    pub async fn list_decided_intents(&self, limit: i64) -> Result<Vec<String>, DbError> {
        let sql = "SELECT DISTINCT e.intent FROM processor_events e JOIN payments p ON p.tx_hash = e.intent \
                   WHERE e.intent IS NOT NULL AND p.network = 'stripe' AND p.state IN ('fulfilled', 'refunded') \
                   ORDER BY e.intent LIMIT $1";
        self.db.list(sql, vec![limit.into()], |row| row.string(0)).await
    }

    /// The text of a mark.
    pub async fn find_mark(&self, id: &str) -> Result<Option<String>, DbError> {
        let sql = "SELECT body FROM processor_events WHERE id = $1 AND intent IS NULL AND body IS NOT NULL";
        self.db.get(sql, &[id.into()], |row| row.string(0)).await
    }
}

/// Stores an event until its payment is recorded; nothing happens if it is stored already.
pub fn store(id: &str, intent: &str, body: &str, now: i64) -> Stmt {
    Stmt::new(
        "INSERT INTO processor_events (id, intent, body, received_at) VALUES ($1, $2, $3, $4) ON CONFLICT (id) DO NOTHING",
        vec![id.into(), intent.into(), body.into(), now.into()],
    )
}

/// Records that something has happened; fails if it was recorded before.
pub fn mark(id: &str, text: &str, now: i64) -> Stmt {
    Stmt::new(
        "INSERT INTO processor_events (id, body, received_at) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING",
        vec![id.into(), text.into(), now.into()],
    )
    .one(STORED)
}

/// Fails if an event or a mark of this id is stored.
pub fn require_absent(id: &str) -> Stmt {
    Stmt::new("SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM processor_events WHERE id = $1)", vec![id.into()])
        .one(STORED)
}

pub fn delete(id: &str) -> Stmt {
    Stmt::new("DELETE FROM processor_events WHERE id = $1", vec![id.into()])
}

/// Deletes events received before this time, which the processor repeats no more, and marks that are older than a dispute lasts.
pub fn delete_old(received_before: i64, marked_before: i64) -> Stmt {
    Stmt::new(
        "DELETE FROM processor_events WHERE received_at < $1 AND (intent IS NOT NULL OR received_at < $2)",
        vec![received_before.into(), marked_before.into()],
    )
}
