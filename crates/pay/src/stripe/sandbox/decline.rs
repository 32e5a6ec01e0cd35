//! Reasons for which a card is declined, with the processor's codes.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Why a card was declined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Decline {
    Generic,
    InsufficientFunds,
    ExpiredCard,
    IncorrectCvc,
    ProcessingError,
    AuthenticationFailed,
    /// Not one of the test cards.
    LiveCard,
}

impl Decline {
    pub(super) const fn code(self) -> &'static str {
        match self {
            Self::Generic | Self::InsufficientFunds | Self::LiveCard => "card_declined",
            Self::ExpiredCard => "expired_card",
            Self::IncorrectCvc => "incorrect_cvc",
            Self::ProcessingError => "processing_error",
            Self::AuthenticationFailed => "payment_intent_authentication_failure",
        }
    }

    pub(super) const fn decline_code(self) -> Option<&'static str> {
        match self {
            Self::Generic => Some("generic_decline"),
            Self::InsufficientFunds => Some("insufficient_funds"),
            Self::ExpiredCard => Some("expired_card"),
            Self::IncorrectCvc => Some("incorrect_cvc"),
            Self::ProcessingError => Some("processing_error"),
            Self::LiveCard => Some("test_mode_live_card"),
            Self::AuthenticationFailed => None,
        }
    }

    pub(super) const fn error_type(self) -> &'static str {
        match self {
            Self::AuthenticationFailed => "invalid_request_error",
            _ => "card_error",
        }
    }

    pub(super) const fn message(self) -> &'static str {
        match self {
            Self::Generic => "Your card was declined.",
            Self::InsufficientFunds => "Your card has insufficient funds.",
            Self::ExpiredCard => "Your card has expired.",
            Self::IncorrectCvc => "Your card's security code is incorrect.",
            Self::ProcessingError => "Your card could not be processed. Try again in a moment.",
            Self::AuthenticationFailed => {
                "We could not authenticate your card. Try again or use another card."
            }
            Self::LiveCard => "This is a sandbox: use a test card. Real cards are declined.",
        }
    }

    /// The `last_payment_error` of a payment intent.
    pub(super) fn json(self, charge: Option<&str>) -> Value {
        let mut error = json!({ "type": self.error_type(), "code": self.code(), "message": self.message() });
        if let Some(code) = self.decline_code() {
            error["decline_code"] = code.into();
        }
        // A cardholder who does not confirm stops the payment before there is a charge; one that exists is of an earlier card.
        if let Some(charge) = charge.filter(|_| self != Self::AuthenticationFailed) {
            error["charge"] = charge.into();
        }
        error
    }
}
