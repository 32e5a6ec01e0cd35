//! What a refused request is told about getting in: the words of RFC 6750 and 9728 that clients look for.

use dropleaf_core::scope::Scopes;
use dropleaf_core::{Code, Error, error::Fact};
use http::{HeaderMap, HeaderValue, header};

/// Why a credential was refused, on its way to the frame, which knows our address.
#[derive(Debug, Clone)]
pub(in crate::http) enum Challenge {
    /// None was sent.
    Missing,
    Invalid,
    /// It is good, but not for this.
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

    /// The value of the header; `metadata` is the address of the document about what was asked for.
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

/// Writes it onto an answer of the API.
pub(in crate::http) fn write(headers: &mut HeaderMap, challenge: &Challenge, base_url: &str) {
    let metadata = format!("{base_url}/.well-known/oauth-protected-resource");
    if let Ok(value) = HeaderValue::from_str(&challenge.value(&metadata)) {
        headers.insert(header::WWW_AUTHENTICATE, value);
    }
}
