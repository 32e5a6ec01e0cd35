//! SQL for `sign_ins`: one open sign-in for each browser that requested one. Addresses that have an account, may have one, or
//! may not, all get the same rows. A row is marked as proved and deleted in the same transaction, so only the request that
//! proved it ever sees the mark.

use crate::db::{DbError, Outcome, Row, Stmt, columns};
use crate::store::Store;
use dropleaf_core::account::Account;
use dropleaf_core::session::Session;

/// An open sign-in, as shown on a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignIn {
    pub email: String,
    pub return_to: String,
    pub tries_left: i64,
}

/// A new sign-in.
#[derive(Debug)]
pub struct NewSignIn<'a> {
    pub visit_hash: [u8; 32],
    pub link_hash: [u8; 32],
    pub email: &'a str,
    pub code_mac: [u8; 32],
    pub tries: i64,
    pub return_to: &'a str,
    pub expires_at: i64,
}

/// The value of `tries_left` once a sign-in was proved.
const PROVED: i64 = -1;

columns! { SignInColumns, sign_in_columns: email, return_to, tries_left }

macro_rules! select {
    ($tail:literal) => {
        concat!("SELECT ", sign_in_columns!(), " FROM sign_ins ", $tail)
    };
}

fn row(row: &Row<'_>) -> Result<SignIn, DbError> {
    const COLUMN: SignInColumns = SignInColumns::starting_at(0);
    Ok(SignIn {
        email: row.string(COLUMN.email)?,
        return_to: row.string(COLUMN.return_to)?,
        tries_left: row.int(COLUMN.tries_left)?,
    })
}

impl Store {
    pub async fn find_sign_in(&self, visit_hash: &[u8; 32], now: i64) -> Result<Option<SignIn>, DbError> {
        self.db
            .get(
                select!("WHERE visit_hash = $1 AND expires_at > $2"),
                &[(*visit_hash).into(), now.into()],
                row,
            )
            .await
    }

    pub async fn find_sign_in_by_link(
        &self,
        link_hash: &[u8; 32],
        now: i64,
    ) -> Result<Option<SignIn>, DbError> {
        self.db
            .get(select!("WHERE link_hash = $1 AND expires_at > $2"), &[(*link_hash).into(), now.into()], row)
            .await
    }
}

/// Starts a sign-in; it replaces an earlier one of the same browser.
pub fn put(new: &NewSignIn<'_>) -> Stmt {
    Stmt::new(
        "INSERT INTO sign_ins (visit_hash, link_hash, email, code_mac, tries_left, return_to, expires_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (visit_hash) DO UPDATE SET link_hash = excluded.link_hash, \
         email = excluded.email, code_mac = excluded.code_mac, tries_left = excluded.tries_left, \
         return_to = excluded.return_to, expires_at = excluded.expires_at",
        vec![
            new.visit_hash.into(),
            new.link_hash.into(),
            new.email.into(),
            new.code_mac.into(),
            new.tries.into(),
            new.return_to.into(),
            new.expires_at.into(),
        ],
    )
}

/// Tries a code: a right one proves the sign-in, a wrong one costs a try. It is one statement, so concurrent requests cannot
/// exceed the number of tries.
pub fn try_code(visit_hash: &[u8; 32], code_mac: &[u8; 32], now: i64) -> Stmt {
    Stmt::new(
        concat!(
            "UPDATE sign_ins SET tries_left = CASE WHEN code_mac = $1 THEN -1 ELSE tries_left - 1 END \
             WHERE visit_hash = $2 AND tries_left > 0 AND expires_at > $3 RETURNING ",
            sign_in_columns!()
        ),
        vec![(*code_mac).into(), (*visit_hash).into(), now.into()],
    )
}

/// Proves the sign-in by the link in its email, even if no tries are left for the code. A browser other than the one that
/// requested it is redirected to `elsewhere`.
pub fn use_link(link_hash: &[u8; 32], visit_hash: &[u8; 32], elsewhere: &str, now: i64) -> Stmt {
    Stmt::new(
        "UPDATE sign_ins SET tries_left = -1 WHERE link_hash = $1 AND expires_at > $2 \
         RETURNING email, CASE WHEN visit_hash = $3 THEN return_to ELSE $4 END, tries_left",
        vec![(*link_hash).into(), now.into(), (*visit_hash).into(), elsewhere.into()],
    )
}

