//! Parses a signed authorization as clients send it, and checks whether it pays an offer.

use serde_json::{Value, json};

use super::{Authorization, Decimal, Domain, Signature, recover};
use crate::address::EvmAddress;
use crate::amount::Amount;
use crate::hex;
use crate::json::{self, Object};
use crate::offer::Token;
use crate::refusal::Refusal;

/// An authorization and its signature, not yet verified.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SignedTransfer {
    pub(crate) authorization: Authorization,
    signature: Vec<u8>,
}

/// How close to its expiry an authorization may be used, and how far away its expiry may be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Margins {
    pub(crate) left_seconds: i64,
    /// Added to the offer's timeout; `None` means unlimited.
    pub(crate) slack_seconds: Option<i64>,
}

impl Margins {
    /// Ours: enough time to settle, and a limit on how long a stuck proof stays valid that tolerates wrong clocks.
    pub(crate) const OURS: Self = Self { left_seconds: 10, slack_seconds: Some(600) };
    /// Those of the reference facilitators.
    pub(crate) const FACILITATOR: Self = Self { left_seconds: 6, slack_seconds: None };
}

impl SignedTransfer {
    /// Parses `{signature, authorization}` with no member missing or added.
    pub(crate) fn read(payload: &Object) -> Result<Self, Refusal> {
        if ["permit2Authorization", "delegationManager"].iter().any(|name| payload.contains_key(*name)) {
            return Err(Refusal::MethodNotOffered);
        }
        let fields = json::member(payload, "authorization")?;
        if payload.len() != 2 || fields.len() != 6 {
            return Err(Refusal::InvalidPayload);
        }
        let address = |name| EvmAddress::parse(json::text(fields, name)?).ok_or(Refusal::InvalidPayload);
        let number = |name| Decimal::parse(json::text(fields, name)?).ok_or(Refusal::InvalidPayload);
        let authorization = Authorization {
            from: address("from")?,
            to: address("to")?,
            value: number("value")?,
            valid_after: number("validAfter")?,
            valid_before: number("validBefore")?,
            nonce: hex::parse(json::text(fields, "nonce")?).ok_or(Refusal::InvalidPayload)?,
        };
        let signature = hex::bytes(json::text(payload, "signature")?).ok_or(Refusal::InvalidPayload)?;
        Ok(Self { authorization, signature })
    }

    /// Serializes the payload in canonical form.
    pub(crate) fn to_json(&self) -> Value {
        let it = &self.authorization;
        json!({
            "signature": hex::show(&self.signature),
            "authorization": {
                "from": it.from.to_string(),
                "to": it.to.to_string(),
                "value": it.value.as_str(),
                "validAfter": it.valid_after.as_str(),
                "validBefore": it.valid_before.as_str(),
                "nonce": hex::show(&it.nonce),
            },
        })
    }

    /// Whether it pays the right amount to the right address. Does not check time or signature.
    pub(crate) fn pays(&self, amount: Amount, pay_to: EvmAddress) -> Result<(), Refusal> {
        if self.authorization.to != pay_to {
            return Err(Refusal::RecipientMismatch);
        }
        // Exactly equal, as facilitators require; an overpayment buys nothing.
        if self.authorization.value.as_str() != amount.to_string() {
            return Err(Refusal::AmountMismatch);
        }
        Ok(())
    }

    /// Whether it can be settled now.
    pub(crate) fn is_timely(&self, now: i64, timeout_seconds: u32, margins: Margins) -> Result<(), Refusal> {
        let until = self.authorization.valid_before.seconds();
        if until < now.saturating_add(margins.left_seconds) {
            return Err(Refusal::Expired);
        }
        if self.authorization.valid_after.seconds() > now {
            return Err(Refusal::NotYetValid);
        }
        let latest =
            margins.slack_seconds.map(|slack| now.saturating_add(i64::from(timeout_seconds) + slack));
        if latest.is_some_and(|latest| until > latest) {
            return Err(Refusal::ValidTooLong);
        }
        Ok(())
    }

    /// The digest that the payer signs.
    pub(crate) fn digest(&self, chain_id: u64, token: &Token) -> [u8; 32] {
        self.authorization.digest(Domain { chain_id, token })
    }

    /// Whether the payer's own key signed it. If not, it may be the signature of a contract wallet, which only its chain can
    /// verify: those have any length from 65 bytes on.
    pub(crate) fn is_signed_by_payer(&self, chain_id: u64, token: &Token) -> Result<bool, Refusal> {
        if self.signature.len() > 65 {
            return Ok(false);
        }
        let bytes: &[u8; 65] = self.signature.as_slice().try_into().map_err(|_| Refusal::InvalidSignature)?;
        let signature = Signature::read(bytes).ok_or(Refusal::InvalidSignature)?;
        let digest = self.digest(chain_id, token);
        Ok(recover(&digest, &signature) == Some(self.authorization.from))
    }
}
