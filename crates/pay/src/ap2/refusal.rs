//! Why a mandate was refused: a stable reason and a sentence that is safe to show to anyone.
//! Nothing that was sent is repeated in it.

use std::fmt;

/// Why a mandate was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MandateRefusal {
    // The form.
    NotAMandate,
    TooLarge,
    TooDeep,
    TooManyHops,
    TooManyDisclosures,
    DuplicateMember,
    MalformedToken,
    MalformedDisclosure,
    RepeatedDisclosure,
    UnreferencedDisclosure,
    UnsupportedDigest,
    MalformedMember,
    MandateCount,
    // The signatures.
    WrongAlgorithm,
    UnsupportedHeader,
    UnknownIssuer,
    InvalidSignature,
    KeyMissing,
    InvalidKey,
    UnexpectedKey,
    UnboundHop,
    HopMismatch,
    WrongHopType,
    WrongMandateType,
    HiddenClaims,
    ContentsMismatch,
    // The occasion.
    NotYetValid,
    Expired,
    TimesMissing,
    AudienceMismatch,
    NonceMismatch,
    // The payment.
    TransactionMismatch,
    TransactionExpired,
    PayeeMismatch,
    CurrencyMismatch,
    AmountMismatch,
    UnsupportedInstrument,
    InvalidInstrument,
    // The user's limits.
    FixedPropertyMismatch,
    TooManyConstraints,
    MalformedConstraint,
    UnknownConstraint,
    HistoryRequired,
    CheckoutRequired,
    CheckoutMismatch,
    AmountNotAllowed,
    PayeeNotAllowed,
    InstrumentNotAllowed,
    DateNotAllowed,
}

impl MandateRefusal {
    pub const ALL: [Self; 49] = [
        Self::NotAMandate,
        Self::TooLarge,
        Self::TooDeep,
        Self::TooManyHops,
        Self::TooManyDisclosures,
        Self::DuplicateMember,
        Self::MalformedToken,
        Self::MalformedDisclosure,
        Self::RepeatedDisclosure,
        Self::UnreferencedDisclosure,
        Self::UnsupportedDigest,
        Self::MalformedMember,
        Self::MandateCount,
        Self::WrongAlgorithm,
        Self::UnsupportedHeader,
        Self::UnknownIssuer,
        Self::InvalidSignature,
        Self::KeyMissing,
        Self::InvalidKey,
        Self::UnexpectedKey,
        Self::UnboundHop,
        Self::HopMismatch,
        Self::WrongHopType,
        Self::WrongMandateType,
        Self::HiddenClaims,
        Self::ContentsMismatch,
        Self::NotYetValid,
        Self::Expired,
        Self::TimesMissing,
        Self::AudienceMismatch,
        Self::NonceMismatch,
        Self::TransactionMismatch,
        Self::TransactionExpired,
        Self::PayeeMismatch,
        Self::CurrencyMismatch,
        Self::AmountMismatch,
        Self::UnsupportedInstrument,
        Self::InvalidInstrument,
        Self::FixedPropertyMismatch,
        Self::TooManyConstraints,
        Self::MalformedConstraint,
        Self::UnknownConstraint,
        Self::HistoryRequired,
        Self::CheckoutRequired,
        Self::CheckoutMismatch,
        Self::AmountNotAllowed,
        Self::PayeeNotAllowed,
        Self::InstrumentNotAllowed,
        Self::DateNotAllowed,
    ];

