//! The header field that carries a credential.

/// `Authorization`, unless a challenge names the other field because the route needs `Authorization` for an API key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CredentialField {
    Authorization,
    PaymentAuthorization,
}

impl CredentialField {
    /// The name of the field, in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Authorization => "authorization",
            Self::PaymentAuthorization => "payment-authorization",
        }
    }

    /// The parameter `header` of a challenge; the default field has none.
    pub(super) const fn parameter(self) -> Option<&'static str> {
        match self {
            Self::Authorization => None,
            Self::PaymentAuthorization => Some("Payment-Authorization"),
        }
    }
}
