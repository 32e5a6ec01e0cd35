//! The API of the card processor, Stripe: builds its requests, interprets its answers and verifies its webhooks. Sending,
//! retrying, secrets and storage are left to the caller. [`sandbox`] is a processor that speaks the same API without money.

mod answer;
mod charge;
mod checkout;
mod event;
mod intent;
mod money;
mod object_id;
mod refunds;
mod request;
pub mod sandbox;
mod signature;
mod token;

pub use charge::{ChargeAnswer, ExpectedCharge, is_token_fault, read_charge};
pub use checkout::{
    Checkout, CheckoutState, CheckoutStatus, ExpectedCheckout, PaymentStatus, ReadFault, read_checkout,
};
pub use event::{ChangedRefund, Dispute, Event, EventFault, EventKind, RefundedCharge};
pub use intent::{Intent, IntentStatus};
pub use money::{Currency, Money};
pub use object_id::ObjectId;
pub use refunds::read_refunds;
pub use request::{
    ApiRequest, Method, NewCheckout, TokenCharge, TokenSpelling, cancel_intent, charge_token,
    create_checkout, expire_checkout, list_refunds, retrieve_checkout, retrieve_intent,
};
pub use signature::{SignatureFault, TOLERANCE_SECONDS, sign, verify_signature};
pub use token::SharedPaymentToken;

/// The value of `Stripe-Version` that these requests and answers were written for; tokens need a preview version.
pub const API_VERSION: &str = "2026-07-29.preview";
