//! SQL for `webhook_endpoints`: where an account's events are sent.

use crate::db::{DbError, Row, Stmt, columns};
use crate::store::Store;
use bytes::Bytes;
use dropleaf_core::site_change::Field;
use dropleaf_core::webhook::{
    Endpoint, EndpointKind, EndpointState, EventFilter, MOST_ENDPOINTS, WebhookUrl,
};

/// The account has the maximum number of endpoints.
pub const FULL: &str = "webhooks_full";
pub const UNKNOWN: &str = "unknown_webhook";
/// The endpoint is not enabled, or too many deliveries wait for it.
pub const BUSY: &str = "webhook_busy";

columns! {
    EndpointColumns, endpoint_columns:
    id, account_id, grant_id, site_id, kind, url, description, events, state, waiting, missed, failing_since, last_success_at,
    previous_until, created_at, expires_at,
}
columns! { SecretColumns, secret_columns: secret, previous_secret }

/// The encrypted signing keys of an endpoint.
#[derive(Debug, Clone)]
pub struct SealedSecrets {
    pub current: Bytes,
    pub previous: Option<Bytes>,
}

macro_rules! select {
    ($tail:literal) => {
        concat!("SELECT ", endpoint_columns!(), " FROM webhook_endpoints ", $tail)
    };
}

/// Whether an endpoint `e` may get events at the time `$1`: its account is not suspended, and the access of the program that
/// created it has not ended.
macro_rules! may_get_events {
    () => {
        "EXISTS (SELECT 1 FROM accounts WHERE accounts.id = e.account_id AND accounts.suspended_at IS NULL) \
         AND (e.grant_id IS NULL OR EXISTS (SELECT 1 FROM oauth_grants WHERE oauth_grants.id = e.grant_id \
         AND oauth_grants.revoked_at IS NULL AND oauth_grants.ends_at > $1))"
    };
}

pub(crate) use may_get_events;

fn row(row: &Row<'_>) -> Result<Endpoint, DbError> {
    const COLUMN: EndpointColumns = EndpointColumns::starting_at(0);
    let unknown = || DbError::internal("a webhook row has an unknown state or kind");
    Ok(Endpoint {
        id: row.string(COLUMN.id)?,
        account_id: row.string(COLUMN.account_id)?,
        grant_id: row.opt_string(COLUMN.grant_id)?,
        site_id: row.opt_string(COLUMN.site_id)?,
        kind: EndpointKind::parse(row.text(COLUMN.kind)?).ok_or_else(unknown)?,
        url: row.opt_string(COLUMN.url)?.map(WebhookUrl::parse_stored),
        description: row.string(COLUMN.description)?,
        events: EventFilter::parse_stored(row.text(COLUMN.events)?),
        state: EndpointState::parse(row.text(COLUMN.state)?).ok_or_else(unknown)?,
        waiting: row.int(COLUMN.waiting)?,
        missed: row.int(COLUMN.missed)?,
        failing_since: row.opt_int(COLUMN.failing_since)?,
        last_success_at: row.opt_int(COLUMN.last_success_at)?,
        previous_until: row.opt_int(COLUMN.previous_until)?,
        created_at: row.int(COLUMN.created_at)?,
        expires_at: row.opt_int(COLUMN.expires_at)?,
    })
}

fn row_with_secrets(found: &Row<'_>) -> Result<(Endpoint, SealedSecrets), DbError> {
    const COLUMN: SecretColumns = SecretColumns::starting_at(EndpointColumns::COUNT);
    let current = Bytes::copy_from_slice(found.bytes(COLUMN.secret)?);
    let previous = found.opt_bytes(COLUMN.previous_secret)?.map(Bytes::copy_from_slice);
    Ok((row(found)?, SealedSecrets { current, previous }))
}

