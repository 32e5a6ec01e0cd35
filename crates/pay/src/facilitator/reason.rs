//! Why a facilitator refused. The reasons are free-form strings that differ between implementations; a few kinds are recognized
//! by the words in them.

use serde_json::Value;

use crate::json::Object;
use crate::network::Network;

const MOST_CHARS: usize = 100;

/// A facilitator's reason, sanitized for display.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    pub kind: ReasonKind,
    /// Lower-case words joined by underscores; `unspecified` if none was given.
    pub text: String,
}

/// The kinds of reasons that we distinguish.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReasonKind {
    /// Already used: a replay, a cancelled authorization, or our own earlier settlement.
    NonceUsed,
    InsufficientFunds,
    Expired,
    Signature,
    Other,
}

impl Reason {
    pub(super) fn of(answer: &Object, member: &str) -> Self {
        Self::new(answer.get(member).and_then(Value::as_str).unwrap_or(""))
    }

    pub fn new(text: &str) -> Self {
        let text: String = text.chars().take(MOST_CHARS).map(|c| c.to_ascii_lowercase()).collect();
        // Anything else may be a message containing addresses, which must not be passed on.
        let clean = !text.is_empty()
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b':' | b'.'));
        let text = if clean { text } else { "unspecified".to_owned() };
        Self { kind: kind(&text), text }
    }

    /// Whether the payment may have been settled although the facilitator refuses it. On an EVM chain anyone who sees an
    /// authorization can submit it; afterwards a facilitator reports a used nonce, a failed simulation or a reverted transaction.
    /// A Solana transaction cannot be submitted without the fee payer's signature, so there a failed simulation means that only
    /// if the facilitator was `asked_before` to settle it. The same applies to insufficient funds on an EVM chain: the
    /// facilitator may have published the authorization then, and using it may have emptied the wallet.
    pub fn may_hide_use(&self, network: Network, asked_before: bool) -> bool {
        // The reference facilitators report `eip3009_not_supported` when they cannot determine why a simulation failed.
        let failed = [
            "simulation",
            "revert",
            "transaction_failed",
            "transaction_state",
            "already",
            "eip3009_not_supported",
        ];
        self.kind == ReasonKind::NonceUsed
            || (self.kind == ReasonKind::InsufficientFunds && network.is_evm() && asked_before)
            || ((network.is_evm() || asked_before) && failed.iter().any(|word| self.text.contains(word)))
    }
}

fn kind(text: &str) -> ReasonKind {
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if has(&[
        "nonce_already_used",
        "nonce_used",
        "authorization_used",
        "duplicate_settlement",
        "already_processed",
    ]) {
        ReasonKind::NonceUsed
    } else if has(&["insufficient_funds", "insufficient_balance"]) {
        ReasonKind::InsufficientFunds
    } else if has(&["expired", "valid_before", "block_height_exceeded"]) {
        ReasonKind::Expired
    } else if has(&["signature"]) {
        ReasonKind::Signature
    } else {
        ReasonKind::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_found_in_the_words_of_both_implementations() {
        for (text, kind) in [
            ("invalid_exact_evm_nonce_already_used", ReasonKind::NonceUsed),
            ("duplicate_settlement", ReasonKind::NonceUsed),
            ("insufficient_funds", ReasonKind::InsufficientFunds),
            ("invalid_exact_evm_insufficient_balance", ReasonKind::InsufficientFunds),
            ("payment_expired", ReasonKind::Expired),
            ("invalid_exact_evm_payload_authorization_valid_before", ReasonKind::Expired),
            ("settle_exact_svm_block_height_exceeded", ReasonKind::Expired),
            ("invalid_exact_evm_signature", ReasonKind::Signature),
            ("invalid_exact_evm_payload_signature", ReasonKind::Signature),
            ("invalid_exact_svm_payload_signature_invalid", ReasonKind::Signature),
            ("invalid_scheme", ReasonKind::Other),
            ("something_new", ReasonKind::Other),
        ] {
            assert_eq!(Reason::new(text).kind, kind, "{text}");
        }
    }

    #[test]
    fn a_refusal_may_hide_that_somebody_else_submitted_the_payment() {
        let hides = |text: &str, network, before| Reason::new(text).may_hide_use(network, before);
        for text in [
            "invalid_exact_evm_nonce_already_used",
            "invalid_exact_evm_transaction_simulation_failed",
            "invalid_exact_evm_transaction_failed",
            "invalid_transaction_state",
            "execution_reverted",
            "invalid_exact_evm_eip3009_not_supported",
        ] {
            assert!(hides(text, Network::BASE, false), "{text}");
        }
        for text in ["invalid_exact_evm_signature", "payment_expired", "invalid_scheme"] {
            assert!(!hides(text, Network::BASE, true), "{text}");
        }
        let poor = "insufficient_funds";
        assert!(!hides(poor, Network::BASE, false) && hides(poor, Network::BASE, true));
        assert!(!hides(poor, Network::SOLANA, true));
        let simulated = "invalid_exact_svm_transaction_simulation_failed";
        assert!(!hides(simulated, Network::SOLANA, false) && hides(simulated, Network::SOLANA, true));
        assert!(hides("duplicate_settlement", Network::SOLANA, false));
    }

    #[test]
    fn messages_are_not_passed_on() {
        for text in ["", "call to https://rpc.example/?key=1 failed", "<script>", "a\nb", "é"] {
            assert_eq!(Reason::new(text).text, "unspecified");
        }
        assert_eq!(Reason::new(&"x".repeat(5000)).text.len(), 100);
    }
}
