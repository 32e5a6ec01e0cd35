//! Takes a payment: reads the proof from the headers and runs the paid operation in a task, so that a client that
//! disconnects does not interrupt it.

use super::card_terms::{self, PaymentProblem};
use super::menu;
use super::receipt::ReceiptFormat;
use super::terms;
use crate::http::api_error::ApiError;
use crate::http::extract::idempotency_key;
use crate::http::foreign_origin::ForeignOrigin;
use crate::http::state::ApiState;
use axum::response::Response;
use dropleaf_app::{Order, PayError, PayRefused, PayRequest, PaymentProof, PurchaseResult};
use dropleaf_core::payment::Item;
use dropleaf_core::{Code, Error};
use dropleaf_pay::mpp::{self, BodyDigest, Challenge, CredentialError, CredentialField, PaidRequest};
use dropleaf_pay::{PAYMENT_SIGNATURE, Proof, Refusal, X_PAYMENT, parse_proof};
use http::header::AUTHORIZATION;
use http::request::Parts;
use http::{HeaderMap, HeaderValue};
use serde_json::{Map, Value};
use std::net::IpAddr;
use std::sync::Arc;
use tokio::sync::oneshot;

/// `Retry-After` in seconds for a payment whose outcome is unknown.
pub(super) const RETRY_SECONDS: i64 = 10;

const NO_WALLETS: &str = "This server takes no payments with a wallet for this. This request charged nothing. GET /provision lists \
                          the payment protocols that are live.";
const NO_MPP: &str = "This server takes no payments by MPP for this. This request charged nothing. GET /provision lists the payment \
                      protocols that are live.";

/// A completed sale, or the response to send instead.
pub(super) enum Sale {
    Sold { bought: Box<PurchaseResult>, receipt: ReceiptFormat },
    Answer(Response),
}

/// A request to a paid endpoint, as far as its payment is concerned.
pub(super) struct PaidCall<'a> {
    pub(super) state: &'a ApiState,
    pub(super) headers: &'a HeaderMap,
    pub(super) ip: Option<IpAddr>,
    pub(super) item: Item,
    /// The field for an MPP credential: not `Authorization` where that holds an API key.
    pub(super) field: CredentialField,
    /// The digest of the body, which an MPP payment is bound to. Not needed for a request with an x402 proof.
    pub(super) digest: Option<BodyDigest>,
    /// Further members of a 402 body.
    pub(super) more: Map<String, Value>,
}

/// Whether a web page of another origin sent this without a proof: it gets the terms, whatever else it sent.
pub(super) fn is_foreign_question(parts: &Parts) -> bool {
    parts.extensions.get::<ForeignOrigin>().is_some() && !has_proof(&parts.headers)
}

/// Whether a request has a proof of any protocol, valid or not.
pub(super) fn has_proof(headers: &HeaderMap) -> bool {
    has_x402_proof(headers) || mpp_credentials(headers).next().is_some()
}

/// Whether a request has an x402 proof. It takes precedence over an MPP credential: its money may already have moved.
pub(super) fn has_x402_proof(headers: &HeaderMap) -> bool {
    headers.contains_key(PAYMENT_SIGNATURE) || headers.contains_key(X_PAYMENT)
}

/// The MPP credentials of a request, valid or not, with their fields.
fn mpp_credentials(headers: &HeaderMap) -> impl Iterator<Item = (CredentialField, &HeaderValue)> {
    let is_payment = |value: &&HeaderValue| {
        let scheme = value.as_bytes().split(|byte| *byte == b' ').next().unwrap_or_default();
        str::from_utf8(scheme).is_ok_and(mpp::has_payment_scheme)
    };
    let usual = headers.get_all(AUTHORIZATION).iter().filter(is_payment);
    let other = headers.get_all(CredentialField::PaymentAuthorization.name()).iter();
    usual
        .map(|value| (CredentialField::Authorization, value))
        .chain(other.map(|value| (CredentialField::PaymentAuthorization, value)))
}

/// The x402 proof of the request. None is valid; two are an error.
fn x402_proof(headers: &HeaderMap) -> Result<Option<Proof>, Refusal> {
    let one = |name| {
        let mut values = headers.get_all(name).iter();
        let Some(value) = values.next() else { return Ok(None) };
        if values.next().is_some() {
            return Err(Refusal::TwoProofs);
        }
        value.to_str().map(Some).map_err(|_| Refusal::NotBase64)
    };
    parse_proof(one(PAYMENT_SIGNATURE)?, one(X_PAYMENT)?)
}

