//! SQL that erases an account: what keeps it from being erased, its pages that still have content, and the statements that
//! remove every other row about it. Ledger entries and payments stay, without anything that tells who the person was.

use crate::db::{DbError, Stmt};
use crate::revisions;
use crate::sites::{row as site_row, select};
use crate::store::Store;
use dropleaf_core::site::Site;

/// Money of the account arrived or may still arrive.
pub const UNSETTLED: &str = "account_unsettled";

/// The rows that were deleted, by what they were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ErasedRows {
    pub api_keys: u64,
    pub sessions: u64,
    pub passkeys: u64,
    pub app_grants: u64,
    pub custom_domains: u64,
    pub tombstones: u64,
}

/// What becomes of the rows of erased pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tombstones {
    /// They stay without an owner, so that the links answer that the page is gone. Their slugs stay reserved: those that
    /// are not released yet until this time.
    Kept { slugs_until: i64 },
    /// For pages that no viewer could have seen.
    Deleted,
}

impl Store {
    /// Pages of an account in any state whose content is still stored.
    pub async fn list_unpurged_of(&self, account_id: &str, limit: i64) -> Result<Vec<Site>, DbError> {
        let sql = select!("WHERE account_id = $1 AND purged_at IS NULL ORDER BY id LIMIT $2");
        self.db.list(sql, vec![account_id.into(), limit.into()], site_row).await
    }

    /// How many payments of the account are undecided. A pay session counts while its payment form could still be paid.
    pub async fn count_undecided_payments_of(&self, account_id: &str) -> Result<i64, DbError> {
        let sql = "SELECT (SELECT COUNT(*) FROM payments WHERE account_id = $1 \
                   AND state IN ('verified', 'settling', 'settled', 'unknown')) \
                   + (SELECT COUNT(*) FROM pay_sessions WHERE account_id = $1 \
                   AND state IN ('pending', 'processing') AND checkout_id IS NOT NULL)";
        Ok(self.db.get(sql, &[account_id.into()], |row| row.int(0)).await?.unwrap_or_default())
    }

    /// How many reports about pages of the account are undecided.
    pub async fn count_open_reports_of(&self, account_id: &str) -> Result<i64, DbError> {
        let sql = "SELECT COUNT(*) FROM reports JOIN sites ON sites.id = reports.site_id \
                   WHERE sites.account_id = $1 AND sites.purged_at IS NULL AND reports.closed_at IS NULL";
        Ok(self.db.get(sql, &[account_id.into()], |row| row.int(0)).await?.unwrap_or_default())
    }

    /// The content of the account's appeals that no other publisher joined.
    pub async fn list_appealed_bundles_of(&self, account_id: &str) -> Result<Vec<String>, DbError> {
        let sql = "SELECT bundle_id FROM appeals WHERE account_id = $1 AND bundle_id IS NOT NULL \
                   AND NOT EXISTS (SELECT 1 FROM appeal_senders WHERE appeal_senders.appeal_id = appeals.id)";
        self.db.list(sql, vec![account_id.into()], |row| row.string(0)).await
    }
}

/// Statements whose counts are reported by [`erased`]; the domains are deleted later.
fn counted(account_id: &str, tombstones: Tombstones) -> [Stmt; 5] {
    let of = |sql| Stmt::new(sql, [account_id.into()]);
    [
        of("DELETE FROM api_keys WHERE account_id = $1"),
        of("DELETE FROM sessions WHERE account_id = $1"),
        of("DELETE FROM passkeys WHERE account_id = $1"),
        of("DELETE FROM oauth_grants WHERE account_id = $1"),
        of(match tombstones {
            Tombstones::Kept { .. } => {
                "UPDATE sites SET account_id = NULL, slug = NULL, title = '', search_text = '', password_hash = NULL, \
             email_gate_domain = NULL, claim_hash = NULL, wallet = NULL, primary_domain = NULL \
             WHERE account_id = $1 AND purged_at IS NOT NULL"
            }
            Tombstones::Deleted => "DELETE FROM sites WHERE account_id = $1 AND purged_at IS NOT NULL",
        }),
    ]
}

