//! Unlocks: drawn from the prepaid balance if it suffices, else paid for.

use crate::app::App;
use dropleaf_core::account::Account;
use dropleaf_core::unlock::Sku;
use dropleaf_store::Stmt;

impl App {
    /// The statements that activate an unlock, for the transaction that records its payment.
    #[expect(clippy::unused_self, reason = "until paid acts exist")]
    pub(crate) fn unlock_stmts(&self, _account: &Account, _sku: Sku, _now: i64) -> Vec<Stmt> {
        Vec::new()
    }
}