impl PaidCall<'_> {
    /// Sells a checked order: with a proof it runs the payment, without one it returns the terms. `held` is dropped when
    /// the operation has ended.
    pub(super) async fn sell(
        self,
        (mut order, request_hash): (Order, [u8; 32]),
        held: impl Send + 'static,
    ) -> Result<Sale, ApiError> {
        let (proof, receipt) = match self.proof() {
            Ok(Some(found)) => found,
            Ok(None) => return Ok(Sale::Answer(self.owed()?)),
            Err(error) => {
                order.check()?;
                return self.refused(error, None);
            }
        };
        let Self { state, ip, .. } = self;
        let idempotency_key = idempotency_key(self.headers);
        let request = PayRequest { order, proof, request_hash, idempotency_key, ip };
        let (sender, receiver) = oneshot::channel();
        let app = Arc::clone(&state.app);
        state.tasks.spawn(async move {
            // The client may be gone; the payment is completed anyway.
            let _ = sender.send(app.execute_purchase(request).await);
            drop(held);
        });
        let Ok(outcome) = receiver.await else {
            // The task ended early; the payment's row says how far it got.
            return Err(Error::plain(Code::SettlementUnknown).retry_after(RETRY_SECONDS).into());
        };
        match outcome {
            Ok(bought) => Ok(Sale::Sold { bought: Box::new(bought), receipt }),
            Err(error) => self.refused(error, Some(&receipt)),
        }
    }

    /// The terms, and a challenge for clients of MPP.
    pub(super) fn owed(&self) -> Result<Response, ApiError> {
        if let Some(answer) = card_terms::respond(self, &PaymentProblem::Unpaid)? {
            return Ok(answer);
        }
        let listing = self.state.app.listing(self.item)?;
        Ok(terms::owed(&listing, self.challenge().as_ref(), &self.more, self.is_mpp()))
    }

    /// The terms, after a payment by a protocol that is not available here.
    pub(super) fn not_live(&self, sentence: &str) -> Result<Response, ApiError> {
        if let Some(answer) = card_terms::respond(self, &PaymentProblem::NotLive(sentence))? {
            return Ok(answer);
        }
        match self.state.app.listing(self.item) {
            Ok(listing) => Ok(terms::not_live(&listing, self.challenge().as_ref(), &self.more, sentence)),
            // No wallet and no card can pay for it.
            Err(error) if error.code == Code::NotOnSale => Ok(menu::not_live(self.state, sentence)),
            Err(error) => Err(error.into()),
        }
    }

    /// The terms are repeated only if the payment is known not to have been taken.
    fn refused(&self, error: PayError, receipt: Option<&ReceiptFormat>) -> Result<Sale, ApiError> {
        let refused: PayRefused = match error {
            PayError::Refused(refused) => refused,
            PayError::Failed(error) if error.code == Code::RailNotLive => {
                return Ok(Sale::Answer(self.not_live(&error.detail)?));
            }
            PayError::Failed(error) => return Err(error.into()),
        };
        if let Some(error) = terms::malformed(&refused, self.is_mpp()) {
            return Err(error.into());
        }
        if let Some(sentence) = self.rail_not_live_reason()? {
            return Ok(Sale::Answer(self.not_live(sentence)?));
        }
        if let Some(answer) = card_terms::respond(self, &PaymentProblem::Refused(&refused))? {
            return Ok(Sale::Answer(answer));
        }
        let listing = self.state.app.listing(self.item)?;
        let challenge = self.challenge();
        let answer =
            terms::refused(&listing, &refused, challenge.as_ref(), &self.more, self.is_mpp(), receipt);
        Ok(Sale::Answer(answer))
    }

    /// The response to a payment that was not sent in a header and failed.
    pub(super) fn refusal(&self, error: PayError) -> Result<Response, ApiError> {
        match self.refused(error, None)? {
            Sale::Answer(answer) => Ok(answer),
            Sale::Sold { .. } => Err(Error::internal("a refused payment bought something").into()),
        }
    }

    /// The payment of the request, and the form of its receipt.
    fn proof(&self) -> Result<Option<(PaymentProof, ReceiptFormat)>, PayError> {
        if let Some(proof) = x402_proof(self.headers)? {
            let receipt = ReceiptFormat::X402(proof.generation());
            return Ok(Some((PaymentProof::X402(proof), receipt)));
        }
        let mut credentials = mpp_credentials(self.headers);
        let Some((field, value)) = credentials.next() else { return Ok(None) };
        if credentials.next().is_some() {
            return Err(PayRefused::from(CredentialError::TwoCredentials).into());
        }
        let text = value.to_str().map_err(|_| PayRefused::from(CredentialError::NotBase64Url))?;
        let route = self.bound_route();
        let request = PaidRequest { route: &route, digest: self.digest };
        let payment = self.state.app.mpp_payment(self.item, request, field, text)?;
        let receipt = ReceiptFormat::Mpp { challenge_id: payment.challenge_id().to_owned() };
        Ok(Some((PaymentProof::Mpp(payment), receipt)))
    }

    fn challenge(&self) -> Option<Challenge> {
        let route = self.bound_route();
        let request = PaidRequest { route: &route, digest: self.digest };
        self.state.app.payment_challenge(self.item, request, self.field)
    }

    /// What an MPP payment is bound to.
    fn bound_route(&self) -> String {
        match self.item {
            Item::Unlock(sku) => format!("POST /unlock?feature={}", sku.as_str()),
            Item::Publish | Item::Provision | Item::Topup => format!("POST /{}", self.item.as_str()),
        }
    }

    /// Why the rail of the proof in the headers is not live; `None` if it is, or if there is no proof.
    fn rail_not_live_reason(&self) -> Result<Option<&'static str>, Error> {
        let app = &self.state.app;
        if !has_proof(self.headers) {
            return Ok(None);
        }
        if !app.require_payments()?.is_payable(self.item) {
            return Ok(Some(NO_WALLETS));
        }
        let has_mpp = app.listing(self.item).is_ok_and(|listing| listing.has_mpp());
        Ok((!has_x402_proof(self.headers) && !has_mpp).then_some(NO_MPP))
    }

    /// Whether the client speaks MPP: it gets the errors of that protocol.
    fn is_mpp(&self) -> bool {
        !has_x402_proof(self.headers)
            && (self.headers.contains_key(mpp::ACCEPT_PAYMENT)
                || mpp_credentials(self.headers).next().is_some())
    }
}