impl Store {
    /// The endpoints of an account, or only those that one OAuth client created, oldest first. Their number is limited.
    pub async fn list_webhooks(
        &self,
        account_id: &str,
        grant_id: Option<&str>,
    ) -> Result<Vec<Endpoint>, DbError> {
        let sql = select!(
            "WHERE account_id = $1 AND (CAST($2 AS TEXT) IS NULL OR grant_id = $2) ORDER BY created_at, id LIMIT $3"
        );
        self.db.list(sql, vec![account_id.into(), grant_id.into(), MOST_ENDPOINTS.into()], row).await
    }

    pub async fn find_webhook(
        &self,
        account_id: &str,
        grant_id: Option<&str>,
        id: &str,
    ) -> Result<Option<Endpoint>, DbError> {
        let sql =
            select!("WHERE id = $1 AND account_id = $2 AND (CAST($3 AS TEXT) IS NULL OR grant_id = $3)");
        self.db.get(sql, &[id.into(), account_id.into(), grant_id.into()], row).await
    }

    /// An endpoint of any account with its secrets.
    pub async fn find_webhook_with_secrets(
        &self,
        id: &str,
    ) -> Result<Option<(Endpoint, SealedSecrets)>, DbError> {
        let sql = concat!(
            "SELECT ",
            endpoint_columns!(),
            ", ",
            secret_columns!(),
            " FROM webhook_endpoints WHERE id = $1"
        );
        self.db.get(sql, &[id.into()], row_with_secrets).await
    }

    /// The endpoint of a listening program with its secrets, if it may get events now.
    pub async fn find_listening_webhook(
        &self,
        account_id: &str,
        grant_id: Option<&str>,
        id: &str,
        now: i64,
    ) -> Result<Option<(Endpoint, SealedSecrets)>, DbError> {
        let sql = concat!(
            "SELECT ",
            endpoint_columns!(),
            ", ",
            secret_columns!(),
            " FROM webhook_endpoints e WHERE ",
            may_get_events!(),
            " AND e.expires_at > $1 AND e.id = $2 AND e.account_id = $3 AND (CAST($4 AS TEXT) IS NULL OR e.grant_id = $4)"
        );
        let args = [now.into(), id.into(), account_id.into(), grant_id.into()];
        self.db.get(sql, &args, row_with_secrets).await
    }
}

/// Adds an endpoint, unless the account has the maximum number. Call it after `counters::lock_account`.
pub fn insert(endpoint: &Endpoint, secret: &Bytes, most: i64) -> Stmt {
    Stmt::new(
        "INSERT INTO webhook_endpoints (id, account_id, grant_id, site_id, kind, url, description, events, secret, state, \
         last_event, last_seq, waiting, missed, created_at, expires_at) \
         SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, '', 0, 0, 0, $11, $12 \
         WHERE (SELECT COUNT(*) FROM webhook_endpoints WHERE account_id = $2 \
         AND (expires_at IS NULL OR expires_at > $11)) < $13",
        vec![
            endpoint.id.as_str().into(),
            endpoint.account_id.as_str().into(),
            endpoint.grant_id.as_deref().into(),
            endpoint.site_id.as_deref().into(),
            endpoint.kind.as_str().into(),
            endpoint.url.as_ref().map(WebhookUrl::as_str).into(),
            endpoint.description.as_str().into(),
            endpoint.events.stored().into(),
            secret.clone().into(),
            endpoint.state.as_str().into(),
            endpoint.created_at.into(),
            endpoint.expires_at.into(),
            most.into(),
        ],
    )
    .one(FULL)
}

/// What changes of an endpoint; the rest stays as another request may have left it in the meantime.
#[derive(Debug, Clone, Default)]
pub struct EndpointChange {
    pub url: Option<WebhookUrl>,
    pub description: Option<String>,
    pub events: Option<EventFilter>,
    pub site_id: Field<String>,
    pub enabled: Option<bool>,
}

