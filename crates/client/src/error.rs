//! Client errors, with messages for the person who made the call.

use crate::multipart::ReadFailure;
use serde_json::Value;
use std::time::Duration;

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    #[error("`{0}` is not the address of a server; it should look like https://pages.example.org")]
    Address(String),
    /// The server could not be reached, or the response was cut off.
    #[error("cannot reach {server}: {why}")]
    Unreachable { server: String, why: String },
    /// The file to send could not be read.
    #[error("{0}")]
    File(String),
    /// The server returned an error response.
    #[error("{description}{}", retry(*retry_after))]
    Refused {
        status: u16,
        code: String,
        description: String,
        retry_after: Option<u64>,
        /// The findings in the content, when those are the reason for the refusal.
        reasons: Vec<Reason>,
        /// The whole JSON body, for programs.
        body: Value,
    },
    /// The response is not one that a dropleaf server would send.
    #[error(
        "{server} returned status {status}, but the response is not from a dropleaf server. Check the address."
    )]
    UnexpectedResponse { server: String, status: u16 },
}

/// A finding in the content that led to the refusal: the server's text without control characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    pub rule: String,
    pub file: String,
    pub line: Option<u64>,
    pub why: String,
    pub fix: String,
}

impl Reason {
    /// The findings of an error response; empty when it lists none.
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
    /// The server's stable error code, if there is one.
    pub fn code(&self) -> Option<&str> {
        match self {
            Self::Refused { code, .. } => Some(code),
            _ => None,
        }
    }

    /// How long to wait at least before trying again, after an error that may pass; `None` for all others.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            // The latter is a proxy in front of a server that is being restarted.
            Self::Unreachable { .. } | Self::UnexpectedResponse { status: 502..=504, .. } => {
                Some(Duration::ZERO)
            }
            Self::Refused { status: 429 | 500..=599, retry_after, .. } => {
                Some(Duration::from_secs(retry_after.unwrap_or_default()))
            }
            _ => None,
        }
    }

    pub fn reasons(&self) -> &[Reason] {
        match self {
            Self::Refused { reasons, .. } => reasons,
            _ => &[],
        }
    }

    /// The error response's JSON body as the server sent it.
    pub const fn body(&self) -> Option<&Value> {
        match self {
            Self::Refused { body, .. } => Some(body),
            _ => None,
        }
    }

    pub const fn status(&self) -> Option<u16> {
        match self {
            Self::Refused { status, .. } | Self::UnexpectedResponse { status, .. } => Some(*status),
            _ => None,
        }
    }

    /// An `Unreachable` error that reports the root cause, for example `Connection refused`.
    pub(crate) fn unreachable(server: &str, error: &reqwest::Error) -> Self {
        let mut cause: &(dyn std::error::Error + 'static) = error;
        while let Some(inner) = cause.source() {
            cause = inner;
        }
        if let Some(failure) = cause.downcast_ref::<ReadFailure>() {
            return Self::File(failure.to_string());
        }
        let why =
            if error.is_timeout() { "it took too long to respond".to_owned() } else { cause.to_string() };
        Self::Unreachable { server: server.to_owned(), why }
    }
}

/// Untrusted text for a message of one line, at most 2000 characters long.
pub(crate) fn visible(text: &str) -> String {
    let short: String = text.chars().take(2000).collect();
    crate::text::visible(&short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_a_server_says_moves_the_cursor() {
        assert_eq!(visible("a\u{1b}[2Jb\r\n"), "a\\u{1b}[2Jb\\r\\n");
    }
}