    /// The stable reason string.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::NotAMandate => "not_a_mandate",
            Self::TooLarge => "too_large",
            Self::TooDeep => "too_deep",
            Self::TooManyHops => "too_many_hops",
            Self::TooManyDisclosures => "too_many_disclosures",
            Self::DuplicateMember => "duplicate_member",
            Self::MalformedToken => "malformed_token",
            Self::MalformedDisclosure => "malformed_disclosure",
            Self::RepeatedDisclosure => "repeated_disclosure",
            Self::UnreferencedDisclosure => "unreferenced_disclosure",
            Self::UnsupportedDigest => "unsupported_digest",
            Self::MalformedMember => "malformed_member",
            Self::MandateCount => "mandate_count",
            Self::WrongAlgorithm => "wrong_algorithm",
            Self::UnsupportedHeader => "unsupported_header",
            Self::UnknownIssuer => "unknown_issuer",
            Self::InvalidSignature => "invalid_signature",
            Self::KeyMissing => "key_missing",
            Self::InvalidKey => "invalid_key",
            Self::UnexpectedKey => "unexpected_key",
            Self::UnboundHop => "unbound_hop",
            Self::HopMismatch => "hop_mismatch",
            Self::WrongHopType => "wrong_hop_type",
            Self::WrongMandateType => "wrong_mandate_type",
            Self::HiddenClaims => "hidden_claims",
            Self::ContentsMismatch => "contents_mismatch",
            Self::NotYetValid => "not_yet_valid",
            Self::Expired => "expired",
            Self::TimesMissing => "times_missing",
            Self::AudienceMismatch => "audience_mismatch",
            Self::NonceMismatch => "nonce_mismatch",
            Self::TransactionMismatch => "transaction_mismatch",
            Self::TransactionExpired => "transaction_expired",
            Self::PayeeMismatch => "payee_mismatch",
            Self::CurrencyMismatch => "currency_mismatch",
            Self::AmountMismatch => "amount_mismatch",
            Self::UnsupportedInstrument => "unsupported_instrument",
            Self::InvalidInstrument => "invalid_instrument",
            Self::FixedPropertyMismatch => "fixed_property_mismatch",
            Self::TooManyConstraints => "too_many_constraints",
            Self::MalformedConstraint => "malformed_constraint",
            Self::UnknownConstraint => "unknown_constraint",
            Self::HistoryRequired => "history_required",
            Self::CheckoutRequired => "checkout_required",
            Self::CheckoutMismatch => "checkout_mismatch",
            Self::AmountNotAllowed => "amount_not_allowed",
            Self::PayeeNotAllowed => "payee_not_allowed",
            Self::InstrumentNotAllowed => "instrument_not_allowed",
            Self::DateNotAllowed => "date_not_allowed",
        }
    }

    /// The message for the payer: what is wrong and what to do.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::NotAMandate => {
                "Send payment_mandate with a chain of SD-JWTs (v0.2), or payment_mandate_contents with user_authorization (v0.1)."
            }
            Self::TooLarge => "The mandate is larger than 65536 bytes.",
            Self::TooDeep => "The mandate is nested deeper than 16 levels.",
            Self::TooManyHops => "The mandate chain has more than 5 tokens.",
            Self::TooManyDisclosures => "The mandate chain has more than 128 disclosures.",
            Self::DuplicateMember => "The mandate contains a duplicate member.",
            Self::MalformedToken => {
                "A token is not three base64url parts with JSON objects, or the chain does not end with a tilde."
            }
            Self::MalformedDisclosure => "A disclosure or a digest does not have the form of RFC 9901.",
            Self::RepeatedDisclosure => "A disclosure or a digest occurs more than once in a token.",
            Self::UnreferencedDisclosure => "A disclosure belongs to no digest of its token.",
            Self::UnsupportedDigest => "The digest algorithm must be sha-256.",
            Self::MalformedMember => {
                "The mandate has a missing or malformed member. v0.2 amounts are integers in minor units, times are integers."
            }
            Self::MandateCount => "Each token of the chain must disclose exactly one mandate.",
            Self::WrongAlgorithm => "Only ES256 signatures are accepted.",
            Self::UnsupportedHeader => "A token has a critical header parameter that is not supported.",
            Self::UnknownIssuer => "The mandate names no issuer that this service trusts.",
            Self::InvalidSignature => "A signature of the mandate is not valid.",
            Self::KeyMissing => "An open mandate does not name the key of the next signer in cnf.jwk.",
            Self::InvalidKey => "The key in cnf.jwk is not a public P-256 key for ES256.",
            Self::UnexpectedKey => "The last token of the chain must not contain cnf.",
            Self::UnboundHop => "A delegation must contain exactly one of sd_hash and issuer_jwt_hash.",
            Self::HopMismatch => "A delegation was made for another preceding token.",
            Self::WrongHopType => {
                "The last delegation must have the type kb+sd-jwt, any other kb+sd-jwt+kb, and the first token neither."
            }
            Self::WrongMandateType => {
                "The last mandate must be mandate.payment.1, and any other mandate.payment.open.1."
            }
            Self::HiddenClaims => {
                "The mandate hides claims that could limit it. Disclose all of them; only alternatives in lists may be hidden."
            }
            Self::ContentsMismatch => "The signed hash in transaction_data is not that of the contents.",
            Self::NotYetValid => "The mandate is not valid yet. Check your clock.",
            Self::Expired => "The mandate has expired. Sign a new one.",
            Self::TimesMissing => {
                "The mandate must say when it was issued and when it expires. Add iat and exp."
            }
            Self::AudienceMismatch => "The mandate was made for another recipient.",
            Self::NonceMismatch => {
                "The nonce of the mandate does not match the request. Read the terms again and sign a new mandate."
            }
            Self::TransactionMismatch => "The mandate was made for another transaction.",
            Self::TransactionExpired => {
                "The transaction of the mandate has expired. Read the terms again and sign a new mandate."
            }
            Self::PayeeMismatch => "The mandate pays another payee.",
            Self::CurrencyMismatch => "The currency of the mandate is not that of the price.",
            Self::AmountMismatch => "The amount of the mandate is not exactly the price.",
            Self::UnsupportedInstrument => {
                "The payment instrument cannot be charged here. Use an instrument of type stripe_spt."
            }
            Self::InvalidInstrument => {
                "The payment instrument is not a shared payment token: spt_ and 1 to 255 letters, digits or underscores."
            }
            Self::FixedPropertyMismatch => {
                "The payment differs from a property that the user fixed in an open mandate."
            }
            Self::TooManyConstraints => "An open mandate has more than 32 constraints.",
            Self::MalformedConstraint => "A constraint has a missing or malformed member.",
            Self::UnknownConstraint => "The mandate has a constraint that this service does not support.",
            Self::HistoryRequired => {
                "Budgets and recurrence need a record of earlier payments, which this service does not keep."
            }
            Self::CheckoutRequired => "The mandate is bound to a checkout, and this payment has none.",
            Self::CheckoutMismatch => "The mandate is bound to another checkout.",
            Self::AmountNotAllowed => "The user did not allow a payment of this amount or currency.",
            Self::PayeeNotAllowed => "The user did not allow payments to this payee.",
            Self::InstrumentNotAllowed => "The user did not allow payments with this instrument.",
            Self::DateNotAllowed => "The user did not allow a payment at this time.",
        }
    }

    /// Whether the request itself is malformed (400), rather than the mandate unacceptable (402).
    pub const fn is_malformed(self) -> bool {
        matches!(
            self,
            Self::NotAMandate
                | Self::TooLarge
                | Self::TooDeep
                | Self::TooManyHops
                | Self::TooManyDisclosures
                | Self::DuplicateMember
                | Self::MalformedToken
                | Self::MalformedDisclosure
                | Self::RepeatedDisclosure
                | Self::UnreferencedDisclosure
                | Self::UnsupportedDigest
                | Self::MalformedMember
                | Self::MandateCount
        )
    }
}

impl fmt::Display for MandateRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.sentence())
    }
}

impl std::error::Error for MandateRefusal {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_distinct_snake_case_and_sentences_end() {
        let reasons: std::collections::HashSet<_> = MandateRefusal::ALL.iter().map(|r| r.reason()).collect();
        assert_eq!(reasons.len(), MandateRefusal::ALL.len());
        for refusal in MandateRefusal::ALL {
            assert!(refusal.reason().chars().all(|c| c.is_ascii_lowercase() || c == '_'));
            assert!(refusal.to_string().ends_with('.'), "{refusal}");
        }
    }
}
