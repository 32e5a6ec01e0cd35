//! The errors of OAuth endpoints, with the codes of the RFCs.

use crate::Error;

macro_rules! codes {
    ($($variant:ident = $text:literal;)*) => {
        /// An error code as defined by RFC 6749, 7009, 7591, 8628, 8707 or `OpenID` Connect.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum OAuthCode { $($variant,)* }

        impl OAuthCode {
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }
    };
}

codes! {
    InvalidRequest = "invalid_request";
    InvalidClient = "invalid_client";
    InvalidGrant = "invalid_grant";
    UnauthorizedClient = "unauthorized_client";
    UnsupportedGrantType = "unsupported_grant_type";
    UnsupportedResponseType = "unsupported_response_type";
    InvalidScope = "invalid_scope";
    InvalidTarget = "invalid_target";
    InvalidRedirectUri = "invalid_redirect_uri";
    InvalidClientMetadata = "invalid_client_metadata";
    AccessDenied = "access_denied";
    LoginRequired = "login_required";
    ServerError = "server_error";
    AuthorizationPending = "authorization_pending";
    SlowDown = "slow_down";
    ExpiredToken = "expired_token";
}

/// An error with a description for the developer of the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OAuthError {
    pub code: OAuthCode,
    /// ASCII without quotes or backslashes, as RFC 6749 §5.2 requires.
    pub detail: String,
}

impl OAuthError {
    pub fn new(code: OAuthCode, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into() }
    }
}

/// Why an OAuth endpoint failed: an OAuth error in the request, or any other error.
#[derive(Debug)]
pub enum OAuthFailure {
    OAuth(OAuthError),
    Failed(Error),
}

impl OAuthFailure {
    pub fn new(code: OAuthCode, detail: impl Into<String>) -> Self {
        Self::OAuth(OAuthError::new(code, detail))
    }
}

impl From<OAuthError> for OAuthFailure {
    fn from(error: OAuthError) -> Self {
        Self::OAuth(error)
    }
}

impl<E: Into<Error>> From<E> for OAuthFailure {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

#[cfg(test)]
mod tests {
    use super::OAuthCode;
    use std::collections::HashSet;

    #[test]
    fn names_are_unique_words() {
        let names: HashSet<_> = OAuthCode::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(names.len(), OAuthCode::ALL.len());
        assert!(names.iter().all(|name| name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')));
    }
}
