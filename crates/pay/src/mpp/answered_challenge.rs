//! A challenge of ours with the payer's answer to it. Checks the signed authorization against the challenge, converts it into
//! an x402 proof, and compares the challenge with the request that it came with.

use std::fmt;

use dropleaf_core::iso;
use serde_json::json;

use super::charge::Charge;
use super::credential::Credential;
use super::credential_error::CredentialError;
use super::paid_request::PaidRequest;
use super::{challenge_hashes, opaque, payer_did};
use crate::evm::SignedTransfer;
use crate::generation::Generation;
use crate::json::{self, Object};
use crate::offer::{Asset, Offer};
use crate::proof::Proof;
use crate::refusal::Refusal;
use crate::terms::Terms;

/// The members of a payload that become the members of an x402 authorization.
const AUTHORIZATION: [&str; 6] = ["from", "to", "value", "validAfter", "validBefore", "nonce"];

/// A credential for a challenge that we issued.
#[derive(Clone, PartialEq)]
pub struct AnsweredChallenge {
    id: String,
    realm: String,
    /// Whether the realm is still ours. An earlier payment is found even if it is not.
    is_current_realm: bool,
    charge: Charge,
    expires_at: i64,
    route: String,
    digest: Option<String>,
    payload: Object,
    source: Option<String>,
}

impl AnsweredChallenge {
    /// `None` if the parameters are not of the form in which we issue them.
    pub(super) fn read(credential: Credential, is_current_realm: bool) -> Option<Self> {
        let parameters = credential.parameters;
        Some(Self {
            id: credential.id,
            is_current_realm,
            charge: Charge::decode(&parameters.request)?,
            expires_at: iso::parse(&parameters.expires?)?,
            route: opaque::route(&parameters.opaque?)?,
            digest: parameters.digest,
            realm: parameters.realm,
            payload: credential.payload,
            source: credential.source,
        })
    }

    /// The id of the challenge, for the receipt.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The chain on which the payment settles, for the receipt.
    pub fn chain_id(&self) -> u64 {
        self.charge.chain_id()
    }

    /// The authorization as an x402 v2 proof. It is signed by the payer's own key and pays what the challenge charges, until the
    /// challenge expires. The proof names the offer of the challenge: [`Proof::recognise`] finds an earlier payment by it even
    /// if the price has changed since, and [`Proof::check`] accepts it only while it is our current offer.
    pub fn proof(&self, terms: &Terms) -> Result<Proof, CredentialError> {
        let offer = self.charge.offer(terms).ok_or(CredentialError::TermsChanged)?;
        let transfer = self.transfer()?;
        self.check_transfer(&transfer, &offer)?;
        let members = json!({ "x402Version": 2, "accepted": offer.v2_json(), "payload": transfer.to_json() });
        Ok(Proof::from_members(Generation::V2, json::into_object(members))?)
    }

    /// Compares the challenge with the request it came with and with our current terms. For new payments only: the response to a
    /// known one is repeated or withheld according to what that payment bought.
    pub fn check_request(&self, request: &PaidRequest<'_>, terms: &Terms) -> Result<(), CredentialError> {
        if !self.is_current_realm {
            return Err(CredentialError::UnknownChallenge);
        }
        if self.route != request.route {
            return Err(CredentialError::OtherRoute);
        }
        // A challenge for a request without a body, such as a question about the terms, leaves the body open.
        if self.digest.is_some() && self.digest != request.digest.map(|digest| digest.to_string()) {
            return Err(CredentialError::OtherBody);
        }
        self.charge.check(terms)
    }

    /// The payload, which must have exactly the members of an authorization.
    fn transfer(&self) -> Result<SignedTransfer, CredentialError> {
        let text = |name: &str| json::text(&self.payload, name);
        if text("type")? != "authorization" {
            return Err(CredentialError::UnsupportedType);
        }
        // Besides those of the authorization: type and signature.
        if self.payload.len() != AUTHORIZATION.len() + 2 {
            return Err(Refusal::InvalidPayload.into());
        }
        let mut authorization = Object::new();
        for name in AUTHORIZATION {
            authorization.insert(name.to_owned(), text(name)?.into());
        }
        let payload = json!({ "signature": text("signature")?, "authorization": authorization });
        Ok(SignedTransfer::read(&json::into_object(payload))?)
    }

    /// Whether the authorization is the one that the challenge asks for. The signature is checked last, because that takes
    /// longest.
    fn check_transfer(&self, transfer: &SignedTransfer, offer: &Offer) -> Result<(), CredentialError> {
        let Asset::Evm { chain_id, token, pay_to } = &offer.asset else {
            return Err(CredentialError::TermsChanged);
        };
        let authorization = &transfer.authorization;
        if !challenge_hashes(&self.id, &self.realm).contains(&authorization.nonce) {
            return Err(CredentialError::NonceMismatch);
        }
        transfer.pays(offer.amount, *pay_to)?;
        if authorization.valid_before.seconds() != self.expires_at {
            return Err(CredentialError::ExpiryMismatch);
        }
        let is_payer = |did: &String| payer_did::names(did, *chain_id, authorization.from);
        if !self.source.as_ref().is_none_or(is_payer) {
            return Err(CredentialError::SourceMismatch);
        }
        if !transfer.is_signed_by_payer(*chain_id, token)? {
            return Err(CredentialError::NotSignedByPayer);
        }
        Ok(())
    }
}

/// Keeps the authorization out of logs.
impl fmt::Debug for AnsweredChallenge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnsweredChallenge")
            .field("charge", &self.charge)
            .field("expires_at", &self.expires_at)
            .field("route", &self.route)
            .finish_non_exhaustive()
    }
}
