//! SQL for `webhook_deliveries`: the events that wait to be sent, each in the lane of its page, and what became of them. Every
//! change locks the row of the endpoint first, so that changes of its deliveries are in order.

use crate::db::{DbError, Row, Stmt, columns};
use crate::store::Store;
use crate::webhook_endpoints::may_get_events;
use dropleaf_core::webhook::{Delivery, DeliveryState, NEVER};

/// Another node took the delivery, or it is finished.
pub const MOVED: &str = "webhook_delivery_moved";
/// It is being sent, or waits for an earlier one.
pub const NOT_RETRIABLE: &str = "webhook_delivery_not_retriable";

columns! {
    DeliveryColumns, delivery_columns, "d.":
    id, endpoint_id, account_id, site_id, seq, event_type, body, state, attempts, next_attempt_at, created_at,
    last_attempt_at, status, error,
}

fn row(row: &Row<'_>) -> Result<Delivery, DbError> {
    const COLUMN: DeliveryColumns = DeliveryColumns::starting_at(0);
    let unknown = || DbError::internal("a webhook delivery has an unknown state");
    Ok(Delivery {
        id: row.string(COLUMN.id)?,
        endpoint_id: row.string(COLUMN.endpoint_id)?,
        account_id: row.string(COLUMN.account_id)?,
        site_id: row.opt_string(COLUMN.site_id)?.unwrap_or_default(),
        seq: row.int(COLUMN.seq)?,
        event_type: row.string(COLUMN.event_type)?,
        body: row.string(COLUMN.body)?,
        state: DeliveryState::parse(row.text(COLUMN.state)?).ok_or_else(unknown)?,
        attempts: row.int(COLUMN.attempts)?,
        next_attempt_at: row.int(COLUMN.next_attempt_at)?,
        created_at: row.int(COLUMN.created_at)?,
        last_attempt_at: row.opt_int(COLUMN.last_attempt_at)?,
        status: row.opt_int(COLUMN.status)?,
        error: row.opt_string(COLUMN.error)?,
    })
}

impl Store {
    /// Deliveries that are due, at most `per_account` of each account, so that none has to wait for the backlog of another.
    /// Bodies are read only of those that are returned.
    pub async fn list_due_deliveries(
        &self,
        now: i64,
        per_account: i64,
        limit: i64,
    ) -> Result<Vec<Delivery>, DbError> {
        let sql = concat!(
            "SELECT ",
            delivery_columns!(),
            " FROM (SELECT endpoint_id, id, place FROM (SELECT w.endpoint_id, w.id, w.next_attempt_at, w.seq, \
             ROW_NUMBER() OVER (PARTITION BY w.account_id ORDER BY w.next_attempt_at, w.seq) AS place \
             FROM webhook_deliveries w JOIN webhook_endpoints e ON e.id = w.endpoint_id WHERE e.state = 'enabled' AND ",
            may_get_events!(),
            " AND w.state = 'waiting' AND w.next_attempt_at <= $1) AS placed \
             WHERE place <= $2 ORDER BY place, next_attempt_at, seq LIMIT $3) AS due \
             JOIN webhook_deliveries d ON d.endpoint_id = due.endpoint_id AND d.id = due.id \
             ORDER BY due.place, d.next_attempt_at, d.seq"
        );
        self.db.list(sql, vec![now.into(), per_account.into(), limit.into()], row).await
    }

    /// An endpoint's deliveries before a position, newest first; only those in one state if it is given.
    pub async fn list_deliveries(
        &self,
        endpoint_id: &str,
        state: Option<DeliveryState>,
        before: i64,
        limit: i64,
    ) -> Result<Vec<Delivery>, DbError> {
        let sql = concat!(
            "SELECT ",
            delivery_columns!(),
            " FROM webhook_deliveries d WHERE d.endpoint_id = $1 AND (CAST($2 AS TEXT) IS NULL OR d.state = $2) AND d.seq < $3 \
             ORDER BY d.seq DESC LIMIT $4"
        );
        let state = state.map(DeliveryState::as_str);
        self.db.list(sql, vec![endpoint_id.into(), state.into(), before.into(), limit.into()], row).await
    }

    pub async fn find_delivery(&self, endpoint_id: &str, id: &str) -> Result<Option<Delivery>, DbError> {
        let sql = concat!(
            "SELECT ",
            delivery_columns!(),
            " FROM webhook_deliveries d WHERE d.endpoint_id = $1 AND d.id = $2"
        );
        self.db.get(sql, &[endpoint_id.into(), id.into()], row).await
    }

