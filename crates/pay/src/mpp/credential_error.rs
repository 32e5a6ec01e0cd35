//! Why a credential was refused: a stable reason, a sentence that is safe to show to anyone, and the problem type that clients
//! understand. Nothing the payer sent is repeated in it.

use std::fmt;

use super::problem::Problem;
use crate::refusal::Refusal;

/// Why a credential was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CredentialError {
    // The header field.
    TwoCredentials,
    TooLarge,
    WrongScheme,
    NotBase64Url,
    InvalidJson,
    InvalidMember,
    // The challenge.
    UnsupportedMethod,
    UnknownChallenge,
    WrongField,
    // The payload.
    UnsupportedType,
    NonceMismatch,
    ExpiryMismatch,
    SourceMismatch,
    NotSignedByPayer,
    // The request, and the terms of today.
    OtherRoute,
    OtherBody,
    PriceIncreased,
    TermsChanged,
    /// A check that is the same in x402.
    Refused(Refusal),
}

impl CredentialError {
    /// Every error except those that x402 has too.
    pub const OWN: [Self; 18] = [
        Self::TwoCredentials,
        Self::TooLarge,
        Self::WrongScheme,
        Self::NotBase64Url,
        Self::InvalidJson,
        Self::InvalidMember,
        Self::UnsupportedMethod,
        Self::UnknownChallenge,
        Self::WrongField,
        Self::UnsupportedType,
        Self::NonceMismatch,
        Self::ExpiryMismatch,
        Self::SourceMismatch,
        Self::NotSignedByPayer,
        Self::OtherRoute,
        Self::OtherBody,
        Self::PriceIncreased,
        Self::TermsChanged,
    ];

    /// The stable reason string.
    pub const fn reason(self) -> &'static str {
        self.words().0
    }

    /// The message for the payer: what is wrong and what to do.
    pub const fn sentence(self) -> &'static str {
        self.words().1
    }

    pub const fn problem(self) -> Problem {
        match self {
            Self::TwoCredentials => Problem::BadRequest,
            Self::TooLarge
            | Self::WrongScheme
            | Self::NotBase64Url
            | Self::InvalidJson
            | Self::InvalidMember => Problem::MalformedCredential,
            Self::UnsupportedMethod => Problem::MethodUnsupported,
            Self::UnknownChallenge | Self::WrongField | Self::OtherRoute | Self::TermsChanged => {
                Problem::InvalidChallenge
            }
            Self::UnsupportedType => Problem::InvalidPayload,
            Self::NonceMismatch
            | Self::ExpiryMismatch
            | Self::SourceMismatch
            | Self::NotSignedByPayer
            | Self::OtherBody => Problem::VerificationFailed,
            Self::PriceIncreased => Problem::PaymentInsufficient,
            Self::Refused(refusal) => Problem::of_refusal(refusal),
        }
    }

    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::TwoCredentials => ("two_credentials", "Send one payment credential in one header field."),
            Self::TooLarge => ("credential_too_large", "The payment credential is longer than 16384 bytes."),
            Self::WrongScheme => {
                ("wrong_scheme", "Send the word Payment, a space and the credential in base64url.")
            }
            Self::NotBase64Url => {
                ("not_base64url", "The payment credential is not base64url without padding.")
            }
            Self::InvalidJson => (
                "invalid_json",
                "The payment credential does not decode to a JSON object of at most 16 levels without duplicate members.",
            ),
            Self::InvalidMember => (
                "invalid_member",
                "The payment credential must contain the challenge as it was sent, with strings only, and a payload.",
            ),
            Self::UnsupportedMethod => {
                ("unsupported_method", "Only the payment method `evm` with the intent `charge` is accepted.")
            }
            Self::UnknownChallenge => (
                "unknown_challenge",
                "The challenge was not issued here, or was changed. Answer the challenge of this response.",
            ),
            Self::WrongField => (
                "wrong_field",
                "The credential was sent in another header field than its challenge selected.",
            ),
            Self::UnsupportedType => {
                ("unsupported_type", "Only credentials of the type `authorization` are accepted.")
            }
            Self::NonceMismatch => (
                "nonce_mismatch",
                "The nonce of the authorization is not a hash of the challenge's id and realm.",
            ),
            Self::ExpiryMismatch => (
                "expiry_mismatch",
                "The validBefore of the authorization is not the moment at which the challenge expires.",
            ),
            Self::SourceMismatch => (
                "source_mismatch",
                "The source of the credential is not the DID (did:pkh) of the payer on this chain.",
            ),
            Self::NotSignedByPayer => (
                "not_signed_by_payer",
                "The authorization is not signed by the payer's own key. Contract wallets can pay with x402.",
            ),
            Self::OtherRoute => ("other_route", "The challenge was issued for another endpoint."),
            Self::OtherBody => (
                "other_body",
                "The challenge was issued for another request body. Send the same body with the credential.",
            ),
            Self::PriceIncreased => (
                "price_increased",
                "The price has increased since the challenge was issued. Answer the challenge of this response.",
            ),
            Self::TermsChanged => (
                "terms_changed",
                "The terms have changed since the challenge was issued. Answer the challenge of this response.",
            ),
            Self::Refused(refusal) => (refusal.reason(), refusal.sentence()),
        }
    }
}

impl From<Refusal> for CredentialError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl fmt::Display for CredentialError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.sentence())
    }
}

impl std::error::Error for CredentialError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_distinct_snake_case_and_sentences_end() {
        let own = CredentialError::OWN.into_iter();
        let all: Vec<_> = own.chain(Refusal::ALL.map(CredentialError::Refused)).collect();
        let reasons: std::collections::HashSet<_> = all.iter().map(|error| error.reason()).collect();
        assert_eq!(reasons.len(), all.len());
        for error in CredentialError::OWN {
            assert!(
                error.reason().bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
            );
            assert!(error.to_string().ends_with('.'), "{error}");
        }
    }
}
