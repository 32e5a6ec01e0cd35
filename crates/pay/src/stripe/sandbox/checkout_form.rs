//! What the payment form of a checkout session shows.

use super::checkout_session::{CheckoutSession, SessionStatus};
use super::stored::{ObjectKey, ObjectKind};
use super::{Context, StoredObject};
use crate::stripe::object_id::is_id;
use crate::stripe::{CheckoutStatus, Money};

/// The contents of a payment form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckoutForm {
    pub product: String,
    pub price: Money,
    pub status: CheckoutStatus,
    /// Where the person goes after paying.
    pub return_url: String,
    /// Where the person goes to pay in another way.
    pub cancel_url: Option<String>,
    pub expires_at: i64,
}

impl CheckoutForm {
    /// The object that holds the form; `None` if there cannot be such a session.
    pub fn key(session: &str) -> Option<ObjectKey> {
        is_id(session).then(|| ObjectKey::new(ObjectKind::CheckoutSession, session))
    }

    pub fn read(session: &StoredObject, context: &Context<'_>) -> Option<Self> {
        if session.key.kind != ObjectKind::CheckoutSession {
            return None;
        }
        let session: CheckoutSession = serde_json::from_str(&session.json).ok()?;
        let status = match session.status {
            SessionStatus::Open if session.expires_at <= context.now => CheckoutStatus::Expired,
            SessionStatus::Open => CheckoutStatus::Open,
            SessionStatus::Complete => CheckoutStatus::Complete,
            SessionStatus::Expired => CheckoutStatus::Expired,
        };
        Some(Self {
            price: session.price(),
            status,
            return_url: session.return_url(),
            product: session.product,
            cancel_url: session.cancel_url,
            expires_at: session.expires_at,
        })
    }
}
