//! The errors of an exchange, with messages that say what to do about them.

use serde_json::{Value, json};

/// JSON-RPC's error codes. Our own are the HTTP status of the server's response, or `UNREACHABLE` (503) when there was none.
const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const UNREACHABLE: i64 = 503;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ExchangeFailure {
    /// The server is unreachable. A message that was not sent (`sent: false`) may be sent again.
    Unreachable { why: String, sent: bool },
    /// The response stream ended before the response.
    Interrupted,
    /// The server does not know the session, or no longer does.
    SessionLost,
    /// The server refused the request.
    Refused(Refusal),
    /// A JSON-RPC error in a response whose HTTP status is not a success.
    JsonRpc(Value),
    /// The response does not come from an MCP endpoint.
    NotMcp { status: u16 },
    /// The response exceeds the maximum message length.
    TooLong,
    /// The limit of requests in flight is reached.
    Busy,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Refusal {
    pub status: u16,
    pub code: String,
    pub description: String,
    /// The missing scope, from the `WWW-Authenticate` challenge.
    pub scope: Option<String>,
    pub retry_after: Option<u64>,
}

/// Error codes of the server after which a change may have been made.
const UNCERTAIN: [&str; 2] = ["timed_out", "storage_unavailable"];

impl ExchangeFailure {
    /// Whether the error is temporary, so that the message may succeed later; it may already have been processed.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::Interrupted => true,
            Self::Refused(refusal) => matches!(refusal.status, 502..=504),
            Self::NotMcp { status } => matches!(status, 502..=504),
            _ => false,
        }
    }

    /// Whether the message certainly had no effect.
    pub(super) fn did_nothing(&self) -> bool {
        match self {
            Self::Unreachable { sent, .. } => !sent,
            // 503 is our server's "not now", except where it does not know itself whether the change was made; a proxy's
            // 502 or 504 may come after the call was processed.
            Self::Refused(refusal) => refusal.status == 503 && !UNCERTAIN.contains(&refusal.code.as_str()),
            _ => false,
        }
    }

    /// What happened and what to do, for the user of the client.
    pub(super) fn sentence(&self, server: &str) -> String {
        match self {
            Self::Unreachable { why, .. } => format!(
                "cannot reach {server}: {why}. Check that the server is running and the address is correct, then try again."
            ),
            Self::Interrupted => format!(
                "The connection to {server} was lost before the response arrived, so the call may or may not have been carried \
                 out. Check first (for example with list_sites), then call again if needed."
            ),
            Self::SessionLost => {
                format!(
                    "{server} does not know this session and did not accept a new one. Restart the client."
                )
            }
            Self::Refused(refusal) => refusal.sentence(server),
            Self::JsonRpc(error) => error
                .get("message")
                .and_then(Value::as_str)
                .unwrap_or("The server refused the request.")
                .to_owned(),
            Self::NotMcp { status } => {
                format!(
                    "{server} returned status {status}, but the response is not from a dropleaf server. Check the address."
                )
            }
            Self::TooLong => "The response of the server is too long to forward.".to_owned(),
            Self::Busy => "Too many requests are in progress. Wait for some to finish.".to_owned(),
        }
    }

    /// The JSON-RPC error response to the request that failed.
    pub(super) fn answer(&self, id: &Value, server: &str) -> Vec<u8> {
        let error = match self {
            Self::JsonRpc(error) => error.clone(),
            Self::Refused(refusal) => json!({"code": refusal.status, "message": self.sentence(server),
                "data": {"status": refusal.status, "error": refusal.code}}),
            Self::NotMcp { status } => json!({"code": status, "message": self.sentence(server)}),
            Self::SessionLost => json!({"code": 404, "message": self.sentence(server)}),
            Self::Busy => json!({"code": 429, "message": self.sentence(server)}),
            Self::TooLong => json!({"code": 413, "message": self.sentence(server)}),
            Self::Unreachable { .. } | Self::Interrupted => {
                json!({"code": UNREACHABLE, "message": self.sentence(server)})
            }
        };
        written(id, &error)
    }
}

impl Refusal {
    fn sentence(&self, server: &str) -> String {
        let said = self.description.trim_end_matches('.');
        let again =
            self.retry_after.map_or_else(String::new, |seconds| format!(" Try again in {seconds} s."));
        match (self.status, &self.scope) {
            (401, _) => {
                format!(
                    "{server} requires authentication: {said}. Run `dropleaf login {server}` or set DROPLEAF_API_KEY and \
                     DROPLEAF_URL."
                )
            }
            (403, Some(scope)) => format!(
                "The key for {server} does not allow this: it lacks the scope {scope}. Run `dropleaf login {server}`, or \
                 set DROPLEAF_API_KEY to a key that has it."
            ),
            _ => format!("{said}.{again}"),
        }
    }
}

/// The error for a line that is not JSON.
pub(super) fn not_json(why: &str) -> Vec<u8> {
    written(&Value::Null, &json!({"code": PARSE_ERROR, "message": format!("The line is not JSON: {why}")}))
}

/// The error for a line that is JSON but not a message.
pub(super) fn no_message(why: &str) -> Vec<u8> {
    written(&Value::Null, &json!({"code": INVALID_REQUEST, "message": why}))
}

fn written(id: &Value, error: &Value) -> Vec<u8> {
    json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(status: u16, scope: Option<&str>) -> ExchangeFailure {
        ExchangeFailure::Refused(Refusal {
            status,
            code: "code".into(),
            description: "Said so.".into(),
            scope: scope.map(str::to_owned),
            retry_after: (status == 429).then_some(9),
        })
    }

    #[test]
    fn every_failure_says_what_to_do() {
        let server = "https://pages.example.org";
        for (failure, words) in [
            (refused(401, None), "dropleaf login https://pages.example.org` or set DROPLEAF_API_KEY"),
            (refused(403, Some("sites:write")), "lacks the scope sites:write"),
            (refused(403, None), "Said so."),
            (refused(429, None), "Said so. Try again in 9 s."),
            (
                ExchangeFailure::Unreachable { why: "refused".into(), sent: false },
                "Check that the server is running",
            ),
            (ExchangeFailure::Interrupted, "call again if needed"),
        ] {
            let answer: Value = serde_json::from_slice(&failure.answer(&json!("x"), server)).unwrap();
            let message = answer["error"]["message"].as_str().unwrap();
            assert!(message.contains(words), "{message}");
            assert_eq!((&answer["id"], &answer["jsonrpc"]), (&json!("x"), &json!("2.0")));
        }
    }

    #[test]
    fn only_what_did_nothing_is_sent_again_without_asking() {
        let away = |sent| ExchangeFailure::Unreachable { why: String::new(), sent };
        assert!(away(false).did_nothing() && !away(true).did_nothing());
        assert!(refused(503, None).did_nothing() && !refused(502, None).did_nothing());
        for code in UNCERTAIN {
            let refusal = Refusal { status: 503, code: code.into(), ..Refusal::default() };
            let failure = ExchangeFailure::Refused(refusal);
            assert!(!failure.did_nothing() && failure.may_pass(), "{code}");
        }
        assert!(!ExchangeFailure::Interrupted.did_nothing() && ExchangeFailure::Interrupted.may_pass());
        assert!(!refused(500, None).may_pass() && !refused(401, None).may_pass());
    }
}