/// The reserved names of the account. A name that was public is not given to another account at once.
fn slugs(account_id: &str, tombstones: Tombstones) -> Stmt {
    match tombstones {
        Tombstones::Kept { slugs_until } => Stmt::new(
            "UPDATE slugs SET account_id = '', held_until = COALESCE(held_until, $1) WHERE account_id = $2 \
             OR site_id IN (SELECT id FROM sites WHERE sites.account_id = $2)",
            vec![slugs_until.into(), account_id.into()],
        ),
        Tombstones::Deleted => Stmt::new(
            "DELETE FROM slugs WHERE account_id = $1 \
             OR site_id IN (SELECT id FROM sites WHERE sites.account_id = $1)",
            [account_id.into()],
        ),
    }
}

/// Everything that refers to the account by its id, except the rows of [`counted`].
fn by_account(account_id: &str, tombstones: Tombstones, now: i64) -> Vec<Stmt> {
    let of = |sql| Stmt::new(sql, [account_id.into()]);
    vec![
        of("DELETE FROM oauth_tokens WHERE grant_id IN (SELECT id FROM oauth_grants WHERE account_id = $1)"),
        of("DELETE FROM oauth_codes WHERE grant_id IN (SELECT id FROM oauth_grants WHERE account_id = $1)"),
        of("DELETE FROM oauth_requests WHERE session_id IN (SELECT id FROM sessions WHERE account_id = $1)"),
        of("DELETE FROM mcp_answers WHERE account_id = $1"),
        of("DELETE FROM mcp_sessions WHERE account_id = $1"),
        of("DELETE FROM owner_tickets WHERE account_id = $1"),
        of("DELETE FROM device_logins WHERE account_id = $1"),
        of("DELETE FROM passkey_ceremonies WHERE account_id = $1"),
        of("DELETE FROM webhook_deliveries WHERE account_id = $1"),
        of("DELETE FROM webhook_endpoints WHERE account_id = $1"),
        of("DELETE FROM email_notices WHERE account_id = $1"),
        of(
            "DELETE FROM email_pauses WHERE lane = $1 OR lane IN (SELECT id FROM sites WHERE sites.account_id = $1)",
        ),
        slugs(account_id, tombstones),
        of("DELETE FROM pay_sessions WHERE account_id = $1"),
        // Ids contain no wildcards.
        of("DELETE FROM idempotency WHERE scope = $1 OR scope LIKE CAST($1 AS TEXT) || ':%'"),
        of("DELETE FROM counters WHERE key LIKE '%:' || CAST($1 AS TEXT)"),
        // Others may wait for a decision about the same content.
        of(
            "UPDATE appeals SET account_id = NULL, comment = NULL, contact = NULL, letter_at = NULL WHERE account_id = $1 \
            AND EXISTS (SELECT 1 FROM appeal_senders WHERE appeal_senders.appeal_id = appeals.id)",
        ),
        Stmt::new(
            "UPDATE bundles SET refs = refs - (SELECT COUNT(*) FROM appeals WHERE appeals.bundle_id = bundles.id \
             AND appeals.account_id = $1), touched_at = $2 \
             WHERE id IN (SELECT bundle_id FROM appeals WHERE account_id = $1 AND bundle_id IS NOT NULL)",
            vec![account_id.into(), now.into()],
        ),
        of("DELETE FROM appeals WHERE account_id = $1"),
        of("DELETE FROM appeal_senders WHERE account_id = $1"),
        // The ledger needs the payment itself: its amount, its key and when it was made.
        of(
            "UPDATE payments SET ask = NULL, draft = NULL, client = '', once_hash = NULL WHERE account_id = $1",
        ),
    ]
}

