//! Pays with a shared payment token: the token is reserved, charged by the processor and fulfilled like any other payment. A
//! token buys at most one thing, however often it is sent. ACP.

use super::card_refusal::{NOT_TAKEN, REQUEST_REFUSED, TOKEN_REFUSED, card_refused};
use super::payment_row::NewCardPayment;
use crate::app::App;
use crate::infra::sealing;
use crate::pay::order::Order;
use crate::pay::purchase_result::payment_in_flight;
use crate::pay::request_identity::RequestIdentity;
use crate::pay::reserve::Reserved;
use crate::pay::settle::{Settlement, SettlementHistory};
use crate::pay::{PayError, PurchaseResult};
use dropleaf_core::payment::{Item, Payment, PaymentState};
use dropleaf_core::rail::Rail;
use dropleaf_core::{Error, Result, base64, hex};
use dropleaf_pay::facilitator::Reason;
use dropleaf_pay::stripe::{
    ChargeAnswer, ExpectedCharge, Money, ObjectId, SharedPaymentToken, TokenCharge, charge_token,
    is_token_fault, read_charge, retrieve_intent,
};
use dropleaf_store::card_payments;
use std::net::IpAddr;

/// How long a token is charged again after an ambiguous answer. The processor remembers idempotency keys for a day, by its own
/// clock.
const CHARGE_SECONDS: i64 = 23 * 3600;
/// What the reservation of a token is sealed with.
const SEALED_AS: &str = "shared payment token";

/// A request that pays with a shared payment token.
#[derive(Debug)]
pub struct TokenRequest {
    pub token: SharedPaymentToken,
    /// Hash of the request without the token: the same token cannot buy anything else.
    pub request_hash: [u8; 32],
    /// The caller's `Idempotency-Key`, which also proves who repeats the request.
    pub idempotency_key: Option<String>,
    pub ip: Option<IpAddr>,
}

impl App {
    /// Sells an API key for a token. Run it in a task that is not cancelled when the client disconnects.
    pub async fn provision_with_token(&self, request: TokenRequest) -> Result<PurchaseResult, PayError> {
        self.require_processor()?;
        let key = format!("{}:spt:{}", card_payments::NETWORK, hex::encode(&request.token.hash()));
        let identity = self.token_identity(&request, &key)?;
        if self.payments.locks.is_crowded(&key) {
            return Err(payment_in_flight(1));
        }
        // Identifiers first, as for other payments.
        let _named = identity.lock_identifiers(&self.payments.locks).await;
        let _lock = self.payments.locks.lock(&key).await;
        let found = self.store.find_payment_by_key(&key).await?;
        let not_taken = match found {
            Some(payment) if was_not_taken(&payment) => Some(payment),
            Some(payment) => return self.replay_token(payment, &identity).await,
            None => None,
        };
        // Another token under the same Idempotency-Key is another request.
        if self.find_payment_by_identifier(&identity).await?.is_some() {
            return Err(payment_in_flight(1));
        }
        self.count_sandbox_sale(Item::Provision, request.ip).await?;
        let row = self.token_row(&request, key.clone(), &identity, not_taken.as_ref())?;
        match self.reserve_payment(Order::Provision, row, not_taken.is_some(), &identity).await? {
            Reserved::New(payment) => Box::pin(self.advance_payment(*payment, true)).await,
            // Another node was faster, with the same token or with another one under the same Idempotency-Key.
            Reserved::Existing | Reserved::IdentifierTaken => {
                if let Some(payment) = self.store.find_payment_by_key(&key).await? {
                    return self.replay_token(payment, &identity).await;
                }
                self.find_payment_by_identifier(&identity).await?;
                Err(payment_in_flight(1))
            }
        }
    }

    async fn replay_token(
        &self,
        payment: Payment,
        identity: &RequestIdentity,
    ) -> Result<PurchaseResult, PayError> {
        // It was released just now; the next request starts over.
        if was_not_taken(&payment) {
            return Err(payment_in_flight(1));
        }
        if payment.state == PaymentState::Refused && identity.matches_purchase(&payment) {
            // The processor would repeat its answer: the token is the idempotency key.
            // An operator's reason is not for the client.
            let is_code =
                |text: &&str| text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
            let reason = payment.reason.as_deref().filter(is_code).unwrap_or("refused");
            return Err(card_refused(reason).into());
        }
        self.replay_payment(payment, identity).await
    }

