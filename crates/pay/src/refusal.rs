//! Why a payment proof was refused: a stable reason and a sentence that is safe to show to anyone.
//! Nothing the payer sent is repeated in it.

use std::fmt;

/// Why a proof, or a wallet's signature, was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Refusal {
    // The header.
    TwoProofs,
    HeaderTooLarge,
    NotBase64,
    NotUtf8,
    NotJson,
    NotAnObject,
    TooDeep,
    DuplicateMember,
    WrongVersion,
    InvalidPayload,
    PaymentIdentifierMissing,
    PaymentIdentifierInvalid,
    // The accepted offer.
    SchemeNotOffered,
    NetworkNotOffered,
    OfferMismatch,
    OtherResource,
    MethodNotOffered,
    // The signed authorization.
    RecipientMismatch,
    AmountMismatch,
    AssetMismatch,
    NotYetValid,
    Expired,
    ValidTooLong,
    InvalidSignature,
    // A Solana transaction.
    TransactionUnreadable,
    InstructionCount,
    ComputeLimit,
    ComputePrice,
    ComputePriceTooHigh,
    NoTransfer,
    ForeignInstruction,
    FeePayerMismatch,
    FeePayerUsed,
    TooManySigners,
    MemoCount,
    MemoMismatch,
    // The wallet credential.
    CredentialMalformed,
}

impl Refusal {
    pub const ALL: [Self; 37] = [
        Self::TwoProofs,
        Self::HeaderTooLarge,
        Self::NotBase64,
        Self::NotUtf8,
        Self::NotJson,
        Self::NotAnObject,
        Self::TooDeep,
        Self::DuplicateMember,
        Self::WrongVersion,
        Self::InvalidPayload,
        Self::PaymentIdentifierMissing,
        Self::PaymentIdentifierInvalid,
        Self::SchemeNotOffered,
        Self::NetworkNotOffered,
        Self::OfferMismatch,
        Self::OtherResource,
        Self::MethodNotOffered,
        Self::RecipientMismatch,
        Self::AmountMismatch,
        Self::AssetMismatch,
        Self::NotYetValid,
        Self::Expired,
        Self::ValidTooLong,
        Self::InvalidSignature,
        Self::TransactionUnreadable,
        Self::InstructionCount,
        Self::ComputeLimit,
        Self::ComputePrice,
        Self::ComputePriceTooHigh,
        Self::NoTransfer,
        Self::ForeignInstruction,
        Self::FeePayerMismatch,
        Self::FeePayerUsed,
        Self::TooManySigners,
        Self::MemoCount,
        Self::MemoMismatch,
        Self::CredentialMalformed,
    ];

