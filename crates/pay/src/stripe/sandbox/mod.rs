//! A card processor without cards: answers the part of Stripe's API that we use, for tests and trials. Nobody is charged.
//!
//! Storage stays outside. A [`Call`] (a request to the API), a [`FormSubmission`] (a person at the payment form) or a [`Step`]
//! (what happens later, such as a dispute) says which objects it needs; given those, it returns an answer, the objects to write
//! and the events to sign and send. Write all objects in one transaction, each on its condition ([`StoredObject::version`]). If
//! a condition fails, another request came first: load the objects again and repeat.

mod api_error;
mod call;
mod card;
mod charge;
mod checkout_form;
mod checkout_session;
mod decline;
mod dispute;
mod form_submission;
mod granted_token;
mod idempotency;
mod new_payment;
mod null_members;
mod operation;
mod parameters;
mod payment;
mod payment_method;
mod refund;
mod step;
mod stored;
mod transaction;
mod webhook_event;

pub use call::{Call, Handled, Request};
pub use card::{CardDetails, STALLED_CARD, TEST_CARDS, TestCard};
pub use checkout_form::CheckoutForm;
pub use form_submission::{Authentication, FormOutcome, FormSubmission, Submitted};
pub use step::{PaymentRef, Step, StepKind};
pub use stored::{ObjectKey, ObjectKind, StoredObject};
pub use webhook_event::WebhookEvent;

/// What the sandbox cannot know by itself.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    pub now: i64,
    /// Fresh random bytes for every call: all new ids are derived from them.
    pub random: [u8; 32],
    /// The address of the payment form, without the session's id, which is appended after a slash.
    pub form_url: &'a str,
}

/// The smallest amount that can be charged, in the smallest unit of the currency.
pub const SMALLEST_AMOUNT: u64 = 50;
/// The largest amount: eight digits.
pub const LARGEST_AMOUNT: u64 = 99_999_999;

#[cfg(test)]
#[path = "tests/mod.rs"]
mod tests;
