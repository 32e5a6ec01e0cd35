//! The two cookies of the dashboard's host.

use crate::http::cookie;
use crate::http::state::ApiState;
use http::HeaderValue;
use http::request::Parts;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::http) enum Cookie {
    /// The session. Lax: links from other sites open the dashboard signed in, forms do not.
    Session,
    /// A browser that is not signed in; binds a code and a form to the browser they were created for.
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
        let mut sent =
            cookie::read(&parts.headers, state.resolved.hosts.base.takes_secure_cookies(), self.word());
        sent.find(|value| is_plain(value)).map(str::to_owned)
    }

    /// The `Set-Cookie` value with a lifetime in seconds; zero deletes the cookie. The value must be base64url.
    pub(in crate::http) fn set(self, state: &ApiState, value: &str, max_age: i64) -> HeaderValue {
        let set = cookie::set(state.resolved.hosts.base.takes_secure_cookies(), self.word(), value, max_age);
        set.unwrap_or(HeaderValue::from_static(""))
    }
}

fn is_plain(value: &str) -> bool {
    value.len() <= 100 && value.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}
