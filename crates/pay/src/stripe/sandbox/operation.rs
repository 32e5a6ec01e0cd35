//! The operations of the API: which one a method and a path name, what it needs and what it does.

use std::fmt;

use serde_json::Value;

use super::api_error::ApiError;
use super::checkout_session::{CheckoutSession, NewSession};
use super::granted_token::{GrantedToken, NewToken};
use super::new_payment::NewPayment;
use super::parameters::Parameters;
use super::payment::Payment;
use super::refund::{NewRefund, RefundList};
use super::stored::{ObjectKey, ObjectKind};
use super::transaction::Transaction;
use crate::stripe::object_id::is_id;

/// An endpoint, with the id in its path.
#[derive(Clone, Copy)]
pub(super) enum Route<'a> {
    CreateSession,
    RetrieveSession(&'a str),
    ExpireSession(&'a str),
    CreatePayment,
    RetrievePayment(&'a str),
    CancelPayment(&'a str),
    GrantToken,
    RevokeToken(&'a str),
    RetrieveToken(&'a str),
    Refund,
    ListRefunds,
}

impl<'a> Route<'a> {
    /// Like the processor, treats a path with another method as unknown.
    pub(super) fn find(method: &str, path: &'a str) -> Option<Self> {
        let path = path.strip_prefix("/v1/")?;
        if path.len() > 400 {
            return None;
        }
        let parts: Vec<&str> = path.split('/').collect();
        Some(match (method, parts.as_slice()) {
            ("POST", ["checkout", "sessions"]) => Self::CreateSession,
            ("GET", ["checkout", "sessions", id]) => Self::RetrieveSession(id),
            ("POST", ["checkout", "sessions", id, "expire"]) => Self::ExpireSession(id),
            ("POST", ["payment_intents"]) => Self::CreatePayment,
            ("GET", ["payment_intents", id]) => Self::RetrievePayment(id),
            ("POST", ["payment_intents", id, "cancel"]) => Self::CancelPayment(id),
            ("POST", ["test_helpers", "shared_payment", "granted_tokens"]) => Self::GrantToken,
            ("POST", ["test_helpers", "shared_payment", "granted_tokens", id, "revoke"]) => {
                Self::RevokeToken(id)
            }
            ("GET", ["shared_payment", "granted_tokens", id]) => Self::RetrieveToken(id),
            ("POST", ["refunds"]) => Self::Refund,
            ("GET", ["refunds"]) => Self::ListRefunds,
            _ => return None,
        })
    }
}

/// An operation with its parameters.
#[derive(Clone)]
pub(super) enum Operation {
    CreateSession(NewSession),
    RetrieveSession(String),
    ExpireSession(String),
    CreatePayment(NewPayment),
    RetrievePayment(String),
    CancelPayment(String),
    GrantToken(NewToken),
    RevokeToken(String),
    RetrieveToken(String),
    Refund(NewRefund),
    ListRefunds(RefundList),
}

impl Operation {
    pub(super) fn read(route: Route<'_>, parameters: Parameters) -> Result<Self, ApiError> {
        let with_id = |id: &str, parameters: Parameters, operation: fn(String) -> Self| {
            parameters.finish()?;
            if is_id(id) { Ok(operation(id.to_owned())) } else { Err(ApiError::not_found("No such object.")) }
        };
        match route {
            Route::CreateSession => NewSession::read(parameters).map(Self::CreateSession),
            Route::CreatePayment => NewPayment::read(parameters).map(Self::CreatePayment),
            Route::GrantToken => NewToken::read(parameters).map(Self::GrantToken),
            Route::Refund => NewRefund::read(parameters).map(Self::Refund),
            Route::ListRefunds => RefundList::read(parameters).map(Self::ListRefunds),
            Route::RetrieveSession(id) => with_id(id, parameters, Self::RetrieveSession),
            Route::ExpireSession(id) => with_id(id, parameters, Self::ExpireSession),
            Route::RetrievePayment(id) => with_id(id, parameters, Self::RetrievePayment),
            Route::CancelPayment(id) => with_id(id, parameters, Self::CancelPayment),
            Route::RevokeToken(id) => with_id(id, parameters, Self::RevokeToken),
            Route::RetrieveToken(id) => with_id(id, parameters, Self::RetrieveToken),
        }
    }

    /// The object that the operation reads or changes.
    pub(super) fn needs(&self) -> Option<ObjectKey> {
        let (kind, id) = match self {
            Self::CreateSession(_) | Self::GrantToken(_) => return None,
            Self::RetrieveSession(id) | Self::ExpireSession(id) => (ObjectKind::CheckoutSession, id),
            Self::CreatePayment(new) => (ObjectKind::GrantedToken, &new.token),
            Self::RetrievePayment(id) | Self::CancelPayment(id) => (ObjectKind::Payment, id),
            Self::RevokeToken(id) | Self::RetrieveToken(id) => (ObjectKind::GrantedToken, id),
            Self::Refund(new) => (ObjectKind::Payment, &new.payment),
            Self::ListRefunds(list) => (ObjectKind::Payment, &list.payment),
        };
        Some(ObjectKey::new(kind, id))
    }

    pub(super) fn run(self, transaction: &mut Transaction<'_>) -> Result<Value, ApiError> {
        match self {
            Self::CreateSession(new) => new.run(transaction),
            Self::RetrieveSession(id) => CheckoutSession::get(transaction, &id).map(|it| it.json()),
            Self::ExpireSession(id) => CheckoutSession::expire(transaction, &id),
            Self::CreatePayment(new) => new.run(transaction),
            Self::RetrievePayment(id) => Payment::get(transaction, &id).map(|it| it.intent_json()),
            Self::CancelPayment(id) => Payment::cancel(transaction, &id),
            Self::GrantToken(new) => new.run(transaction),
            Self::RevokeToken(id) => GrantedToken::revoke(transaction, &id),
            Self::RetrieveToken(id) => GrantedToken::get(transaction, &id).map(|it| it.json()),
            Self::Refund(new) => new.run(transaction),
            Self::ListRefunds(list) => list.run(transaction),
        }
    }
}

/// Keeps tokens out of logs.
impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::CreateSession(_) => "CreateSession",
            Self::RetrieveSession(_) => "RetrieveSession",
            Self::ExpireSession(_) => "ExpireSession",
            Self::CreatePayment(_) => "CreatePayment",
            Self::RetrievePayment(_) => "RetrievePayment",
            Self::CancelPayment(_) => "CancelPayment",
            Self::GrantToken(_) => "GrantToken",
            Self::RevokeToken(_) => "RevokeToken",
            Self::RetrieveToken(_) => "RetrieveToken",
            Self::Refund(_) => "Refund",
            Self::ListRefunds(_) => "ListRefunds",
        };
        f.write_str(name)
    }
}
