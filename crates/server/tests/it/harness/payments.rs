//! Writes payment rows, for tests that read payments without buying.

use super::{NOW, Node};
use dropleaf_core::ledger::Posting;
use dropleaf_core::payment::{Payment, PaymentState};
use dropleaf_store::{Db, ledger::post, payments};

impl Node {
    /// Inserts payments as they are; fulfilled ones are also booked in the ledger, when they were fulfilled.
    pub(crate) async fn write_payments(&self, all: &[Payment]) {
        let db = Db::open(&self.running.resolved.database_url).await.unwrap();
        for payment in all {
            let mut stmts = vec![payments::insert(payment)];
            if payment.state == PaymentState::Fulfilled {
                let income = Posting::income(payment).unwrap();
                let at = payment.fulfilled_at.unwrap_or(NOW);
                stmts.extend(post(&format!("txn_{}", payment.id), &income, at));
            }
            db.batch(stmts).await.unwrap();
        }
        db.close().await;
    }
}