/// The sign-in that a statement proved; `None` if the proof was wrong.
pub fn proved(outcome: &Outcome) -> Result<Option<SignIn>, DbError> {
    let Some(found) = outcome.rows.first() else { return Ok(None) };
    let found = row(&found.as_row())?;
    Ok((found.tries_left == PROVED).then_some(found))
}

/// The column that identifies the row in the statements of one sign-in.
#[derive(Debug, Clone, Copy)]
pub enum SignInKey<'a> {
    Visit(&'a [u8; 32]),
    Link(&'a [u8; 32]),
}

impl SignInKey<'_> {
    const fn hash(self) -> [u8; 32] {
        match self {
            Self::Visit(hash) | Self::Link(hash) => *hash,
        }
    }
}

/// Creates the account of a proved sign-in, unless its address has one.
pub fn create_account(key: SignInKey<'_>, account: &Account) -> Stmt {
    macro_rules! sql {
        ($column:literal) => {
            concat!(
                "INSERT INTO accounts (id, email, plan, is_operator, balance_minor, active_pages, created_at) \
                 SELECT $1, s.email, $2, 0, 0, 0, CAST($3 AS BIGINT) FROM sign_ins s \
                 WHERE s.tries_left = -1 AND $4 = s.",
                $column,
                " ON CONFLICT (email) DO NOTHING"
            )
        };
    }
    let sql = match key {
        SignInKey::Visit(_) => sql!("visit_hash"),
        SignInKey::Link(_) => sql!("link_hash"),
    };
    Stmt::new(
        sql,
        vec![
            account.id.as_str().into(),
            account.plan.as_str().into(),
            account.created_at.into(),
            key.hash().into(),
        ],
    )
}

/// Records that the owner of the account reads the mail of its address: the browser that asked for the email of a proved
/// sign-in completed it. A link that an operator made belongs to no browser.
pub fn confirm_email(visit_hash: &[u8; 32], now: i64) -> Stmt {
    Stmt::new(
        "UPDATE accounts SET email_confirmed_at = $1 WHERE email_confirmed_at IS NULL \
         AND email = (SELECT s.email FROM sign_ins s WHERE s.visit_hash = $2 AND s.tries_left = -1)",
        vec![now.into(), (*visit_hash).into()],
    )
}

/// Creates the session of a proved sign-in, for the account of its address.
pub fn create_session(key: SignInKey<'_>, session: &Session, secret_hash: &[u8; 32]) -> Stmt {
    macro_rules! sql {
        ($column:literal) => {
            concat!(
                "INSERT INTO sessions (id, account_id, secret_hash, device, method, proved_at, created_at, \
                 last_seen_at, expires_at) SELECT $1, a.id, $2, $3, $4, CAST($5 AS BIGINT), CAST($6 AS BIGINT), \
                 CAST($7 AS BIGINT), CAST($8 AS BIGINT) FROM sign_ins s JOIN accounts a ON a.email = s.email \
                 WHERE s.tries_left = -1 AND $9 = s.",
                $column
            )
        };
    }
    let sql = match key {
        SignInKey::Visit(_) => sql!("visit_hash"),
        SignInKey::Link(_) => sql!("link_hash"),
    };
    Stmt::new(
        sql,
        vec![
            session.id.as_str().into(),
            (*secret_hash).into(),
            session.device.as_str().into(),
            session.method.as_str().into(),
            session.proved_at.into(),
            session.created_at.into(),
            session.last_seen_at.into(),
            session.expires_at.into(),
            key.hash().into(),
        ],
    )
}

/// Deletes a proved sign-in.
pub fn finish(key: SignInKey<'_>) -> Stmt {
    let sql = match key {
        SignInKey::Visit(_) => "DELETE FROM sign_ins WHERE visit_hash = $1 AND tries_left = -1",
        SignInKey::Link(_) => "DELETE FROM sign_ins WHERE link_hash = $1 AND tries_left = -1",
    };
    Stmt::new(sql, vec![key.hash().into()])
}

pub fn delete_expired(now: i64) -> Stmt {
    Stmt::new("DELETE FROM sign_ins WHERE expires_at <= $1", vec![now.into()])
}
