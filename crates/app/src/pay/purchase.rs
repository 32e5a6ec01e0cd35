//! Executes a paid request: check, verify, stage and reserve, settle, fulfil. The order ensures safety: nothing is
//! settled that was not reserved with all it buys, and nothing is fulfilled that was not settled.

use super::order::{CheckedPage, PayRequest};
use super::purchase_result::payment_in_flight;
use super::request_identity::RequestIdentity;
use super::reserve::Reserved;
use super::{Facilitator, FacilitatorCall, PayError, PurchaseResult};
use crate::app::App;
use crate::publish::staging::PrepareOptions;
use crate::publish::upload::Upload;
use dropleaf_core::payment::{Item, Payment, PaymentState};
use dropleaf_core::safety::PiiCheck;
use dropleaf_core::{Code, Error, Result};
use dropleaf_pay::facilitator::{self, Expected, Reason, VerifyAnswer, read_verify};
use dropleaf_pay::{Checked, Proof, Recognised, Refusal};

impl App {
    /// Checks a page before anything is signed for it. Spec §7: a refused page costs nothing. If the request has a proof
    /// (`has_proof`), the page may have been accepted before, so a refusal of its content is deferred to the payment.
    pub async fn check_page(
        &self,
        upload: Upload,
        pii_check: Option<PiiCheck>,
        has_proof: bool,
    ) -> Result<CheckedPage> {
        let options = PrepareOptions { pii_check, ..PrepareOptions::default() };
        let (mut prepared, scan) = self.scan_upload(upload, options).await?;
        let refusal = match self.check_content(&scan).await {
            Ok(warnings) => {
                prepared.bundle.warnings.extend(warnings);
                None
            }
            Err(error) if has_proof => Some(error),
            Err(error) => return Err(error),
        };
        Ok(CheckedPage { prepared, refusal })
    }

    /// Executes a purchase. Run it in a task that is not cancelled when the client disconnects.
    pub async fn execute_purchase(&self, mut request: PayRequest) -> Result<PurchaseResult, PayError> {
        let item = request.order.item();
        let recognised = self.identify_payment(request.proof.proof(), item).await?;
        let identity = self.request_identity(&request, &recognised)?;
        if self.payments.locks.is_crowded(recognised.key.as_str()) {
            return Err(payment_in_flight(1));
        }
        // Identifiers first, then the payment: a fixed lock order, so that there are no deadlocks.
        let _named = identity.lock_identifiers(&self.payments.locks).await;
        let lock = self.payments.locks.lock(recognised.key.as_str()).await;
        let found = self.store.find_payment_by_key(recognised.key.as_str()).await?;
        let refused = match found {
            Some(payment)
                if payment.has_lost_content()
                    && identity.matches_purchase(&payment)
                    && identity.is_signed_as_strongly(&payment) =>
            {
                request.order.check()?;
                let payment = self.restage_content(request.order, payment).await?;
                return self.replay_payment(payment, &identity).await;
            }
            Some(payment) if payment.state != PaymentState::Refused => {
                return self.replay_payment(payment, &identity).await;
            }
            refused => refused,
        };
        request.order.check()?;

        let listing = self.listing_to_pay(item)?;
        let checked = match request.proof.check(&listing.terms, self.now())? {
            Ok(checked) => checked,
            Err(Refusal::Expired) => {
                let Ok(late) = request.proof.proof().check_expired(&listing.terms, self.now()) else {
                    return Err(self.refusal_under_current_terms(Refusal::Expired));
                };
                let decided =
                    self.decide_expired(request, &late, &listing.terms, &identity, refused.as_ref());
                return Box::pin(decided).await;
            }
            Err(why) => return Err(self.refusal_under_current_terms(why)),
        };
        // Only the payer's own signature proves that an identifier is theirs; a contract's signature has to be verified
        // first.
        if checked.payer_is_eoa
            && let Some(first) = self.find_payment_by_identifier(&identity).await?
        {
            drop(lock);
            return self.replay_by_identifier(first, &identity).await;
        }
        let body = facilitator::build_request(&checked, &listing.terms);
        let verified = self.verify_with_facilitator(&checked, &body).await;
        if !matches!(verified, Ok(None)) {
            // Another node may have settled it meanwhile, so that it appears used; the client must not be asked to pay
            // again.
            let found = self.store.find_payment_by_key(recognised.key.as_str()).await?;
            if let Some(payment) = found.filter(|it| it.state != PaymentState::Refused) {
                return self.replay_payment(payment, &identity).await;
            }
        }
        let row = self.new_payment(&checked, body, &identity, refused.as_ref())?;
        if let Some(reason) = verified? {
            let is_retry = refused.is_some();
            let decided = self.decide_unverified(request.order, row, is_retry, &identity, reason, request.ip);
            return match Box::pin(decided).await? {
                Reserved::New(payment) => Box::pin(self.advance_payment(*payment, true)).await,
                Reserved::Existing | Reserved::IdentifierTaken => Err(payment_in_flight(1)),
            };
        }
        if !checked.payer_is_eoa
            && let Some(first) = self.find_payment_by_identifier(&identity).await?
        {
            drop(lock);
            return self.replay_by_identifier(first, &identity).await;
        }
        self.count_sandbox_sale(item, request.ip).await?;
        match self.reserve_payment(request.order, row, refused.is_some(), &identity).await? {
            Reserved::New(payment) => Box::pin(self.advance_payment(*payment, true)).await,
            // Another node was faster with the same payment, or with another one under the same identifier.
            Reserved::Existing => match self.store.find_payment_by_key(recognised.key.as_str()).await? {
                Some(payment) => self.replay_payment(payment, &identity).await,
                None => Err(payment_in_flight(1)),
            },
            Reserved::IdentifierTaken => match self.find_payment_by_identifier(&identity).await? {
                Some(first) => {
                    drop(lock);
                    self.replay_by_identifier(first, &identity).await
                }
                None => Err(Error::plain(Code::IdempotencyInFlight).retry_after(1).into()),
            },
        }
    }

