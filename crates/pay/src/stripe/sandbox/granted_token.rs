//! Shared payment tokens that an agent granted us: `/v1/shared_payment/granted_tokens` and the test helpers that create and
//! revoke them. A token can be charged several times, up to its limit.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::LARGEST_AMOUNT;
use super::api_error::ApiError;
use super::card::TestCard;
use super::parameters::{Metadata, Parameters};
use super::stored::{ObjectKind, Record};
use super::transaction::Transaction;
use crate::stripe::{Currency, Money};

/// How the names of tokens begin that need not be granted, for clients that cannot reach the test helpers of an embedded sandbox.
const SELF_GRANTED: &str = "spt_test_";

/// The expiry date of the cards behind tokens.
const EXPIRY: (u8, u16) = (12, 2034);

#[derive(Clone, Serialize, Deserialize)]
pub(super) struct GrantedToken {
    id: String,
    created: i64,
    currency: Currency,
    max_amount: u64,
    expires_at: Option<i64>,
    captured: u64,
    deactivated: Option<Deactivation>,
    payment_method: String,
    shared_metadata: Metadata,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Deactivation {
    at: i64,
    reason: Reason,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Reason {
    Consumed,
    Expired,
    Revoked,
}

/// The parameters of a new token.
#[derive(Debug, Clone)]
pub(super) struct NewToken {
    payment_method: String,
    currency: Currency,
    max_amount: u64,
    expires_at: Option<i64>,
    shared_metadata: Metadata,
}

impl NewToken {
    pub(super) fn read(mut parameters: Parameters) -> Result<Self, ApiError> {
        let max_amount = parameters.integer("usage_limits[max_amount]")?;
        let new = Self {
            payment_method: parameters.required("payment_method", 100)?,
            currency: parameters.currency("usage_limits[currency]")?,
            max_amount: max_amount.ok_or_else(|| ApiError::missing("usage_limits[max_amount]"))?,
            expires_at: parameters.time("usage_limits[expires_at]")?,
            shared_metadata: parameters.metadata("shared_metadata")?,
        };
        // Which seller a token is for does not matter where there is only one.
        parameters.metadata("seller_details")?;
        parameters.finish()?;
        if TestCard::by_payment_method(&new.payment_method).is_none() {
            return Err(ApiError::no_such("payment_method", "No such payment_method."));
        }
        if !(1..=LARGEST_AMOUNT).contains(&new.max_amount) {
            let message = "The limit must be at least 1 and have at most eight digits.";
            return Err(ApiError::invalid(None, message).at("usage_limits[max_amount]"));
        }
        Ok(new)
    }

    pub(super) fn run(self, transaction: &mut Transaction<'_>) -> Result<Value, ApiError> {
        if self.expires_at.is_some_and(|expires_at| expires_at <= transaction.now()) {
            return Err(ApiError::invalid(None, "The time is in the past.").at("usage_limits[expires_at]"));
        }
        let token = GrantedToken {
            id: transaction.new_id("spt_1", 24),
            created: transaction.now(),
            currency: self.currency,
            max_amount: self.max_amount,
            expires_at: self.expires_at,
            captured: 0,
            deactivated: None,
            payment_method: self.payment_method,
            shared_metadata: self.shared_metadata,
        };
        transaction.save(&token)?;
        Ok(token.json())
    }
}

impl Record for GrantedToken {
    const KIND: ObjectKind = ObjectKind::GrantedToken;

    fn id(&self) -> &str {
        &self.id
    }
}

impl GrantedToken {
    /// The token as it is now: one that is overdue expires first.
    pub(super) fn find(transaction: &mut Transaction<'_>, id: &str) -> Result<Option<Self>, ApiError> {
        let token: Option<Self> = transaction.load(id)?;
        let token = token.or_else(|| Self::self_granted(id, transaction.now()));
        let Some(mut token) = token else { return Ok(None) };
        let is_overdue = token.expires_at.is_some_and(|expires_at| expires_at <= transaction.now());
        if is_overdue && token.deactivated.is_none() {
            token.deactivate(transaction, Reason::Expired)?;
        }
        Ok(Some(token))
    }

    /// A token that exists because of its name: `spt_test_`, the name of a test payment method without `pm_card_`, `_` and any
    /// letters or digits, such as `spt_test_visa_1`.
    fn self_granted(id: &str, now: i64) -> Option<Self> {
        let (name, _) = id.strip_prefix(SELF_GRANTED)?.rsplit_once('_')?;
        let payment_method = format!("pm_card_{name}");
        TestCard::by_payment_method(&payment_method)?;
        Some(Self {
            id: id.to_owned(),
            created: now,
            currency: Currency::USD,
            max_amount: LARGEST_AMOUNT,
            expires_at: None,
            captured: 0,
            deactivated: None,
            payment_method,
            shared_metadata: Metadata::default(),
        })
    }

    /// The token in the path of a request.
    pub(super) fn get(transaction: &mut Transaction<'_>, id: &str) -> Result<Self, ApiError> {
        Self::find(transaction, id)?.ok_or(ApiError::not_found("No such shared_payment.granted_token."))
    }

    pub(super) fn revoke(transaction: &mut Transaction<'_>, id: &str) -> Result<Value, ApiError> {
        let mut token = Self::get(transaction, id)?;
        if token.deactivated.is_some() {
            return Err(ApiError::invalid(None, "The token has been deactivated."));
        }
        token.deactivate(transaction, Reason::Revoked)?;
        Ok(token.json())
    }

    fn deactivate(&mut self, transaction: &mut Transaction<'_>, reason: Reason) -> Result<(), ApiError> {
        self.deactivated = Some(Deactivation { at: transaction.now(), reason });
        transaction.save(self)?;
        transaction.emit("shared_payment.granted_token.deactivated", &self.json());
        Ok(())
    }

    /// Whether the token may be charged this amount. The processor documents no codes for these errors, so there are none.
    pub(super) fn check(&self, price: Money) -> Result<(), ApiError> {
        if self.deactivated.is_some() {
            return Err(ApiError::invalid(None, "The shared payment token has been deactivated."));
        }
        if price.currency != self.currency {
            let message = "The shared payment token is limited to another currency.";
            return Err(ApiError::invalid(None, message).at("currency"));
        }
        if price.minor_units > self.max_amount.saturating_sub(self.captured) {
            let message = "The amount exceeds the limit of the shared payment token.";
            return Err(ApiError::invalid(None, message).at("amount"));
        }
        Ok(())
    }

    /// Counts a charge; the one that reaches the limit consumes the token.
    pub(super) fn capture(&mut self, transaction: &mut Transaction<'_>, amount: u64) -> Result<(), ApiError> {
        self.captured = self.captured.saturating_add(amount);
        transaction.save(self)?;
        transaction.emit("shared_payment.granted_token.used", &self.json());
        if self.captured >= self.max_amount {
            self.deactivate(transaction, Reason::Consumed)?;
        }
        Ok(())
    }

    /// The card behind the token.
    pub(super) fn card(&self) -> Result<&'static TestCard, ApiError> {
        TestCard::by_payment_method(&self.payment_method).ok_or(ApiError::internal())
    }

    pub(super) const fn card_expiry() -> (u8, u16) {
        EXPIRY
    }

    pub(super) fn json(&self) -> Value {
        let (month, year) = EXPIRY;
        let card =
            TestCard::by_payment_method(&self.payment_method).map(|card| card.used(month, year).details());
        json!({
            "id": self.id,
            "object": "shared_payment.granted_token",
            "agent_details": null,
            "created": self.created,
            "deactivated_at": self.deactivated.map(|it| it.at),
            "deactivated_reason": self.deactivated.map(|it| it.reason),
            "livemode": false,
            "payment_method_details": card,
            "risk_details": null,
            "shared_metadata": self.shared_metadata,
            "usage_details": { "amount_captured": { "currency": self.currency, "value": self.captured } },
            "usage_limits": { "currency": self.currency, "expires_at": self.expires_at, "max_amount": self.max_amount },
        })
    }
}

/// Keeps the token out of logs.
impl fmt::Debug for GrantedToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GrantedToken").field("deactivated", &self.deactivated).finish_non_exhaustive()
    }
}
