//! Why a call failed, in words for the person who made it.

use crate::client::visible;
use serde_json::Value;

/// A call that gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    #[error("`{0}` is not the address of a server; it should look like https://pages.example.org")]
    Address(String),
    /// Nobody answered, or not to the end.
    #[error("cannot reach {server}: {why}")]
    Unreachable { server: String, why: String },
    /// The server said no.
    #[error("{description}{}", retry(*retry_after))]
    Refused {
        status: u16,
        code: String,
        description: String,
        retry_after: Option<u64>,
        /// What was found in the content, when that is why.
        reasons: Vec<Reason>,
        /// All that it said, for programs.
        body: Value,
    },
    /// Whatever answered does not speak as a dropleaf server does.
    #[error("{server} returned status {status}, but not like a dropleaf server. Check the address.")]
    Strange { server: String, status: u16 },
}

/// Something in the content that speaks against it, in the server's words without what could move a cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    pub rule: String,
    pub file: String,
    pub line: Option<u64>,
    pub why: String,
    pub fix: String,
}

impl Reason {
    /// The reasons of a refusal; none when it gives none.
    pub(crate) fn list(json: &Value) -> Vec<Self> {
        let text = |of: &Value, name: &str| of[name].as_str().map(visible).unwrap_or_default();
        let reasons = json["reasons"].as_array().into_iter().flatten().take(100);
        reasons
            .map(|of| Self {
                rule: text(of, "rule"),
                file: text(of, "file"),
                line: of["line"].as_u64(),
                why: text(of, "why"),
                fix: text(of, "fix"),
            })
            .collect()
    }
}

fn retry(after: Option<u64>) -> String {
    after.map_or_else(String::new, |seconds| format!(" (try again in {seconds} s)"))
}

impl ClientError {
    /// The server's stable code, if it gave one.
    pub fn code(&self) -> Option<&str> {
        match self {
            Self::Refused { code, .. } => Some(code),
            _ => None,
        }
    }

    pub fn reasons(&self) -> &[Reason] {
        match self {
            Self::Refused { reasons, .. } => reasons,
            _ => &[],
        }
    }

    /// The answer as the server gave it.
    pub const fn body(&self) -> Option<&Value> {
        match self {
            Self::Refused { body, .. } => Some(body),
            _ => None,
        }
    }

    pub const fn status(&self) -> Option<u16> {
        match self {
            Self::Refused { status, .. } | Self::Strange { status, .. } => Some(*status),
            _ => None,
        }
    }

    /// What went wrong on the way, down to the last cause: that one says `Connection refused`.
    pub(crate) fn on_the_way(server: &str, error: &reqwest::Error) -> Self {
        let mut cause: &dyn std::error::Error = error;
        while let Some(inner) = cause.source() {
            cause = inner;
        }
        let why =
            if error.is_timeout() { "it took too long to respond".to_owned() } else { cause.to_string() };
        Self::Unreachable { server: server.to_owned(), why }
    }
}
