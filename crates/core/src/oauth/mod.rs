//! The OAuth 2.1 rules of this service: clients, redirect URIs, scopes and resources, and all lifetimes and rate limits.

pub mod client;
pub mod document;
mod error;
pub mod grant;
pub mod params;
pub mod pkce;
pub mod redirect;
pub mod request;
pub mod resource;
pub mod token;

pub use error::{OAuthCode, OAuthError, OAuthFailure};

use crate::rate::Rate;

/// How many clients one network may register.
pub const REGISTRATIONS: Rate = Rate { name: "oauth_register_day", limit: 20, window_seconds: 86_400 };

/// How many requests one network may send to the token and revocation endpoints. Far more than clients need: they request tokens
/// once an hour, and poll a device login every five seconds.
pub const TOKEN_REQUESTS: Rate = Rate { name: "oauth_token_minute", limit: 300, window_seconds: 60 };

/// How long a consent page can be answered.
pub const REQUEST_SECONDS: i64 = 900;
/// The maximum number of open consent pages per session; a further one replaces the oldest.
pub const MOST_REQUESTS: i64 = 20;
/// How long an authorization code is valid.
pub const CODE_SECONDS: i64 = 60;
pub const ACCESS_SECONDS: i64 = 3600;
/// How long an unused refresh token is valid; each use yields a new one.
pub const REFRESH_SECONDS: i64 = 30 * 86_400;
/// How long after its first use a refresh token may be used again, where lost responses are tolerated.
pub const LOST_SECONDS: i64 = 60;
/// The maximum lifetime of a grant, however often it is refreshed.
pub const GRANT_SECONDS: i64 = 180 * 86_400;
/// A registered client without any grant is deleted after this time.
pub const UNUSED_SECONDS: i64 = 86_400;
