//! The problem types of MPP (RFC 9457), and which of them a refused payment is. Their statuses are those of the draft: even a
//! malformed credential is a 402 with a new challenge.

use serde_json::json;

use crate::facilitator::ReasonKind;
use crate::json::{self, Object};
use crate::refusal::Refusal;

/// A problem type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Problem {
    PaymentRequired,
    PaymentInsufficient,
    PaymentExpired,
    VerificationFailed,
    MalformedCredential,
    InvalidChallenge,
    InvalidPayload,
    PaymentActionRequired,
    MethodUnsupported,
    BadRequest,
    InternalPaymentError,
}

impl Problem {
    pub const ALL: [Self; 11] = [
        Self::PaymentRequired,
        Self::PaymentInsufficient,
        Self::PaymentExpired,
        Self::VerificationFailed,
        Self::MalformedCredential,
        Self::InvalidChallenge,
        Self::InvalidPayload,
        Self::PaymentActionRequired,
        Self::MethodUnsupported,
        Self::BadRequest,
        Self::InternalPaymentError,
    ];

    /// The URI that identifies the type.
    pub const fn type_uri(self) -> &'static str {
        self.words().0
    }

    pub const fn title(self) -> &'static str {
        self.words().1
    }

    /// A sentence for the payer, where nothing more specific is known.
    pub const fn sentence(self) -> &'static str {
        self.words().2
    }

    pub const fn status(self) -> u16 {
        match self {
            Self::MethodUnsupported | Self::BadRequest => 400,
            Self::InternalPaymentError => 500,
            _ => 402,
        }
    }

    /// The members of the problem in the body of a response. `challenge_id` is the id of the challenge in the same response.
    pub fn members(self, detail: &str, challenge_id: Option<&str>) -> Object {
        let mut members = json::into_object(json!({
            "type": self.type_uri(), "title": self.title(), "status": self.status(), "detail": detail,
        }));
        if let Some(id) = challenge_id {
            members.insert("challengeId".to_owned(), id.into());
        }
        members
    }

    pub(super) const fn of_refusal(refusal: Refusal) -> Self {
        match refusal {
            Refusal::TwoProofs => Self::BadRequest,
            Refusal::HeaderTooLarge
            | Refusal::NotBase64
            | Refusal::NotUtf8
            | Refusal::NotJson
            | Refusal::NotAnObject
            | Refusal::TooDeep
            | Refusal::DuplicateMember
            | Refusal::WrongVersion
            | Refusal::PaymentIdentifierMissing
            | Refusal::PaymentIdentifierInvalid
            | Refusal::CredentialMalformed => Self::MalformedCredential,
            Refusal::InvalidPayload => Self::InvalidPayload,
            Refusal::SchemeNotOffered | Refusal::MethodNotOffered => Self::MethodUnsupported,
            // A new challenge solves these.
            Refusal::NetworkNotOffered | Refusal::OfferMismatch | Refusal::OtherResource => {
                Self::InvalidChallenge
            }
            Refusal::AmountMismatch => Self::PaymentInsufficient,
            Refusal::Expired => Self::PaymentExpired,
            Refusal::RecipientMismatch
            | Refusal::AssetMismatch
            | Refusal::NotYetValid
            | Refusal::ValidTooLong
            | Refusal::InvalidSignature
            | Refusal::TransactionUnreadable
            | Refusal::InstructionCount
            | Refusal::ComputeLimit
            | Refusal::ComputePrice
            | Refusal::ComputePriceTooHigh
            | Refusal::NoTransfer
            | Refusal::ForeignInstruction
            | Refusal::FeePayerMismatch
            | Refusal::FeePayerUsed
            | Refusal::TooManySigners
            | Refusal::MemoCount
            | Refusal::MemoMismatch => Self::VerificationFailed,
        }
    }

    const fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::PaymentRequired => (
                "https://paymentauth.org/problems/payment-required",
                "Payment Required",
                "This request must be paid for.",
            ),
            Self::PaymentInsufficient => (
                "https://paymentauth.org/problems/payment-insufficient",
                "Payment Insufficient",
                "The payment is lower than the price.",
            ),
            Self::PaymentExpired => (
                "https://paymentauth.org/problems/payment-expired",
                "Payment Expired",
                "The challenge has expired or is about to expire. Answer a new one.",
            ),
            Self::VerificationFailed => (
                "https://paymentauth.org/problems/verification-failed",
                "Verification Failed",
                "The payment is not valid.",
            ),
            Self::MalformedCredential => (
                "https://paymentauth.org/problems/malformed-credential",
                "Malformed Credential",
                "The payment credential cannot be read.",
            ),
            Self::InvalidChallenge => (
                "https://paymentauth.org/problems/invalid-challenge",
                "Invalid Challenge",
                "The challenge is unknown, was used already, or is not for this request.",
            ),
            Self::InvalidPayload => (
                "https://paymentauth.org/problems/invalid-payload",
                "Invalid Payload",
                "The payload of the payment credential is not a valid authorization.",
            ),
            Self::PaymentActionRequired => (
                "https://paymentauth.org/problems/payment-action-required",
                "Payment Action Required",
                "The payer has to do something before the payment can be made.",
            ),
            Self::MethodUnsupported => (
                "https://paymentauth.org/problems/method-unsupported",
                "Method Unsupported",
                "The payment method is not accepted here.",
            ),
            Self::BadRequest => {
                ("https://paymentauth.org/problems/bad-request", "Bad Request", "The request is malformed.")
            }
            Self::InternalPaymentError => (
                "https://paymentauth.org/problems/internal-payment-error",
                "Internal Payment Error",
                "The payment could not be processed. Send the same request with the same credential again.",
            ),
        }
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        Self::of_refusal(refusal)
    }
}