    /// The deliveries that wait for a listening program, oldest first.
    pub async fn list_waiting_deliveries(
        &self,
        endpoint_id: &str,
        limit: i64,
    ) -> Result<Vec<Delivery>, DbError> {
        let sql = concat!(
            "SELECT ",
            delivery_columns!(),
            " FROM webhook_deliveries d WHERE d.endpoint_id = $1 AND d.state = 'waiting' ORDER BY d.seq LIMIT $2"
        );
        self.db.list(sql, vec![endpoint_id.into(), limit.into()], row).await
    }

    /// How many deliveries wait, of all accounts.
    pub async fn count_waiting_deliveries(&self) -> Result<i64, DbError> {
        let sql = "SELECT CAST(COALESCE(SUM(waiting), 0) AS BIGINT) FROM webhook_endpoints";
        Ok(self.db.get(sql, &[], |row| row.int(0)).await?.unwrap_or_default())
    }
}

/// Takes a due delivery for one attempt, if its endpoint may still get events. If this node dies, it is due again at
/// `lease_until`.
pub fn claim(delivery: &Delivery, lease_until: i64, now: i64) -> Stmt {
    Stmt::new(
        concat!(
            "UPDATE webhook_deliveries SET claimed = 1, attempts = attempts + 1, last_attempt_at = $1, next_attempt_at = $2 \
             WHERE endpoint_id = $3 AND id = $4 AND state = 'waiting' AND attempts = $5 AND next_attempt_at <= $1 \
             AND EXISTS (SELECT 1 FROM webhook_endpoints e WHERE e.id = webhook_deliveries.endpoint_id \
             AND e.state = 'enabled' AND ",
            may_get_events!(),
            ")"
        ),
        vec![
            now.into(),
            lease_until.into(),
            delivery.endpoint_id.as_str().into(),
            delivery.id.as_str().into(),
            delivery.attempts.into(),
        ],
    )
    .one(MOVED)
}

/// The result of an attempt.
#[derive(Debug, Clone, Copy)]
pub struct Attempt<'a> {
    pub endpoint_id: &'a str,
    pub id: &'a str,
    /// The number of this attempt: if it is no longer the last one, another node has taken the delivery.
    pub number: i64,
    pub status: Option<i64>,
    pub error: Option<&'a str>,
}

fn record(attempt: &Attempt<'_>, state: DeliveryState, next_attempt_at: i64) -> Stmt {
    Stmt::new(
        "UPDATE webhook_deliveries SET claimed = 0, state = $1, next_attempt_at = $2, status = $3, error = $4 \
         WHERE endpoint_id = $5 AND id = $6 AND state = 'waiting' AND attempts = $7",
        vec![
            state.as_str().into(),
            next_attempt_at.into(),
            attempt.status.into(),
            attempt.error.into(),
            attempt.endpoint_id.into(),
            attempt.id.into(),
            attempt.number.into(),
        ],
    )
    .one(MOVED)
}

/// Makes the next delivery due in the lane of one that is finished.
fn release_next(attempt: &Attempt<'_>, now: i64) -> Stmt {
    Stmt::new(
        "UPDATE webhook_deliveries SET next_attempt_at = $1 WHERE endpoint_id = $2 AND state = 'waiting' \
         AND next_attempt_at = $3 AND lane = (SELECT lane FROM webhook_deliveries WHERE endpoint_id = $2 AND id = $4) \
         AND seq = (SELECT MIN(w.seq) FROM webhook_deliveries w WHERE w.endpoint_id = $2 AND w.state = 'waiting' \
         AND w.lane = (SELECT lane FROM webhook_deliveries WHERE endpoint_id = $2 AND id = $4))",
        vec![now.into(), attempt.endpoint_id.into(), NEVER.into(), attempt.id.into()],
    )
}

pub fn record_delivered(attempt: &Attempt<'_>, now: i64) -> Vec<Stmt> {
    let endpoint = Stmt::new(
        "UPDATE webhook_endpoints SET waiting = waiting - 1, failing_since = NULL, last_success_at = $1 WHERE id = $2",
        vec![now.into(), attempt.endpoint_id.into()],
    );
    vec![endpoint, record(attempt, DeliveryState::Delivered, NEVER), release_next(attempt, now)]
}

/// The delivery is sent again at `next_attempt_at`.
pub fn record_failed(attempt: &Attempt<'_>, next_attempt_at: i64, now: i64) -> Vec<Stmt> {
    let endpoint = Stmt::new(
        "UPDATE webhook_endpoints SET failing_since = COALESCE(failing_since, $1) WHERE id = $2",
        vec![now.into(), attempt.endpoint_id.into()],
    );
    vec![endpoint, record(attempt, DeliveryState::Waiting, next_attempt_at)]
}

