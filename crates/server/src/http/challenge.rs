//! Builds the `WWW-Authenticate` challenge of a refused request (RFC 6750, RFC 9728).

use dropleaf_core::scope::Scopes;
use dropleaf_core::{Code, Error, error::Fact};
use http::{HeaderMap, HeaderValue, header};

/// Why a credential was refused, passed to the middleware, which knows our address.
#[derive(Debug, Clone)]
pub(in crate::http) enum Challenge {
    /// None was sent.
    Missing,
    Invalid,
    /// It is valid, but lacks the scope.
    Insufficient {
        scope: String,
        detail: String,
    },
}

impl Challenge {
    pub(in crate::http) fn of(error: &Error) -> Option<Self> {
        match error.code {
            Code::AuthRequired => Some(Self::Missing),
            Code::InvalidCredential => Some(Self::Invalid),
            Code::InsufficientScope => {
                let scope = error.facts.iter().find_map(|(name, fact)| match fact {
                    Fact::Text(text) if *name == "scope" => Some(text.clone()),
                    _ => None,
                });
                Some(Self::Insufficient { scope: scope.unwrap_or_default(), detail: error.detail.clone() })
            }
            _ => None,
        }
    }

    /// The header value; `metadata` is the URL of the protected resource metadata document.
    pub(in crate::http) fn value(&self, metadata: &str) -> String {
        let all = Scopes::ALL;
        match self {
            Self::Missing => format!("Bearer resource_metadata=\"{metadata}\", scope=\"{all}\""),
            Self::Invalid => {
                format!("Bearer error=\"invalid_token\", resource_metadata=\"{metadata}\", scope=\"{all}\"")
            }
            Self::Insufficient { scope, detail } => format!(
                "Bearer error=\"insufficient_scope\", scope=\"{scope}\", resource_metadata=\"{metadata}\", \
                 error_description=\"{detail}\""
            ),
        }
    }
}

/// Sets the header on an API response.
pub(in crate::http) fn write(headers: &mut HeaderMap, challenge: &Challenge, base_url: &str) {
    let metadata = format!("{base_url}/.well-known/oauth-protected-resource");
    if let Ok(value) = HeaderValue::from_str(&challenge.value(&metadata)) {
        headers.insert(header::WWW_AUTHENTICATE, value);
    }
}