/// For a payment that a facilitator refused, and that is known not to have been settled.
impl From<ReasonKind> for Problem {
    fn from(kind: ReasonKind) -> Self {
        match kind {
            ReasonKind::NonceUsed => Self::InvalidChallenge,
            ReasonKind::Expired => Self::PaymentExpired,
            ReasonKind::InsufficientFunds | ReasonKind::Signature | ReasonKind::Other => {
                Self::VerificationFailed
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_distinct_and_titles_repeat_them() {
        let base = "https://paymentauth.org/problems/";
        let types: std::collections::HashSet<_> = Problem::ALL.iter().map(|it| it.type_uri()).collect();
        assert_eq!(types.len(), Problem::ALL.len());
        for problem in Problem::ALL {
            let code = problem.type_uri().strip_prefix(base).unwrap();
            assert_eq!(problem.title().to_lowercase().replace(' ', "-"), code);
            assert!(problem.sentence().ends_with('.'));
            assert_eq!(format!("{problem:?}").len(), problem.title().replace(' ', "").len());
        }
    }

    #[test]
    fn statuses_are_those_of_the_draft() {
        for problem in Problem::ALL {
            let status = match problem {
                Problem::MethodUnsupported | Problem::BadRequest => 400,
                Problem::InternalPaymentError => 500,
                _ => 402,
            };
            assert_eq!(problem.status(), status);
        }
    }

    #[test]
    fn refusals_become_problems() {
        for (refusal, problem) in [
            (Refusal::InvalidSignature, Problem::VerificationFailed),
            (Refusal::AmountMismatch, Problem::PaymentInsufficient),
            (Refusal::Expired, Problem::PaymentExpired),
            (Refusal::OfferMismatch, Problem::InvalidChallenge),
            (Refusal::InvalidPayload, Problem::InvalidPayload),
            (Refusal::TwoProofs, Problem::BadRequest),
        ] {
            assert_eq!(Problem::from(refusal), problem);
        }
        assert_eq!(Problem::from(ReasonKind::NonceUsed), Problem::InvalidChallenge);
        assert_eq!(Problem::from(ReasonKind::Expired), Problem::PaymentExpired);
        assert_eq!(Problem::from(ReasonKind::InsufficientFunds), Problem::VerificationFailed);
    }

    #[test]
    fn a_problem_names_the_new_challenge() {
        let problem = Problem::PaymentExpired;
        let expected = json!({
            "type": "https://paymentauth.org/problems/payment-expired", "title": "Payment Expired", "status": 402,
            "detail": problem.sentence(), "challengeId": "abc",
        });
        assert_eq!(serde_json::Value::Object(problem.members(problem.sentence(), Some("abc"))), expected);
        assert!(!problem.members("", None).contains_key("challengeId"));
    }
}
