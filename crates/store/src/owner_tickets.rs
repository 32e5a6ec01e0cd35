//! SQL for `owner_tickets`: single-use tickets that let owners open their own pages from the dashboard.

use crate::db::{DbError, Stmt};
use crate::store::Store;
use dropleaf_core::owner_ticket;

/// A ticket and what it is bound to.
#[derive(Debug, Clone, Copy)]
pub struct OwnerTicket<'a> {
    pub hash: &'a [u8; 32],
    pub site_id: &'a str,
    pub account_id: &'a str,
    /// Changing the gate invalidates the ticket.
    pub gate_version: i64,
}

impl Store {
    /// Whether there is an unexpired ticket for this site.
    pub async fn has_owner_ticket(&self, hash: &[u8; 32], site_id: &str, now: i64) -> Result<bool, DbError> {
        let sql = "SELECT expires_at FROM owner_tickets WHERE ticket_hash = $1 AND site_id = $2 AND expires_at > $3";
        let found = self.db.get(sql, &[hash.into(), site_id.into(), now.into()], |row| row.int(0)).await?;
        Ok(found.is_some())
    }

    /// Takes the ticket if it matches exactly: of any number of concurrent requests, one succeeds.
    pub async fn take_owner_ticket(&self, ticket: OwnerTicket<'_>, now: i64) -> Result<bool, DbError> {
        let stmt = Stmt::new(
            "DELETE FROM owner_tickets WHERE ticket_hash = $1 AND site_id = $2 AND account_id = $3 \
             AND gate_version = $4 AND expires_at > $5",
            vec![
                ticket.hash.into(),
                ticket.site_id.into(),
                ticket.account_id.into(),
                ticket.gate_version.into(),
                now.into(),
            ],
        );
        Ok(self.db.exec(stmt).await?.affected == 1)
    }
}

pub fn insert(ticket: OwnerTicket<'_>, expires_at: i64) -> Stmt {
    Stmt::new(
        "INSERT INTO owner_tickets (ticket_hash, site_id, account_id, gate_version, expires_at) \
         VALUES ($1, $2, $3, $4, $5)",
        vec![
            ticket.hash.into(),
            ticket.site_id.into(),
            ticket.account_id.into(),
            ticket.gate_version.into(),
            expires_at.into(),
        ],
    )
}

/// Deletes all but the newest tickets of an account.
pub fn keep_newest(account_id: &str) -> Stmt {
    Stmt::new(
        "DELETE FROM owner_tickets WHERE account_id = $1 AND ticket_hash NOT IN (SELECT ticket_hash FROM owner_tickets \
         WHERE account_id = $1 ORDER BY expires_at DESC, ticket_hash LIMIT $2)",
        vec![account_id.into(), owner_ticket::MOST.into()],
    )
}

pub fn delete_expired(now: i64) -> Stmt {
    Stmt::new("DELETE FROM owner_tickets WHERE expires_at <= $1", vec![now.into()])
}
