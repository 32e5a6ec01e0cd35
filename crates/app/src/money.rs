//! Money as the operator sees it: what came in, what is owed to accounts, and payments that are not decided.

use crate::app::App;
use dropleaf_core::payment::{Payment, PaymentState};
use dropleaf_core::{Error, Result};
use dropleaf_store::ledger::BookLine;

const DAY: i64 = 86_400;
/// As many undecided payments as are shown.
const OPEN_MOST: i64 = 100;
const COUNT_MOST: i64 = 1000;

#[derive(Debug, Clone)]
pub struct Money {
    /// Every account of the books that is nobody's balance, with what came to it since midnight (UTC) and in 30 days.
    pub books: Vec<BookLine>,
    /// What accounts have paid in advance or were given, all together, in cents.
    pub prepaid: i64,
    /// The oldest first.
    pub open: Vec<Payment>,
    /// Whether there are more of those.
    pub is_cut: bool,
}

impl App {
    pub async fn money(&self) -> Result<Money> {
        let now = self.now();
        let books = self.store.list_books(now - now.rem_euclid(DAY), now - 30 * DAY).await?;
        let prepaid = self.store.sum_prepaid().await?;
        let mut open = self.store.list_open_payments(OPEN_MOST + 1).await?;
        let most = usize::try_from(OPEN_MOST).unwrap_or_default();
        let is_cut = open.len() > most;
        open.truncate(most);
        Ok(Money { books, prepaid, open, is_cut })
    }

    /// How many payments are not decided, up to a thousand. None where nothing is sold and nothing is open.
    pub async fn count_open_payments(&self) -> Result<Option<i64>> {
        let open = self.store.count_open_payments(COUNT_MOST).await?;
        Ok((open > 0 || self.settings.payments.is_some()).then_some(open))
    }

    /// The newest payments, in one state or in any.
    pub async fn list_payments(&self, state: Option<PaymentState>, limit: i64) -> Result<Vec<Payment>> {
        Ok(self.store.list_payments(state, None, limit).await?)
    }

    pub async fn get_payment(&self, id: &str) -> Result<Payment> {
        self.store.find_payment(id).await?.ok_or_else(|| Error::not_found("payment"))
    }
}