/// The delivery is given up, and the next one of its lane follows.
pub fn record_dead(attempt: &Attempt<'_>, now: i64) -> Vec<Stmt> {
    let endpoint = Stmt::new(
        "UPDATE webhook_endpoints SET waiting = waiting - 1, failing_since = COALESCE(failing_since, $1) WHERE id = $2",
        vec![now.into(), attempt.endpoint_id.into()],
    );
    vec![endpoint, record(attempt, DeliveryState::Dead, NEVER), release_next(attempt, now)]
}

/// Disables an endpoint that fails, and gives up everything that waits for it. Goes after [`record_dead`].
pub fn give_up_endpoint(endpoint_id: &str, why: &str) -> [Stmt; 2] {
    [
        Stmt::new(
            "UPDATE webhook_endpoints SET state = 'failed', waiting = 0 WHERE id = $1",
            [endpoint_id.into()],
        ),
        Stmt::new(
            "UPDATE webhook_deliveries SET state = 'dead', claimed = 0, next_attempt_at = $1, error = $2 \
             WHERE endpoint_id = $3 AND state = 'waiting'",
            vec![NEVER.into(), why.into(), endpoint_id.into()],
        ),
    ]
}

/// Sends a finished delivery again, after those of its lane that wait.
pub fn requeue(endpoint_id: &str, id: &str, waiting_most: i64, now: i64) -> [Stmt; 2] {
    let endpoint = Stmt::new(
        "UPDATE webhook_endpoints SET last_seq = last_seq + 1, waiting = waiting + 1 \
         WHERE id = $1 AND state = 'enabled' AND waiting < $2",
        vec![endpoint_id.into(), waiting_most.into()],
    );
    let delivery = Stmt::new(
        "UPDATE webhook_deliveries SET state = 'waiting', attempts = 0, claimed = 0, \
         seq = (SELECT last_seq FROM webhook_endpoints WHERE webhook_endpoints.id = $1), \
         next_attempt_at = CASE WHEN EXISTS (SELECT 1 FROM webhook_endpoints e WHERE e.id = $1 AND e.kind = 'listen') \
         OR EXISTS (SELECT 1 FROM webhook_deliveries w WHERE w.endpoint_id = $1 \
         AND w.lane = webhook_deliveries.lane AND w.state = 'waiting') THEN 9223372036854775807 ELSE CAST($2 AS BIGINT) END \
         WHERE endpoint_id = $1 AND id = $3 AND state <> 'waiting'",
        vec![endpoint_id.into(), now.into(), id.into()],
    );
    [endpoint.one(crate::webhook_endpoints::BUSY), delivery.one(NOT_RETRIABLE)]
}

/// Sends a waiting delivery now instead of at its time. Not while it is being sent, nor before an earlier one.
pub fn hurry(endpoint_id: &str, id: &str, now: i64) -> Stmt {
    Stmt::new(
        "UPDATE webhook_deliveries SET next_attempt_at = $1 \
         WHERE endpoint_id = $2 AND id = $3 AND state = 'waiting' AND claimed = 0 AND next_attempt_at < $4",
        vec![now.into(), endpoint_id.into(), id.into(), NEVER.into()],
    )
    .one(NOT_RETRIABLE)
}

/// Marks what a listening program has received: everything up to a position.
pub fn acknowledge(endpoint_id: &str, up_to: i64, now: i64) -> [Stmt; 2] {
    [
        Stmt::new(
            "UPDATE webhook_endpoints SET last_success_at = $1, waiting = waiting - (SELECT COUNT(*) FROM webhook_deliveries d \
             WHERE d.endpoint_id = $2 AND d.state = 'waiting' AND d.seq <= $3) WHERE id = $2",
            vec![now.into(), endpoint_id.into(), up_to.into()],
        ),
        Stmt::new(
            "UPDATE webhook_deliveries SET state = 'delivered', attempts = attempts + 1, last_attempt_at = $1 \
             WHERE endpoint_id = $2 AND state = 'waiting' AND seq <= $3",
            vec![now.into(), endpoint_id.into(), up_to.into()],
        ),
    ]
}

/// Deletes finished deliveries that are old, or that have more than `most` newer ones of their endpoint.
pub fn delete_old(created_before: i64, most: i64) -> [Stmt; 2] {
    [
        Stmt::new(
            "DELETE FROM webhook_deliveries WHERE state <> 'waiting' AND created_at <= $1",
            [created_before.into()],
        ),
        Stmt::new(
            "DELETE FROM webhook_deliveries WHERE state <> 'waiting' \
             AND endpoint_id IN (SELECT e.id FROM webhook_endpoints e WHERE e.last_seq > $1) \
             AND seq <= (SELECT e.last_seq - $1 FROM webhook_endpoints e WHERE e.id = webhook_deliveries.endpoint_id)",
            [most.into()],
        ),
    ]
}
