//! The processor's payment form of a pay session: opens it, and learns whether it was paid.

use super::CardProcessor;
use crate::app::App;
use crate::pay::PaymentSettings;
use dropleaf_core::pay_session::{PaySession, PaySessionState};
use dropleaf_core::{Code, Error, Result};
use dropleaf_pay::stripe::{
    ApiRequest, ChargeAnswer, Checkout, CheckoutState, ExpectedCharge, ExpectedCheckout, Money, NewCheckout,
    ObjectId, ReadFault, create_checkout, read_charge, read_checkout, retrieve_checkout, retrieve_intent,
};
use dropleaf_store::{DbError, pay_sessions};
use futures_util::{StreamExt, stream};

/// The processor is asked about a session at most once in this time.
const CHECK_SECONDS: i64 = 2;
/// How long after its end a form may still turn out to be paid.
const LATE_SECONDS: i64 = 86_400;
/// How often undecided sessions are checked without being polled, and how many at once.
const RECOVER_SECONDS: i64 = 60;
const RECOVERED_MOST: i64 = 50;
/// A processor that stalls for one session does not hold up the others.
const RECOVERED_AT_ONCE: usize = 8;
/// From then on only an event can complete a session: its money would have arrived.
const ABANDONED_SECONDS: i64 = 14 * 86_400;
const RETRY_SECONDS: i64 = 10;

impl App {
    pub(crate) fn require_processor(&self) -> Result<&dyn CardProcessor> {
        self.payments.processor.as_deref().ok_or_else(|| {
            let detail = "This server does not accept cards. `GET /provision` lists the available protocols.";
            Error::new(Code::RailNotLive, detail)
        })
    }

    /// Opens the payment form of a session and returns its address. Repeating it returns the same form.
    pub async fn open_checkout(&self, session: &PaySession, pay_url: &str) -> Result<String> {
        if session.state_at(self.now()) != PaySessionState::Pending || !self.is_mode_of(session) {
            return Err(Error::new(Code::Conflict, "This payment link can no longer be paid."));
        }
        if self.now() >= session.expires_at && session.checkout_id.is_some() {
            return self.find_open_form(session).await;
        }
        let done = format!("{pay_url}?done=1");
        let request = create_checkout(&NewCheckout {
            reference: &session.id,
            price: price(session),
            product: session.feature.title(),
            feature: session.feature.as_str(),
            success_url: &done,
            cancel_url: pay_url,
            expires_at: session.form_expires_at(),
        });
        let checkout = self.ask_checkout(&request).await?;
        let expected = ExpectedCheckout { id: None, reference: &session.id, price: price(session) };
        if let CheckoutState::Mismatch(why) = checkout.judge(&expected) {
            return Err(unavailable(why));
        }
        let recorded = pay_sessions::set_checkout(&session.id, checkout.id.as_str(), self.now());
        self.store.commit(vec![recorded]).await?;
        checkout.url.ok_or_else(|| unavailable("the form has no address"))
    }

    /// The form that was opened before.
    async fn find_open_form(&self, session: &PaySession) -> Result<String> {
        let checkout = self.retrieve_checkout(session).await?;
        checkout.url.ok_or_else(|| Error::new(Code::Conflict, "This payment link can no longer be paid."))
    }

    /// Whether the processor should be asked about a session now.
    pub(super) fn may_check(&self, session: &PaySession) -> bool {
        let now = self.now();
        session.may_have_changed()
            && now >= session.checked_at + CHECK_SECONDS
            && now < session.form_expires_at() + LATE_SECONDS
            && self.is_mode_of(session)
    }

    /// Whether something may have happened since the processor was asked, and it cannot be asked again yet.
    pub(super) fn was_checked_just_now(&self, session: &PaySession) -> bool {
        session.may_have_changed() && self.now() < session.checked_at + CHECK_SECONDS
    }

    /// Whether the session was created in the present mode. A test card never pays for a session of real money, nor a real
    /// card for one of the sandbox.
    pub(super) fn is_mode_of(&self, session: &PaySession) -> bool {
        self.require_payments().is_ok_and(|it| PaymentSettings::is_sandbox(it) == session.sandbox)
    }