/// Changes what an owner can change. An endpoint that is enabled again starts without its history of failures; one that the
/// server disabled cannot be paused.
pub fn update(account_id: &str, id: &str, change: &EndpointChange) -> Stmt {
    let (is_site_sent, site_id) = match &change.site_id {
        Field::Absent => (0_i64, None),
        Field::Null => (1, None),
        Field::Value(id) => (1, Some(id.as_str())),
    };
    let state = |enables| if enables { EndpointState::Enabled } else { EndpointState::Disabled };
    Stmt::new(
        "UPDATE webhook_endpoints SET url = COALESCE(CAST($1 AS TEXT), url), \
         description = COALESCE(CAST($2 AS TEXT), description), events = COALESCE(CAST($3 AS TEXT), events), \
         site_id = CASE WHEN CAST($4 AS BIGINT) = 1 THEN CAST($5 AS TEXT) ELSE site_id END, \
         failing_since = CASE WHEN CAST($6 AS TEXT) = 'enabled' AND state <> 'enabled' THEN NULL ELSE failing_since END, \
         state = CASE WHEN CAST($6 AS TEXT) = 'enabled' THEN 'enabled' \
         WHEN CAST($6 AS TEXT) = 'disabled' AND state = 'enabled' THEN 'disabled' ELSE state END \
         WHERE id = $7 AND account_id = $8",
        vec![
            change.url.as_ref().map(WebhookUrl::as_str).into(),
            change.description.as_deref().into(),
            change.events.as_ref().map(EventFilter::stored).into(),
            is_site_sent.into(),
            site_id.into(),
            change.enabled.map(|enables| state(enables).as_str()).into(),
            id.into(),
            account_id.into(),
        ],
    )
    .one(UNKNOWN)
}

/// Replaces the secret. The previous one signs too until `previous_until`.
pub fn rotate(account_id: &str, id: &str, secret: &Bytes, previous_until: i64) -> Stmt {
    Stmt::new(
        "UPDATE webhook_endpoints SET previous_secret = secret, previous_until = $1, secret = $2 \
         WHERE id = $3 AND account_id = $4",
        vec![previous_until.into(), secret.clone().into(), id.into(), account_id.into()],
    )
    .one(UNKNOWN)
}

/// Postpones the end of a listening program's endpoint.
pub fn extend(id: &str, expires_at: i64) -> Stmt {
    Stmt::new(
        "UPDATE webhook_endpoints SET expires_at = $1 WHERE id = $2 AND expires_at IS NOT NULL",
        vec![expires_at.into(), id.into()],
    )
    .one(UNKNOWN)
}

/// Deletes an endpoint with its deliveries.
pub fn delete(account_id: &str, id: &str) -> [Stmt; 2] {
    let endpoint = Stmt::new(
        "DELETE FROM webhook_endpoints WHERE id = $1 AND account_id = $2",
        vec![id.into(), account_id.into()],
    );
    let deliveries = Stmt::new("DELETE FROM webhook_deliveries WHERE endpoint_id = $1", [id.into()]);
    [endpoint.one(UNKNOWN), deliveries]
}

/// Endpoints that have ended: of a program that stopped listening, of an app whose access has ended, of a page that is gone.
macro_rules! ended {
    () => {
        "SELECT id FROM webhook_endpoints WHERE expires_at <= $1 \
         OR (grant_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM oauth_grants WHERE oauth_grants.id = webhook_endpoints.grant_id \
         AND oauth_grants.revoked_at IS NULL AND oauth_grants.ends_at > $1)) \
         OR (site_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM sites WHERE sites.id = webhook_endpoints.site_id))"
    };
}

/// Deletes endpoints that have ended, with their deliveries, and forgets secrets that were replaced.
pub fn delete_ended(now: i64) -> [Stmt; 3] {
    [
        Stmt::new(
            concat!("DELETE FROM webhook_deliveries WHERE endpoint_id IN (", ended!(), ")"),
            [now.into()],
        ),
        Stmt::new(concat!("DELETE FROM webhook_endpoints WHERE id IN (", ended!(), ")"), [now.into()]),
        Stmt::new(
            "UPDATE webhook_endpoints SET previous_secret = NULL, previous_until = NULL WHERE previous_until <= $1",
            [now.into()],
        ),
    ]
}
