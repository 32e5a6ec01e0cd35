//! The two cookies of the dashboard's host.

use crate::http::api::ApiState;
use crate::http::cookie;
use http::HeaderValue;
use http::request::Parts;

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

    /// The value the browser sent, if any.
    pub(in crate::http) fn read(self, parts: &Parts, state: &ApiState) -> Option<String> {
        let mut sent = cookie::read(&parts.headers, &state.resolved.hosts.base, self.word());
        sent.find(|value| is_plain(value)).map(str::to_owned)
    }

    /// The header that keeps it for so many seconds; zero forgets it. The value must be plain: base64url.
    pub(in crate::http) fn set(self, state: &ApiState, value: &str, max_age: i64) -> HeaderValue {
        let set = cookie::set(&state.resolved.hosts.base, self.word(), value, max_age);
        set.unwrap_or(HeaderValue::from_static(""))
    }
}

fn is_plain(value: &str) -> bool {
    value.len() <= 100 && value.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}
