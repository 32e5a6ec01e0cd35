//! A checkout session: the processor's payment form for one purchase, and whether it has been paid.

use super::{Money, ObjectId, answer};
use crate::json::Object;

const LONGEST_URL: usize = 4096;

/// A checkout session, as far as we need it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout {
    pub id: ObjectId,
    /// The address of the form; only while it is open.
    pub url: Option<String>,
    pub status: CheckoutStatus,
    pub payment_status: PaymentStatus,
    pub amount_total: Option<Money>,
    pub payment_intent: Option<ObjectId>,
    /// Our id of the purchase.
    pub client_reference_id: Option<String>,
    pub expires_at: i64,
    pub livemode: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CheckoutStatus {
    Open,
    Complete,
    Expired,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PaymentStatus {
    Paid,
    Unpaid,
    NoPaymentRequired,
}

/// What a session must match before it counts as the payment of a purchase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpectedCheckout<'a> {
    /// `None` while the session is being created.
    pub id: Option<&'a ObjectId>,
    pub reference: &'a str,
    pub price: Money,
}

/// What a session means for the purchase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckoutState {
    /// The money was received.
    Paid,
    /// The form is complete but the money has not been received. An event announces the result; without webhooks, the payment
    /// intent shows it.
    Processing,
    Open,
    /// It can no longer be paid.
    Expired,
    /// It is not the session of this purchase, for this reason: grant nothing and alert an operator.
    Mismatch(&'static str),
}

/// Why an answer holds no session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadFault {
    /// 401 or 403: the operator must correct the secret key or its permissions.
    Misconfigured,
    /// 404: no such session in this account.
    NotFound,
    /// The processor refuses the request, with this code.
    Refused { code: Option<String> },
    /// No usable answer, for this reason: ask again, with the same idempotency key.
    Unavailable(&'static str),
}

/// Interprets the answer to the creation, retrieval or expiration of a checkout session.
pub fn read_checkout(status: u16, body: &[u8]) -> Result<Checkout, ReadFault> {
    let object = answer::object(body);
    let error = object.as_ref().and_then(|it| answer::member(it, "error"));
    match (status, error) {
        (200, _) => object
            .and_then(|object| Checkout::read(&object))
            .ok_or(ReadFault::Unavailable("the answer is not a checkout session")),
        (401 | 403, _) => Err(ReadFault::Misconfigured),
        (404, Some(_)) => Err(ReadFault::NotFound),
        (400 | 402, Some(error)) => Err(ReadFault::Refused { code: answer::code(error, "code") }),
        (409 | 429, _) => Err(ReadFault::Unavailable("the processor is busy")),
        (500..600, _) => Err(ReadFault::Unavailable("the processor failed")),
        _ => Err(ReadFault::Unavailable("the status is not an answer of the processor")),
    }
}

impl Checkout {
    pub(super) fn read(object: &Object) -> Option<Self> {
        if !answer::is_a(object, "checkout.session") {
            return None;
        }
        let status = match answer::text(object, "status")? {
            "open" => CheckoutStatus::Open,
            "complete" => CheckoutStatus::Complete,
            "expired" => CheckoutStatus::Expired,
            _ => return None,
        };
        let payment_status = match answer::text(object, "payment_status")? {
            "paid" => PaymentStatus::Paid,
            "unpaid" => PaymentStatus::Unpaid,
            "no_payment_required" => PaymentStatus::NoPaymentRequired,
            _ => return None,
        };
        Some(Self {
            id: answer::id(object, "id")?,
            url: answer::text(object, "url").filter(|url| is_web_address(url)).map(str::to_owned),
            status,
            payment_status,
            amount_total: answer::money(object, "amount_total"),
            payment_intent: answer::id(object, "payment_intent"),
            client_reference_id: answer::text(object, "client_reference_id").map(str::to_owned),
            expires_at: answer::time(object, "expires_at")?,
            livemode: object.get("livemode").and_then(serde_json::Value::as_bool)?,
        })
    }

    /// What the session means for a purchase. Received money counts even if the form has expired meanwhile.
    pub fn judge(&self, expected: &ExpectedCheckout<'_>) -> CheckoutState {
        if expected.id.is_some_and(|id| *id != self.id) {
            return CheckoutState::Mismatch("it is another session");
        }
        if self.client_reference_id.as_deref() != Some(expected.reference) {
            return CheckoutState::Mismatch("it names another purchase");
        }
        let Some(total) = self.amount_total else {
            return CheckoutState::Mismatch("it names no amount");
        };
        if total.currency != expected.price.currency {
            return CheckoutState::Mismatch("the currency differs");
        }
        if total.minor_units != expected.price.minor_units {
            return CheckoutState::Mismatch("the amount differs");
        }
        match (self.payment_status, self.status) {
            (PaymentStatus::Paid, _) => CheckoutState::Paid,
            (PaymentStatus::NoPaymentRequired, _) => CheckoutState::Mismatch("it required no payment"),
            (PaymentStatus::Unpaid, CheckoutStatus::Complete) => CheckoutState::Processing,
            (PaymentStatus::Unpaid, CheckoutStatus::Open) => CheckoutState::Open,
            (PaymentStatus::Unpaid, CheckoutStatus::Expired) => CheckoutState::Expired,
        }
    }
}

/// Whether a browser may be sent there.
fn is_web_address(text: &str) -> bool {
    let is_web = text.starts_with("https://") || text.starts_with("http://");
    is_web && text.len() <= LONGEST_URL && text.bytes().all(|b| b.is_ascii_graphic())
}

#[cfg(test)]
#[path = "checkout_tests.rs"]
mod tests;
