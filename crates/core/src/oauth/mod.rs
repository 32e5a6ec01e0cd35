//! The rules of OAuth 2.1 as this service keeps them: who may ask, where answers may go, for what they are good.

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

pub use error::{OAuthCode, OAuthError, Refusal};

use crate::rate::Rate;

/// Programs that one network may register.
pub const REGISTRATIONS: Rate = Rate { name: "oauth_register_day", limit: 20, window_seconds: 86_400 };

/// What one network may ask of the endpoints that trade secrets for tokens and take them back. Far more than programs
/// need, who ask for tokens once an hour and for a device's every five seconds.
pub const TOKEN_REQUESTS: Rate = Rate { name: "oauth_token_minute", limit: 300, window_seconds: 60 };

/// How long a consent page can be answered.
pub const REQUEST_SECONDS: i64 = 900;
/// Consent pages that wait in one session; a further one takes the place of the oldest.
pub const MOST_REQUESTS: i64 = 20;
/// How long a code can be traded in.
pub const CODE_SECONDS: i64 = 60;
pub const ACCESS_SECONDS: i64 = 3600;
/// How long a refresh token waits to be used; each use gives a new one.
pub const REFRESH_SECONDS: i64 = 30 * 86_400;
/// How long after its first use a refresh token may be used again, where lost answers are tolerated.
pub const LOST_SECONDS: i64 = 60;
/// No grant lives longer, however often it is refreshed.
pub const GRANT_SECONDS: i64 = 180 * 86_400;
/// A registered program that nobody has let in is forgotten after this.
pub const UNUSED_SECONDS: i64 = 86_400;
