//! The reservation: what a payment buys is staged, named and recorded in one transaction before anybody is asked for
//! money. The payment holds the staged content until the page takes it over or the payment is refused.

use super::PayError;
use super::act::Order;
use super::asked::Asked;
use super::drive::{HOLD_SECONDS, not_known};
use super::unlock::{bought_once, only_once};
use crate::app::App;
use crate::suspension::in_name_of;
use dropleaf_core::Error;
use dropleaf_core::payment::{Payment, PaymentState};
use dropleaf_pay::{Asset, Checked};
use dropleaf_store::{DbError, idempotency, payments};

pub(super) enum Reserved {
    Now(Box<Payment>),
    /// The payment itself was reserved by somebody else.
    Before,
    /// One of the request's names belongs to another payment.
    Named,
}

impl App {
    pub(super) async fn reserve(
        &self,
        order: Order,
        checked: &Checked,
        ask: String,
        asked: &Asked,
        refused: Option<Payment>,
    ) -> Result<Reserved, PayError> {
        let now = self.now();
        let again = refused.is_some();
        let attempts = refused.as_ref().map_or(0, |payment| payment.attempts);
        let id = refused.map_or_else(|| self.minter.ordered_id("pay", now), |payment| payment.id);
        let (mut stmts, mut bundle_id, mut draft) = (Vec::new(), None, None);
        match order {
            Order::Publish(page) => {
                let staged = self.stage_prepared(page.prepared).await?;
                draft = Some(self.seal_draft(&self.draft_page(&staged), &id)?);
                bundle_id = Some(staged.bundle_id);
                stmts = staged.stmts;
            }
            Order::Provision => draft = Some(self.seal_draft(&self.draft_key(), &id)?),
            // Nothing secret and nothing new: the row says it all.
            Order::Unlock { account, sku } => stmts.extend(only_once(&account.id, sku, &id)),
        }
        let fee_payer = match &checked.offer.asset {
            Asset::Evm { .. } => None,
            Asset::Solana { mint, .. } => Some(mint.fee_payer.to_string()),
        };
        let payment = Payment {
            id,
            key: checked.key.to_string(),
            item: asked.item,
            protocol: "x402".to_owned(),
            generation: i64::try_from(checked.generation.number()).map_err(Error::internal)?,
            network: checked.network.to_string(),
            asset: checked.asset.to_string(),
            payer: checked.payer.to_string(),
            pay_to: checked.offer.pay_to().to_string(),
            amount: i64::try_from(checked.amount.units()).map_err(Error::internal)?,
            payer_is_eoa: checked.payer_is_eoa,
            sandbox: self.settings.payments.as_ref().is_some_and(super::PaymentSettings::is_sandbox),
            request_hash: asked.request_hash,
            client: asked.client.clone(),
            once_hashes: asked.once_hashes(),
            state: PaymentState::Verified,
            ask: Some(ask),
            fee_payer,
            draft,
            bundle_id,
            site_id: None,
            account_id: asked.account_id.clone(),
            transaction: None,
            reason: None,
            // That it was ever asked for is not forgotten.
            attempts,
            held_until: now + HOLD_SECONDS,
            valid_until: checked.valid_until,
            created_at: now,
            updated_at: now,
            fulfilled_at: None,
            delivered_at: None,
        };
        stmts.push(if again { payments::reserve_again(&payment) } else { payments::insert(&payment) });
        stmts.extend(self.name_payment(asked, &payment));
        // Before anybody is asked for money; what is paid for is given whatever comes.
        match self.store.commit(in_name_of(payment.account_id.as_deref(), stmts)).await {
            Ok(_) => Ok(Reserved::Now(Box::new(payment))),
            Err(DbError::Guard(payments::TAKEN)) => Ok(Reserved::Before),
            Err(DbError::Guard(idempotency::ANSWERED)) => Ok(Reserved::Named),
            Err(DbError::Guard(payments::BOUGHT)) => Err(bought_once().into()),
            Err(error @ DbError::Unavailable(_)) => self.reserved_after_all(payment, error).await,
            Err(error) => Err(self.guard_error(error, None).into()),
        }
    }

    /// Whether a lost connection committed is not known, nor whether it still will. If it does, the payment goes on, with
    /// or without its sender: nobody is told that nothing was charged.
    async fn reserved_after_all(&self, payment: Payment, error: DbError) -> Result<Reserved, PayError> {
        match self.store.find_payment_by_key(&payment.key).await {
            Ok(Some(found)) if found == payment => Ok(Reserved::Now(Box::new(payment))),
            Ok(_) | Err(_) => Err(not_known(None, error.into())),
        }
    }
}
