//! The two cookies of the dashboard's host. `__Host-` ties them to it, so that no page of ours or of others can set
//! or read them; both are out of reach of scripts.

use crate::http::api::ApiState;
use http::request::Parts;
use http::{HeaderValue, header};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::http) enum Cookie {
    /// Who has signed in. Lax: a link from elsewhere leads into the dashboard, a form does not.
    Session,
    /// A browser that has not signed in; it ties a code and a form to the browser they were made for.
    Visit,
}

impl Cookie {
    const fn word(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Visit => "visit",
        }
    }

    fn name(self, state: &ApiState) -> String {
        let prefix = if is_secure(state) { "__Host-" } else { "" };
        format!("{prefix}{}", self.word())
    }

    /// The value the browser sent, if any.
    pub(in crate::http) fn read(self, parts: &Parts, state: &ApiState) -> Option<String> {
        let name = self.name(state);
        let lines = parts.headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
        lines
            .flat_map(|line| line.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .find_map(|(key, value)| (key == name && is_plain(value)).then(|| value.to_owned()))
    }

    /// The header that keeps it for so many seconds; zero forgets it. The value must be plain: base64url.
    pub(in crate::http) fn set(self, state: &ApiState, value: &str, max_age: i64) -> HeaderValue {
        let secure = if is_secure(state) { "; Secure" } else { "" };
        let text = format!(
            "{}={value}; Path=/; Max-Age={max_age}; HttpOnly; SameSite=Lax{secure}",
            self.name(state)
        );
        HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static(""))
    }
}

fn is_plain(value: &str) -> bool {
    value.len() <= 100 && value.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

/// Browsers take a `Secure` cookie over https and from loopback names.
fn is_secure(state: &ApiState) -> bool {
    let base = &state.resolved.hosts.base;
    base.scheme == "https" || base.is_loopback()
}
