//! Figures about money for the operator: income, balances of accounts, and open payments.

use crate::app::App;
use dropleaf_core::ledger::Unit;
use dropleaf_core::payment::{Payment, PaymentState};
use dropleaf_core::rail::Rail;
use dropleaf_core::{Error, Result};
use dropleaf_store::ledger::BookLine;

const DAY: i64 = 86_400;
/// The most open payments that are listed.
const OPEN_MOST: i64 = 100;
const COUNT_MOST: i64 = 1000;

/// Which payments to list.
#[derive(Debug, Clone, Copy, Default)]
pub struct PaymentFilter {
    pub state: Option<PaymentState>,
    pub rail: Option<Rail>,
}

#[derive(Debug, Clone)]
pub struct PaymentOverview {
    /// Every ledger account that is not a customer balance, with the amounts posted since midnight UTC and in 30 days.
    pub books: Vec<BookLine>,
    /// The sum of all customer balances (paid in advance or credited), in cents.
    pub prepaid_minor: i64,
    /// Oldest first.
    pub open: Vec<Payment>,
    /// Whether there are more open payments.
    pub is_cut: bool,
}

/// Payments that are not decided, each counted up to 1,000.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UndecidedPayments {
    pub open: i64,
    /// Those whose outcome is unknown; also open.
    pub unknown: i64,
}

impl App {
    pub async fn count_undecided_payments(&self) -> Result<UndecidedPayments> {
        Ok(UndecidedPayments {
            open: self.store.count_open_payments(COUNT_MOST).await?,
            unknown: self.store.count_unknown_payments(COUNT_MOST).await?,
        })
    }

    pub async fn payment_overview(&self) -> Result<PaymentOverview> {
        let now = self.now();
        let books = self.store.list_books(now - now.rem_euclid(DAY), now - 30 * DAY).await?;
        let prepaid_minor = self.store.sum_prepaid(Unit::Usd2).await?;
        let mut open = self.store.list_open_payments(OPEN_MOST + 1).await?;
        let most = usize::try_from(OPEN_MOST).unwrap_or_default();
        let is_cut = open.len() > most;
        open.truncate(most);
        Ok(PaymentOverview { books, prepaid_minor, open, is_cut })
    }

    /// The number of open payments, counted up to 1,000. None if nothing is sold and nothing is open.
    pub async fn count_open_payments(&self) -> Result<Option<i64>> {
        let open = self.store.count_open_payments(COUNT_MOST).await?;
        Ok((open > 0 || self.settings.payments.is_some()).then_some(open))
    }

    /// The newest payments, in one state or in any; without purchases from balances.
    pub async fn list_payments(&self, state: Option<PaymentState>, limit: i64) -> Result<Vec<Payment>> {
        Ok(self.store.list_payments(state, None, None, limit).await?)
    }

    /// The newest payments on all rails, purchases from balances included.
    pub async fn list_all_payments(&self, filter: PaymentFilter, limit: i64) -> Result<Vec<Payment>> {
        let PaymentFilter { state, rail } = filter;
        let mut found = match rail {
            Some(Rail::Balance) => Vec::new(),
            _ => self.store.list_payments(state, rail, None, limit).await?,
        };
        // They are paid and delivered at once.
        let is_decided = state.is_none_or(|state| state == PaymentState::Fulfilled);
        if is_decided && rail.is_none_or(|rail| rail == Rail::Balance) {
            let purchases = self.store.list_balance_purchases(limit).await?;
            found.extend(purchases.into_iter().map(Payment::from));
            found.sort_by(|a, b| (b.created_at, &b.id).cmp(&(a.created_at, &a.id)));
        }
        found.truncate(usize::try_from(limit).unwrap_or_default());
        Ok(found)
    }

    /// A payment, or a purchase from a balance by the ID of its ledger transaction.
    pub async fn get_any_payment(&self, id: &str) -> Result<Payment> {
        match self.store.find_balance_purchase(id).await? {
            Some(purchase) => Ok(purchase.into()),
            None => self.get_payment(id).await,
        }
    }

    pub async fn get_payment(&self, id: &str) -> Result<Payment> {
        self.store.find_payment(id).await?.ok_or_else(|| Error::not_found("payment"))
    }
}
