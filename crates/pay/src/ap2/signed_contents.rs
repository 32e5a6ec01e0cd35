//! A v0.1 mandate: contents in plain JSON, and a token in which a trusted issuer signs their hash. The protocol leaves the claims
//! of that token open; those of a presentation to one verifier are required here. Amounts are decimal major units.

use serde_json::Value;

use super::canonical::canonical_json;
use super::issuer::{Issuer, Issuers};
use super::json_member::{self, Object};
use super::jwt::Jwt;
use super::mandate::{Instrument, InstrumentKind, MandateRequest};
use super::price::minor_units;
use super::refusal::MandateRefusal;
use super::{digest, validity};

/// Parsed contents and their token, not yet verified.
#[derive(Clone, PartialEq)]
pub(crate) struct SignedContents {
    contents: Object,
    hash: String,
    authorization: Jwt,
}

impl SignedContents {
    pub(crate) fn parse(contents: &Value, authorization: &str) -> Result<Self, MandateRefusal> {
        let hash = digest::hash(&canonical_json(contents)?);
        let contents = contents.as_object().cloned().ok_or(MandateRefusal::MalformedMember)?;
        Ok(Self { contents, hash, authorization: Jwt::parse(authorization)? })
    }

    pub(crate) fn transaction_id(&self) -> Result<&str, MandateRefusal> {
        json_member::text(&self.contents, "payment_details_id")
    }

    /// The issuer's id of the mandate.
    pub(crate) fn mandate_id(&self) -> Result<&str, MandateRefusal> {
        json_member::text(&self.contents, "payment_mandate_id")
    }

    /// A hash of the contents and the token. White space and the order of members do not matter.
    pub(crate) fn fingerprint(&self) -> String {
        digest::hash(&format!("{}.{}", self.hash, self.authorization.hash))
    }

    /// The hash of the token.
    pub(crate) fn reference(&self) -> &str {
        &self.authorization.hash
    }

    /// Performs every check; returns the issuer that signed.
    pub(crate) fn verify<'a>(
        &self,
        issuers: &'a Issuers,
        request: &MandateRequest<'_>,
        now: i64,
    ) -> Result<&'a Issuer, MandateRefusal> {
        let token = &self.authorization;
        let issuer = token.kid().and_then(|kid| issuers.find(kid)).ok_or(MandateRefusal::UnknownIssuer)?;
        token.verify(&issuer.key)?;
        validity::check(&token.claims, now)?;
        if !["iat", "exp"].iter().all(|name| validity::has(&token.claims, name)) {
            return Err(MandateRefusal::TimesMissing);
        }
        token.check_recipient(request.audience, request.nonce)?;
        // The hash of a cart may stand beside that of the payment.
        let hashes = json_member::array(&token.claims, "transaction_data")?;
        if !hashes.iter().any(|hash| *hash == self.hash) {
            return Err(MandateRefusal::ContentsMismatch);
        }
        self.answers(request)?;
        Ok(issuer)
    }

    /// Whether the contents are consent to exactly what we requested.
    fn answers(&self, request: &MandateRequest<'_>) -> Result<(), MandateRefusal> {
        let response = json_member::object(&self.contents, "payment_response")?;
        let ids = [self.transaction_id()?, json_member::text(response, "request_id")?];
        if ids != [request.transaction_id; 2] {
            return Err(MandateRefusal::TransactionMismatch);
        }
        // v0.1 does not say how a merchant is named; both values are ours.
        let payee = json_member::text(&self.contents, "merchant_agent")?;
        if ![request.audience, request.payee_id].contains(&payee) {
            return Err(MandateRefusal::PayeeMismatch);
        }
        let total = json_member::object(&self.contents, "payment_details_total")?;
        let amount = json_member::object(total, "amount")?;
        if json_member::text(amount, "currency")? != request.currency {
            return Err(MandateRefusal::CurrencyMismatch);
        }
        let price = amount.get("value").ok_or(MandateRefusal::MalformedMember)?;
        if minor_units(price, request.currency) != Some(request.amount_minor) {
            return Err(MandateRefusal::AmountMismatch);
        }
        Ok(())
    }

    pub(crate) fn chargeable_instrument(&self) -> Result<Instrument, MandateRefusal> {
        let response = json_member::object(&self.contents, "payment_response")?;
        let method = json_member::text(response, "method_name")?;
        let kind = InstrumentKind::parse(method).ok_or(MandateRefusal::UnsupportedInstrument)?;
        let id = match kind {
            InstrumentKind::StripeSharedPaymentToken => {
                json_member::text(json_member::object(response, "details")?, "shared_payment_token")?
            }
        };
        Ok(Instrument { kind, id: id.to_owned() })
    }
}
