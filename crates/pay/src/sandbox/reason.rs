//! Maps refusals to the reason strings of the reference facilitators. v1 clients know a closed list of them, so v1 keeps to that
//! list; v2 has more specific ones.

use crate::generation::Generation;
use crate::refusal::Refusal;

pub(super) fn reason(refusal: Refusal, is_evm: bool, generation: Generation) -> &'static str {
    match (is_evm, generation) {
        (true, Generation::V1) => evm_v1(refusal),
        (true, Generation::V2) => evm_v2(refusal),
        (false, Generation::V1) => solana_v1(refusal),
        (false, Generation::V2) => solana_v2(refusal),
    }
}

fn evm_v1(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::InvalidSignature => "invalid_exact_evm_payload_signature",
        Refusal::RecipientMismatch => "invalid_exact_evm_payload_recipient_mismatch",
        Refusal::AmountMismatch => "invalid_exact_evm_payload_authorization_value",
        Refusal::Expired => "invalid_exact_evm_payload_authorization_valid_before",
        Refusal::NotYetValid => "invalid_exact_evm_payload_authorization_valid_after",
        _ => "invalid_payload",
    }
}

fn evm_v2(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::InvalidSignature => "invalid_exact_evm_signature",
        Refusal::RecipientMismatch => "invalid_exact_evm_recipient_mismatch",
        Refusal::AmountMismatch => "invalid_exact_evm_authorization_value",
        Refusal::MethodNotOffered => "unsupported_payload_type",
        other => evm_v1(other),
    }
}

fn solana_v1(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::InstructionCount => "invalid_exact_svm_payload_transaction_instructions_length",
        Refusal::ComputeLimit => {
            "invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction"
        }
        Refusal::ComputePrice => {
            "invalid_exact_svm_payload_transaction_instructions_compute_price_instruction"
        }
        Refusal::ComputePriceTooHigh => {
            "invalid_exact_svm_payload_transaction_instructions_compute_price_instruction_too_high"
        }
        Refusal::NoTransfer => "invalid_exact_svm_payload_transaction_not_a_transfer_instruction",
        Refusal::FeePayerUsed => "invalid_exact_svm_payload_transaction_fee_payer_transferring_funds",
        Refusal::AmountMismatch => "invalid_exact_svm_payload_transaction_amount_mismatch",
        Refusal::RecipientMismatch => "invalid_exact_svm_payload_transaction_transfer_to_incorrect_ata",
        Refusal::ForeignInstruction => "invalid_exact_svm_payload_transaction_instructions",
        Refusal::InvalidPayload => "invalid_payload",
        _ => "invalid_exact_svm_payload_transaction",
    }
}

fn solana_v2(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::TransactionUnreadable => "invalid_exact_svm_payload_transaction_could_not_be_decoded",
        Refusal::NoTransfer => "invalid_exact_svm_payload_no_transfer_instruction",
        Refusal::ForeignInstruction => "invalid_exact_svm_payload_unknown_optional_instruction",
        Refusal::FeePayerMismatch => "invalid_exact_svm_fee_payer_mismatch",
        Refusal::TooManySigners => "invalid_exact_svm_payload_excessive_signers",
        Refusal::AssetMismatch => "invalid_exact_svm_payload_mint_mismatch",
        Refusal::AmountMismatch => "invalid_exact_svm_payload_amount_mismatch",
        Refusal::RecipientMismatch => "invalid_exact_svm_payload_recipient_mismatch",
        Refusal::MemoCount => "invalid_exact_svm_payload_memo_count",
        Refusal::MemoMismatch => "invalid_exact_svm_payload_memo_mismatch",
        Refusal::InvalidSignature => "invalid_exact_svm_payload_signature_invalid",
        other => solana_v1(other),
    }
}
