//! A call of the sandbox's API: authentication, the idempotency key and the operation. HTTP itself, including the headers
//! `Request-Id` and `Idempotent-Replayed`, is left to the caller.

use std::fmt;

use dropleaf_core::base64;

use super::api_error::ApiError;
use super::idempotency::IdempotencyKey;
use super::operation::{Operation, Route};
use super::parameters::Parameters;
use super::stored::{ObjectKey, ObjectKind};
use super::transaction::Transaction;
use super::webhook_event::WebhookEvent;
use super::{Context, StoredObject};

const KEY_PREFIX: &str = "sk_test_";
const LONGEST_AUTHORIZATION: usize = 1024;

/// An HTTP request to the sandbox.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    pub method: &'a str,
    /// Without the query.
    pub path: &'a str,
    /// The header `Authorization`.
    pub authorization: Option<&'a str>,
    /// The header `Idempotency-Key`; only POST uses it.
    pub idempotency_key: Option<&'a str>,
    /// The body of a POST, or the query of a GET, as a form.
    pub parameters: &'a [u8],
}

/// A request that has been parsed. Load what it [`needs`](Self::needs), then [`run`](Self::run) it.
#[derive(Debug)]
pub struct Call {
    operation: Result<Operation, ApiError>,
    idempotency: Option<IdempotencyKey>,
}

/// The answer to a call, and its effects.
#[derive(Clone, PartialEq, Eq)]
pub struct Handled {
    pub status: u16,
    /// JSON text.
    pub body: String,
    /// Whether an earlier request with the same key got this answer: send `Idempotent-Replayed: true`.
    pub replayed: bool,
    pub writes: Vec<StoredObject>,
    pub events: Vec<WebhookEvent>,
}

impl Call {
    pub fn parse(request: &Request<'_>) -> Self {
        match Self::read(request) {
            Ok(call) => call,
            Err(error) => Self { operation: Err(error), idempotency: None },
        }
    }

    fn read(request: &Request<'_>) -> Result<Self, ApiError> {
        if !request.authorization.is_some_and(is_test_key) {
            return Err(ApiError::unauthorized());
        }
        let route = Route::find(request.method, request.path).ok_or(ApiError::unknown_route())?;
        let parameters = Parameters::parse(request.parameters)?;
        let key = request.idempotency_key.filter(|_| request.method == "POST");
        let key =
            key.map(|key| IdempotencyKey::new(key, parameters.fingerprint(request.method, request.path)));
        Ok(Self { idempotency: key.transpose()?, operation: Operation::read(route, parameters) })
    }

    /// The objects that `run` must be given, as far as they exist.
    pub fn needs(&self) -> Vec<ObjectKey> {
        let answer =
            self.idempotency.as_ref().map(|key| ObjectKey::new(ObjectKind::IdempotentAnswer, &key.id));
        let object = self.operation.as_ref().ok().and_then(Operation::needs);
        answer.into_iter().chain(object).collect()
    }

    pub fn run(self, found: &[StoredObject], context: &Context<'_>) -> Handled {
        let mut transaction = Transaction::new(found, context);
        let earlier = self.idempotency.as_ref().map(|key| key.find_answer(&transaction)).transpose();
        match earlier.map(Option::flatten) {
            Ok(Some(earlier)) => {
                let (status, body) = (earlier.status, earlier.body);
                return Handled { status, body, replayed: true, writes: Vec::new(), events: Vec::new() };
            }
            Ok(None) => {}
            Err(error) => return Handled::failed(&error),
        }
        // Parameters that are refused before the operation begins do not use up the key.
        let operation = match self.operation {
            Ok(operation) => operation,
            Err(error) => return Handled::failed(&error),
        };
        let result = operation.run(&mut transaction);
        Handled::finish(result, transaction, self.idempotency)
    }
}

impl Handled {
    fn failed(error: &ApiError) -> Self {
        let body = error.body().to_string();
        Self { status: error.status, body, replayed: false, writes: Vec::new(), events: Vec::new() }
    }

    pub(super) fn finish(
        result: Result<serde_json::Value, ApiError>,
        mut transaction: Transaction<'_>,
        key: Option<IdempotencyKey>,
    ) -> Self {
        let (status, body) = match result {
            Ok(object) => (200, object.to_string()),
            // A fault of the sandbox has no effects, so that the request can be repeated.
            Err(error) if error.status >= 500 => return Self::failed(&error),
            Err(error) => (error.status, error.body().to_string()),
        };
        if let Some(key) = key
            && let Err(error) = key.keep(&mut transaction, status, &body)
        {
            return Self::failed(&error);
        }
        Self { status, body, replayed: false, writes: transaction.writes, events: transaction.events }
    }
}

/// Whether the header holds a test secret key, as a Bearer token or as the user name of Basic authentication.
fn is_test_key(authorization: &str) -> bool {
    if authorization.len() > LONGEST_AUTHORIZATION {
        return false;
    }
    let Some((scheme, credential)) = authorization.split_once(' ') else { return false };
    let credential = credential.trim();
    let key = if scheme.eq_ignore_ascii_case("bearer") {
        credential.to_owned()
    } else if scheme.eq_ignore_ascii_case("basic") {
        let decoded = base64::decode(credential).and_then(|bytes| String::from_utf8(bytes).ok());
        let Some(decoded) = decoded else { return false };
        decoded.split(':').next().unwrap_or("").to_owned()
    } else {
        return false;
    };
    let name = key.strip_prefix(KEY_PREFIX);
    name.is_some_and(|name| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'))
}

/// Keeps keys and tokens out of logs.
impl fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request").field("method", &self.method).finish_non_exhaustive()
    }
}

/// Keeps tokens out of logs.
impl fmt::Debug for Handled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handled")
            .field("status", &self.status)
            .field("replayed", &self.replayed)
            .field("writes", &self.writes)
            .field("events", &self.events)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_key_is_accepted_as_bearer_or_basic() {
        let basic = |text: &str| format!("Basic {}", base64::encode(text.as_bytes()));
        for header in ["Bearer sk_test_x", "bearer  sk_test_x_1", &basic("sk_test_x:"), &basic("sk_test_x")] {
            assert!(is_test_key(header), "{header}");
        }
        let long = format!("Bearer sk_test_{}", "x".repeat(1024));
        for header in [
            "",
            "sk_test_x",
            "Bearer ",
            "Bearer sk_test_",
            "Bearer sk_live_x",
            "Bearer pk_test_x",
            "Bearer sk_test_x y",
            "Digest sk_test_x",
            "Basic sk_test_x",
            &basic(":sk_test_x"),
            &long,
        ] {
            assert!(!is_test_key(header), "{header}");
        }
    }

    #[test]
    fn keys_and_tokens_are_not_logged() {
        let request = Request {
            method: "GET",
            path: "/v1/shared_payment/granted_tokens/spt_secret",
            authorization: Some("Bearer sk_test_secret"),
            idempotency_key: Some("secret"),
            parameters: b"secret",
        };
        let call = Call::parse(&request);
        let shown = format!("{request:?} {call:?} {:?}", call.needs());
        assert!(!shown.contains("secret"), "{shown}");
    }
}