    /// Identifies the payment of a proof. A stored payment is matched by its own network and token, even if they are no
    /// longer offered.
    async fn identify_payment(&self, proof: &Proof, item: Item) -> Result<Recognised, PayError> {
        let terms = self.terms_to_recognise(item)?;
        if let Some(recognised) = proof.recognise_beside(&terms) {
            let found = self.store.find_payment_by_key(recognised.key.as_str()).await?;
            if found.is_some_and(|payment| payment.state != PaymentState::Refused) {
                return Ok(recognised);
            }
        }
        Ok(proof.recognise(&terms)?)
    }

    /// The response of an earlier payment with another proof under the same identifier.
    async fn replay_by_identifier(
        &self,
        first: Payment,
        identity: &RequestIdentity,
    ) -> Result<PurchaseResult, PayError> {
        let _lock = self.payments.locks.lock(&first.key).await;
        match self.store.find_payment(&first.id).await? {
            Some(payment) => self.replay_payment(payment, identity).await,
            None => Err(payment_in_flight(1)),
        }
    }

    /// Asks the facilitator to verify; returns the reason if it refuses. Without a clear answer the operation fails
    /// before money can move.
    async fn verify_with_facilitator(
        &self,
        checked: &Checked,
        body: &str,
    ) -> Result<Option<Reason>, PayError> {
        let unavailable = || Error::plain(Code::FacilitatorUnavailable).retry_after(10);
        let reply = match self.require_facilitator()?.send(FacilitatorCall::Verify, body).await {
            Ok(reply) => reply,
            Err(lost) => return Err(unavailable().with_source(lost.0).into()),
        };
        match read_verify(reply.status, &reply.body, &Expected::of(checked)) {
            VerifyAnswer::Valid => Ok(None),
            VerifyAnswer::Refused(reason) => Ok(Some(reason)),
            VerifyAnswer::Fault(why) => Err(unavailable().with_source(why).into()),
        }
    }

    pub(super) fn require_facilitator(&self) -> Result<&dyn Facilitator> {
        self.payments
            .facilitator
            .as_deref()
            .ok_or_else(|| Error::plain(Code::FacilitatorUnavailable).retry_after(10))
    }
}
