//! SQL for which emails an account gets.

use crate::db::{DbError, Stmt};
use crate::store::Store;
use dropleaf_core::notification::NotifyMode;

/// What applies to an account `a`: its choice, or the default.
macro_rules! notify_mode {
    () => {
        "COALESCE(a.notify, CASE WHEN a.email_confirmed_at IS NULL THEN 'off' ELSE 'instant' END)"
    };
}

pub(crate) use notify_mode;

pub(crate) fn mode(word: &str) -> Result<NotifyMode, DbError> {
    NotifyMode::parse(word).ok_or_else(|| DbError::internal("an account has an unknown kind of emails"))
}

impl Store {
    /// Which emails the account gets. None for an account that does not exist.
    pub async fn find_notify_mode(&self, account_id: &str) -> Result<Option<NotifyMode>, DbError> {
        let sql = concat!("SELECT ", notify_mode!(), " FROM accounts a WHERE a.id = $1");
        self.db.get(sql, &[account_id.into()], |row| mode(row.text(0)?)).await
    }

    /// What the account chose; none if it did not choose.
    pub async fn find_chosen_notify_mode(&self, account_id: &str) -> Result<Option<NotifyMode>, DbError> {
        let sql = "SELECT notify FROM accounts WHERE id = $1 AND notify IS NOT NULL";
        self.db.get(sql, &[account_id.into()], |row| mode(row.text(0)?)).await
    }
}

/// Sets which emails the account gets. What waits is kept, unless it gets none any more. The pause of the account ends: it
/// has another length now.
pub fn set_notify_mode(account_id: &str, chosen: NotifyMode) -> Vec<Stmt> {
    let set = Stmt::new(
        "UPDATE accounts SET notify = $1 WHERE id = $2",
        vec![chosen.as_str().into(), account_id.into()],
    );
    let mut stmts = vec![set.one(crate::accounts::UNKNOWN)];
    if chosen == NotifyMode::Off {
        stmts.push(Stmt::new("DELETE FROM email_notices WHERE account_id = $1", [account_id.into()]));
    }
    stmts.push(Stmt::new("DELETE FROM email_pauses WHERE lane = $1", [account_id.into()]));
    stmts
}