/// Everything that holds the address: open sign-ins, and what the person wrote to operators elsewhere.
fn by_address(email: &str) -> Vec<Stmt> {
    let of = |sql| Stmt::new(sql, [email.into()]);
    vec![
        of("DELETE FROM sign_ins WHERE email = $1"),
        of("UPDATE reports SET contact = NULL WHERE LOWER(contact) = $1"),
        of("UPDATE appeals SET contact = NULL, letter_at = NULL WHERE LOWER(contact) = $1"),
        of("UPDATE appeal_senders SET contact = NULL WHERE LOWER(contact) = $1"),
    ]
}

/// Fails the transaction if a payment is undecided. The statements after it delete the pay sessions.
fn require_decided_payments(account_id: &str) -> Stmt {
    let sql = "UPDATE accounts SET email = NULL WHERE id = $1 \
               AND NOT EXISTS (SELECT 1 FROM payments WHERE payments.account_id = $1 \
               AND payments.state IN ('verified', 'settling', 'settled', 'unknown')) \
               AND NOT EXISTS (SELECT 1 FROM pay_sessions WHERE pay_sessions.account_id = $1 \
               AND pay_sessions.state IN ('pending', 'processing') AND pay_sessions.checkout_id IS NOT NULL)";
    Stmt::new(sql, [account_id.into()]).one(UNSETTLED)
}

/// The statements that remove an account whose pages are purged. Fails with [`crate::accounts::UNKNOWN`] if it no longer
/// exists, and with [`UNSETTLED`] if it has a balance or undecided payments.
pub fn erase(account_id: &str, email: Option<&str>, tombstones: Tombstones, now: i64) -> Vec<Stmt> {
    let mut stmts = vec![
        Stmt::new("UPDATE accounts SET email = NULL WHERE id = $1", [account_id.into()])
            .one(crate::accounts::UNKNOWN)
            .slow(),
        require_decided_payments(account_id),
    ];
    stmts.extend(email.into_iter().flat_map(by_address));
    stmts.extend(by_account(account_id, tombstones, now));
    stmts.extend(counted(account_id, tombstones));
    let delete = "DELETE FROM accounts WHERE id = $1 AND balance_minor = 0 AND sandbox_balance_minor = 0";
    stmts.push(Stmt::new(delete, [account_id.into()]).one(UNSETTLED));
    // Last: every change of a verified name waits for this row. Before the domains, as in all batches that change them.
    stmts.push(revisions::advance(revisions::DOMAINS));
    stmts.push(Stmt::new("DELETE FROM custom_domains WHERE account_id = $1", [account_id.into()]));
    stmts
}

/// What the statements of [`erase`] deleted, from their outcomes.
pub fn erased(outcomes: &[crate::Outcome]) -> ErasedRows {
    // The last ones are [`counted`], the account, the revision and the domains.
    let from_end = |index: usize| outcomes.iter().rev().nth(index).map_or(0, |outcome| outcome.affected);
    ErasedRows {
        api_keys: from_end(7),
        sessions: from_end(6),
        passkeys: from_end(5),
        app_grants: from_end(4),
        tombstones: from_end(3),
        custom_domains: from_end(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Outcome;

    #[test]
    fn changes_of_domains_wait_only_for_the_last_statements() {
        let stmts = erase("a", None, Tombstones::Deleted, 0);
        let advances = stmts.iter().rev().position(|stmt| stmt.sql.contains("revisions"));
        assert_eq!(advances, Some(1));
        let numbered: Vec<Outcome> =
            (0..).zip(&stmts).map(|(affected, _)| Outcome { affected, ..Outcome::default() }).collect();
        let found = erased(&numbered);
        let tables = [
            (found.api_keys, "FROM api_keys "),
            (found.sessions, "FROM sessions "),
            (found.passkeys, "FROM passkeys "),
            (found.app_grants, "FROM oauth_grants "),
            (found.custom_domains, "FROM custom_domains "),
            (found.tombstones, "FROM sites "),
        ];
        for (number, table) in tables {
            let sql = &*stmts[usize::try_from(number).unwrap()].sql;
            assert!(sql.starts_with("DELETE ") && sql.contains(table), "{sql}");
        }
    }
}