    /// `not_taken`: the earlier reservation of this token, whose id the processor may know.
    fn token_row(
        &self,
        request: &TokenRequest,
        key: String,
        identity: &RequestIdentity,
        not_taken: Option<&Payment>,
    ) -> Result<Payment> {
        let sold = self.require_payments()?;
        let now = self.now();
        let new = NewCardPayment {
            key,
            item: Item::Provision,
            rail: Rail::Acp,
            amount: sold.prices.cents_of(Item::Provision),
            sandbox: sold.is_sandbox(),
            request_hash: identity.request_hash,
        };
        let mut row = self.new_card_payment(new);
        if let Some(earlier) = not_taken {
            row.id.clone_from(&earlier.id);
            row.attempts = earlier.attempts;
            row.created_at = earlier.created_at;
        }
        let token = request.token.reveal();
        let sealing_key = self.keys.mac(SEALED_AS, row.id.as_bytes());
        let sealed = sealing::seal(&self.minter, sealing_key, row.id.as_bytes(), token.as_bytes())?;
        Ok(Payment {
            // The scope of the request's identifiers, if its client is unknown.
            payer: row.key.clone(),
            client: identity.client.clone(),
            once_hashes: identity.identifier_hashes(),
            // Encrypted, and only until the payment is decided: after a crash the same token must be charged again.
            ask: Some(base64::encode(&sealed)),
            valid_until: now + CHARGE_SECONDS,
            ..row
        })
    }

    /// Charges the token of a reservation. Repeating it charges nothing twice.
    pub(super) async fn charge_reserved_token(
        &self,
        payment: &mut Payment,
        past: SettlementHistory,
    ) -> Result<Settlement> {
        let price = Money::usd_cents(u64::try_from(payment.amount).map_err(Error::internal)?);
        // Once the payment has an id at the processor, asking about it is enough.
        let intent = payment.transaction.as_deref().and_then(ObjectId::parse);
        let request = match &intent {
            Some(intent) => retrieve_intent(intent),
            // From then on the processor may have forgotten the idempotency key and would charge again.
            None if self.now() >= payment.valid_until => {
                let why = "the card processor did not say in time whether the token was charged; look for it in its dashboard";
                return Ok(ambiguous(why, None));
            }
            None => charge_token(&TokenCharge {
                token: &self.reserved_token(payment)?,
                price,
                feature: payment.item.as_str(),
                request_id: &payment.id,
                spelling: self.card_settings().map(|cards| cards.token_spelling).unwrap_or_default(),
            }),
        };
        let request_id = payment.id.clone();
        let processor = self.require_processor()?;
        let reply = match self.with_payment_lease(payment, processor.send(&request)).await {
            Ok(reply) => reply,
            Err(lost) => {
                tracing::warn!(payment = payment.id, why = lost.0, "no response from the card processor");
                return Ok(ambiguous("no response from the card processor", None));
            }
        };
        let expected = ExpectedCharge { price, request_id: Some(&request_id), intent: intent.as_ref() };
        Ok(match read_charge(reply.status, reply.replayed, &reply.body, &expected) {
            ChargeAnswer::Succeeded { intent, .. } => Settlement::Settled { transaction: intent.to_string() },
            ChargeAnswer::Declined { code } => Settlement::NotSettled(Reason::new(&code)),
            ChargeAnswer::ActionRequired { intent } => {
                return self.cancel_waiting_intent(payment, intent, price).await;
            }
            ChargeAnswer::Refused { code } => {
                tracing::warn!(payment = payment.id, code, "card processor refuses the charge of a token");
                let is_token = is_token_fault(code.as_deref());
                Settlement::NotSettled(Reason::new(if is_token { TOKEN_REFUSED } else { REQUEST_REFUSED }))
            }
            ChargeAnswer::Processing { intent } => {
                ambiguous("the card payment is being processed", Some(intent))
            }
            ChargeAnswer::Mismatch { intent, why } => ambiguous(why, Some(intent)),
            ChargeAnswer::KeyReused => ambiguous("the token was charged before, for another purchase", None),
            ChargeAnswer::Misconfigured => {
                tracing::error!("card processor refuses the request; check the settings [stripe]");
                // An earlier attempt may have been taken, with another key.
                if past == SettlementHistory::Ambiguous {
                    return Ok(ambiguous("the card processor refuses our key or a parameter", None));
                }
                Settlement::NotTaken
            }
            ChargeAnswer::Ambiguous { why } => ambiguous(why, None),
        })
    }

    fn reserved_token(&self, payment: &Payment) -> Result<SharedPaymentToken> {
        let broken = || Error::internal("reserved token cannot be read");
        let sealed = payment.ask.as_deref().and_then(base64::decode).ok_or_else(broken)?;
        let key = self.keys.mac(SEALED_AS, payment.id.as_bytes());
        let text = sealing::open(key, payment.id.as_bytes(), &sealed)?;
        str::from_utf8(&text).ok().and_then(SharedPaymentToken::parse).ok_or_else(broken)
    }
}

fn was_not_taken(payment: &Payment) -> bool {
    payment.state == PaymentState::Refused && payment.reason.as_deref() == Some(NOT_TAKEN)
}

pub(super) fn ambiguous(why: &'static str, intent: Option<ObjectId>) -> Settlement {
    Settlement::Ambiguous { why, transaction: intent.map(|intent| intent.to_string()) }
}
