//! Payment intents that charge a granted token at once: `POST /v1/payment_intents`.

use std::fmt;

use serde_json::Value;

use super::api_error::ApiError;
use super::card::Behaviour;
use super::granted_token::GrantedToken;
use super::parameters::{Metadata, Parameters};
use super::payment::Payment;
use super::transaction::Transaction;
use crate::stripe::Money;
use crate::stripe::object_id::is_id;

/// The names under which the documents of the API and its clients send a token.
const SPELLINGS: [&str; 3] = [
    "payment_method_data[shared_payment_granted_token]",
    "shared_payment_granted_token",
    "shared_payment_token",
];

/// The parameters of a charge.
#[derive(Clone)]
pub(super) struct NewPayment {
    price: Money,
    pub(super) token: String,
    metadata: Metadata,
}

impl NewPayment {
    pub(super) fn read(mut parameters: Parameters) -> Result<Self, ApiError> {
        let price = parameters.price("amount", "currency")?;
        let confirm = parameters.one_of("confirm", &["true"])?;
        parameters.one_of("automatic_payment_methods[enabled]", &["true"])?;
        parameters.one_of("automatic_payment_methods[allow_redirects]", &["never", "always"])?;
        parameters.one_of("capture_method", &["automatic", "automatic_async"])?;
        parameters.one_of("payment_method_data[type]", &["card"])?;
        parameters.one_of("payment_method_types[0]", &["card"])?;
        let metadata = parameters.metadata("metadata")?;
        let mut token = None;
        for name in SPELLINGS {
            if let Some(text) = parameters.text(name, 259)?
                && token.replace(text).is_some()
            {
                return Err(ApiError::invalid(None, "Send one shared payment token.").at(name));
            }
        }
        parameters.finish()?;
        if confirm.is_none() {
            return Err(ApiError::missing("confirm"));
        }
        let token =
            token.ok_or_else(|| ApiError::missing("payment_method_data[shared_payment_granted_token]"))?;
        if !is_id(&token) {
            return Err(no_such_token());
        }
        Ok(Self { price, token, metadata })
    }

    pub(super) fn run(self, transaction: &mut Transaction<'_>) -> Result<Value, ApiError> {
        let token = GrantedToken::find(transaction, &self.token)?;
        let mut token = token.ok_or_else(no_such_token)?;
        token.check(self.price)?;
        let id = transaction.new_id("pi_3", 23);
        let mut payment = Payment::new(id, self.price, self.metadata, transaction.now());
        let card = token.card()?;
        let (month, year) = GrantedToken::card_expiry();
        payment.use_card(transaction, card.used(month, year));
        match card.behaviour() {
            Behaviour::Declines(decline) => return Err(payment.decline(transaction, decline)?),
            Behaviour::Authenticates => payment.require_action(transaction)?,
            Behaviour::Pays => {
                payment.succeed(transaction)?;
                token.capture(transaction, self.price.minor_units)?;
            }
            Behaviour::Stalls => {
                payment.stall(transaction)?;
                token.capture(transaction, self.price.minor_units)?;
            }
        }
        Ok(payment.intent_json())
    }
}

fn no_such_token() -> ApiError {
    ApiError::no_such(
        "payment_method_data[shared_payment_granted_token]",
        "No such shared_payment.granted_token.",
    )
}

/// Keeps the token out of logs.
impl fmt::Debug for NewPayment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewPayment").field("price", &self.price).finish_non_exhaustive()
    }
}