    /// Asks the processor about the form of a session and acts on the answer. False if another request asks right now.
    pub(super) async fn check_pay_session(&self, session: &PaySession) -> Result<bool> {
        match self.store.commit(vec![pay_sessions::take_check(session, self.now())]).await {
            Ok(_) => {}
            Err(DbError::Guard(pay_sessions::MOVED)) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
        let checkout = self.retrieve_checkout(session).await?;
        self.apply_checkout(session, &checkout).await?;
        match checkout.payment_intent {
            Some(intent) if checkout.status == dropleaf_pay::stripe::CheckoutStatus::Complete => {
                self.check_delayed_payment(session, &intent).await?;
            }
            _ => {}
        }
        Ok(true)
    }

    async fn retrieve_checkout(&self, session: &PaySession) -> Result<Checkout> {
        let id = session.checkout_id.as_deref().and_then(ObjectId::parse);
        let id = id.ok_or_else(|| Error::internal("pay session has no form"))?;
        self.ask_checkout(&retrieve_checkout(&id)).await
    }

    async fn ask_checkout(&self, request: &ApiRequest) -> Result<Checkout> {
        let reply = self.require_processor()?.send(request).await.map_err(|lost| unavailable(lost.0))?;
        read_checkout(reply.status, &reply.body).map_err(|fault| {
            if fault == ReadFault::Misconfigured {
                tracing::error!("card processor refuses the secret key; check stripe.secret_key");
            }
            unavailable(format!("{fault:?}"))
        })
    }

    /// Acts on what the form shows. Received money counts, whatever state the session is in.
    pub(super) async fn apply_checkout(&self, session: &PaySession, checkout: &Checkout) -> Result<()> {
        let id = session.checkout_id.as_deref().and_then(ObjectId::parse);
        let expected = ExpectedCheckout { id: id.as_ref(), reference: &session.id, price: price(session) };
        let state = match checkout.judge(&expected) {
            CheckoutState::Paid => return self.receive_card_payment(session, checkout).await,
            CheckoutState::Mismatch(why) => return self.report_mismatch(session, checkout, why).await,
            CheckoutState::Processing if session.state == PaySessionState::Pending => {
                PaySessionState::Processing
            }
            CheckoutState::Expired => PaySessionState::Expired,
            CheckoutState::Processing | CheckoutState::Open => return Ok(()),
        };
        self.store.commit(vec![pay_sessions::set_state(&session.id, state)]).await?;
        Ok(())
    }

    /// A form that was completed without money: only the payment intent shows that the money will not come.
    async fn check_delayed_payment(&self, session: &PaySession, intent: &ObjectId) -> Result<()> {
        let current = self.store.find_pay_session(&session.id).await?;
        if current.is_none_or(|it| it.state != PaySessionState::Processing) {
            return Ok(());
        }
        let request = retrieve_intent(intent);
        let reply = self.require_processor()?.send(&request).await.map_err(|lost| unavailable(lost.0))?;
        let expected = ExpectedCharge { price: price(session), request_id: None, intent: Some(intent) };
        if let ChargeAnswer::Declined { code } = read_charge(reply.status, false, &reply.body, &expected) {
            tracing::info!(session = session.id, code, "delayed card payment failed");
            self.store.commit(vec![pay_sessions::set_state(&session.id, PaySessionState::Failed)]).await?;
        }
        Ok(())
    }

    /// Checks sessions that no one polls, so that a payment is not missed without webhooks. Returns how many were checked.
    pub async fn recover_pay_sessions(&self) -> Result<usize> {
        if let Err(error) = self.recover_waiting_events().await {
            tracing::warn!(%error, source = ?error.source, "waiting card events not applied");
        }
        let Ok(sold) = self.require_payments() else { return Ok(0) };
        if self.payments.processor.is_none() {
            return Ok(0);
        }
        let (before, ended) = (self.now() - RECOVER_SECONDS, self.now() - ABANDONED_SECONDS);
        let found =
            self.store.list_undecided_pay_sessions(sold.is_sandbox(), before, ended, RECOVERED_MOST).await?;
        stream::iter(&found)
            .for_each_concurrent(RECOVERED_AT_ONCE, async |session| {
                if let Err(error) = self.check_pay_session(session).await {
                    let source = error.source.as_ref();
                    tracing::warn!(%error, ?source, session = session.id, "pay session not checked");
                }
            })
            .await;
        Ok(found.len())
    }
}

pub(super) fn price(session: &PaySession) -> Money {
    Money::usd_cents(u64::try_from(session.amount_minor).unwrap_or_default())
}

pub(super) fn unavailable(why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::plain(Code::ProcessorUnavailable).retry_after(RETRY_SECONDS).with_source(why)
}
