//! The books, as the acts write in them.

use crate::app::App;
use dropleaf_core::payment::Payment;
use dropleaf_store::Stmt;

impl App {
    /// The statements that book a settled payment as income, for the transaction that fulfils it.
    #[expect(clippy::unused_self, reason = "until paid acts exist")]
    pub(crate) fn book_income(&self, _payment: &Payment) -> Vec<Stmt> {
        Vec::new()
    }
}
