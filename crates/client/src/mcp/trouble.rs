//! The errors of an exchange, with messages that say what to do about them.

use serde_json::{Value, json};

/// JSON-RPC's error codes. Our own are the HTTP status of the server's response, or `AWAY` (503) when there was none.
const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const AWAY: i64 = 503;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Trouble {
    /// The server is unreachable. A message that was not sent (`sent: false`) may be sent again.
    Away { why: String, sent: bool },
    /// The response stream ended before the response.
    Cut,
    /// The server does not know the session, or no longer does.
    Lost,
    /// The server refused the request.
    Refused(Refusal),
    /// A JSON-RPC error in a response whose HTTP status is not a success.
    Told(Value),
    /// The response does not come from an MCP endpoint.
    Strange { status: u16 },
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

impl Trouble {
    /// Whether the error is temporary, so that the message may succeed later; it may already have been processed.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            Self::Away { .. } | Self::Cut => true,
            Self::Refused(refusal) => matches!(refusal.status, 502..=504),
            Self::Strange { status } => matches!(status, 502..=504),
            _ => false,
        }
    }

    /// Whether the message certainly had no effect.
    pub(super) fn did_nothing(&self) -> bool {
        match self {
            Self::Away { sent, .. } => !sent,
            // 503 is our server's "not now", except where it does not know itself whether the change was made; a proxy's
            // 502 or 504 may come after the call was processed.
            Self::Refused(refusal) => refusal.status == 503 && !UNCERTAIN.contains(&refusal.code.as_str()),
            _ => false,
        }
    }

    /// What happened and what to do, for the user of the client.
    pub(super) fn sentence(&self, server: &str) -> String {
        match self {
            Self::Away { why, .. } => format!(
                "cannot reach {server}: {why}. Check that the server is running and the address is correct, then try again."
            ),
            Self::Cut => format!(
                "The connection to {server} was lost before the response arrived, so the call may or may not have been carried \
                 out. Check first (for example with list_sites), then call again if needed."
            ),
            Self::Lost => {
                format!(
                    "{server} does not know this session and did not accept a new one. Restart the client."
                )
            }
            Self::Refused(refusal) => refusal.sentence(server),
            Self::Told(error) => error
                .get("message")
                .and_then(Value::as_str)
                .unwrap_or("The server refused the request.")
                .to_owned(),
            Self::Strange { status } => {
                format!(
                    "{server} returned status {status}, but not like a dropleaf server. Check the address."
                )
            }
            Self::TooLong => "The response of the server is too long to forward.".to_owned(),
            Self::Busy => "Too many requests are in progress. Wait for some to finish.".to_owned(),
        }
    }

    /// The JSON-RPC error response to the request that failed.
    pub(super) fn answer(&self, id: &Value, server: &str) -> Vec<u8> {
        let error = match self {
            Self::Told(error) => error.clone(),
            Self::Refused(refusal) => json!({"code": refusal.status, "message": self.sentence(server),
                "data": {"status": refusal.status, "error": refusal.code}}),
            Self::Strange { status } => json!({"code": status, "message": self.sentence(server)}),
            Self::Lost => json!({"code": 404, "message": self.sentence(server)}),
            Self::Busy => json!({"code": 429, "message": self.sentence(server)}),
            Self::TooLong => json!({"code": 413, "message": self.sentence(server)}),
            Self::Away { .. } | Self::Cut => json!({"code": AWAY, "message": self.sentence(server)}),
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

    fn refused(status: u16, scope: Option<&str>) -> Trouble {
        Trouble::Refused(Refusal {
            status,
            code: "code".into(),
            description: "Said so.".into(),
            scope: scope.map(str::to_owned),
            retry_after: (status == 429).then_some(9),
        })
    }

    #[test]
    fn every_trouble_says_what_to_do() {
        let server = "https://pages.example.org";
        for (trouble, words) in [
            (refused(401, None), "dropleaf login https://pages.example.org` or set DROPLEAF_API_KEY"),
            (refused(403, Some("sites:write")), "lacks the scope sites:write"),
            (refused(403, None), "Said so."),
            (refused(429, None), "Said so. Try again in 9 s."),
            (Trouble::Away { why: "refused".into(), sent: false }, "Check that the server is running"),
            (Trouble::Cut, "call again if needed"),
        ] {
            let answer: Value = serde_json::from_slice(&trouble.answer(&json!("x"), server)).unwrap();
            let message = answer["error"]["message"].as_str().unwrap();
            assert!(message.contains(words), "{message}");
            assert_eq!((&answer["id"], &answer["jsonrpc"]), (&json!("x"), &json!("2.0")));
        }
    }

    #[test]
    fn only_what_did_nothing_is_sent_again_without_asking() {
        let away = |sent| Trouble::Away { why: String::new(), sent };
        assert!(away(false).did_nothing() && !away(true).did_nothing());
        assert!(refused(503, None).did_nothing() && !refused(502, None).did_nothing());
        for code in UNCERTAIN {
            let refusal = Refusal { status: 503, code: code.into(), ..Refusal::default() };
            let trouble = Trouble::Refused(refusal);
            assert!(!trouble.did_nothing() && trouble.may_pass(), "{code}");
        }
        assert!(!Trouble::Cut.did_nothing() && Trouble::Cut.may_pass());
        assert!(!refused(500, None).may_pass() && !refused(401, None).may_pass());
    }
}