    /// The stable reason string.
    pub const fn reason(self) -> &'static str {
        self.words().0
    }

    /// The message for the payer: what is wrong and what to do.
    pub const fn sentence(self) -> &'static str {
        self.words().1
    }

    /// Whether the request itself is malformed (400), rather than the payment unacceptable (402).
    pub const fn is_malformed(self) -> bool {
        matches!(
            self,
            Self::TwoProofs
                | Self::HeaderTooLarge
                | Self::NotBase64
                | Self::NotUtf8
                | Self::NotJson
                | Self::NotAnObject
                | Self::TooDeep
                | Self::DuplicateMember
                | Self::PaymentIdentifierMissing
                | Self::PaymentIdentifierInvalid
                | Self::CredentialMalformed
        )
    }

    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::TwoProofs => {
                ("two_proofs", "Send one payment header, once: PAYMENT-SIGNATURE or X-PAYMENT.")
            }
            Self::HeaderTooLarge => ("header_too_large", "The payment header is longer than 16384 bytes."),
            Self::NotBase64 => ("not_base64", "The payment header is not standard base64 with padding."),
            Self::NotUtf8 => ("not_utf8", "The payment header does not decode to UTF-8."),
            Self::NotJson => ("not_json", "The payment header does not decode to JSON."),
            Self::NotAnObject => ("not_an_object", "The payment header does not decode to a JSON object."),
            Self::TooDeep => ("too_deep", "The payment header's JSON is nested deeper than 16 levels."),
            Self::DuplicateMember => {
                ("duplicate_member", "The payment header's JSON contains a duplicate member.")
            }
            Self::WrongVersion => {
                ("wrong_version", "x402Version must be 2 in PAYMENT-SIGNATURE and 1 in X-PAYMENT.")
            }
            Self::InvalidPayload => (
                "invalid_payload",
                "The payment has a missing, unexpected or malformed member. Amounts and times must be plain decimal strings.",
            ),
            Self::PaymentIdentifierMissing => (
                "payment_identifier_missing",
                "This endpoint requires the payment-identifier extension with an id.",
            ),
            Self::PaymentIdentifierInvalid => (
                "payment_identifier_invalid",
                "A payment identifier must have 16 to 128 letters, digits, hyphens or underscores.",
            ),
            Self::SchemeNotOffered => ("scheme_not_offered", "Only the payment scheme `exact` is accepted."),
            Self::NetworkNotOffered => {
                ("network_not_offered", "The payment uses a network that is not offered.")
            }
            Self::OfferMismatch => (
                "offer_mismatch",
                "The accepted offer matches none of the current offers. Read the terms again and sign a new payment.",
            ),
            Self::OtherResource => ("other_resource", "The payment was made for another endpoint."),
            Self::MethodNotOffered => {
                ("method_not_offered", "Only EIP-3009 authorizations are accepted, not Permit2 or ERC-7710.")
            }
            Self::RecipientMismatch => {
                ("recipient_mismatch", "The recipient of the payment does not match the terms.")
            }
            Self::AmountMismatch => {
                ("amount_mismatch", "The amount of the payment is not exactly the price.")
            }
            Self::AssetMismatch => ("asset_mismatch", "The token of the payment does not match the terms."),
            Self::NotYetValid => ("not_yet_valid", "The authorization is not valid yet. Check your clock."),
            Self::Expired => {
                ("expired", "The authorization has expired or is about to expire. Sign a new one.")
            }
            Self::ValidTooLong => {
                ("valid_too_long", "The authorization is valid for much longer than the terms allow.")
            }
            Self::InvalidSignature => ("invalid_signature", "The signature is not valid."),
            Self::TransactionUnreadable => (
                "transaction_unreadable",
                "The transaction is not a valid Solana transaction without address lookup tables.",
            ),
            Self::InstructionCount => {
                ("instruction_count", "The transaction must have three to seven instructions.")
            }
            Self::ComputeLimit => ("compute_limit", "The first instruction must set the compute unit limit."),
            Self::ComputePrice => {
                ("compute_price", "The second instruction must set the compute unit price.")
            }
            Self::ComputePriceTooHigh => {
                ("compute_price_too_high", "The compute unit price is above 5 lamports per unit.")
            }
            Self::NoTransfer => {
                ("no_transfer", "The third instruction must be a TransferChecked of the token.")
            }
            Self::ForeignInstruction => (
                "foreign_instruction",
                "After the transfer only memos and Lighthouse instructions are accepted.",
            ),
            Self::FeePayerMismatch => (
                "fee_payer_mismatch",
                "The fee payer of the transaction does not match the terms. Read the terms again.",
            ),
            Self::FeePayerUsed => ("fee_payer_used", "The fee payer must not take part in any instruction."),
            Self::TooManySigners => {
                ("too_many_signers", "The transaction must be signed only by the fee payer and the payer.")
            }
            Self::MemoCount => ("memo_count", "The transaction must have exactly one memo."),
            Self::MemoMismatch => ("memo_mismatch", "The memo of the transaction does not match the terms."),
            Self::CredentialMalformed => (
                "credential_malformed",
                "Send Authorization: Wallet challenge=<challenge>,sig=<0x and 130 hexadecimal digits>.",
            ),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.sentence())
    }
}

impl std::error::Error for Refusal {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_distinct_snake_case_and_sentences_end() {
        let reasons: std::collections::HashSet<_> = Refusal::ALL.iter().map(|r| r.reason()).collect();
        assert_eq!(reasons.len(), Refusal::ALL.len());
        for refusal in Refusal::ALL {
            assert!(
                refusal.reason().chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
            );
            assert!(refusal.to_string().ends_with(['.', '>']), "{refusal}");
        }
    }
}
