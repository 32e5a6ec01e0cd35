//! How cards are accepted.

use dropleaf_core::secret::{self, Keys};
use dropleaf_pay::stripe::TokenSpelling;
use std::fmt;

#[derive(Clone, PartialEq, Eq)]
pub struct CardSettings {
    /// The secrets that webhooks may be signed with; several while one is being replaced. Without one, webhooks are refused, and
    /// payments are noticed by asking the processor.
    pub webhook_secrets: Vec<String>,
    /// How the processor names a shared payment token.
    pub token_spelling: TokenSpelling,
}

impl CardSettings {
    /// Gives the sandbox a webhook secret of its own unless it has one. It is derived, so that all nodes have the same.
    pub(crate) fn add_sandbox_secret(&mut self, keys: &Keys) {
        if self.webhook_secrets.is_empty() {
            let mac = keys.mac("card sandbox webhook", b"");
            self.webhook_secrets.push(format!("whsec_{}", secret::letters(&mac)));
        }
    }
}

/// Keeps the secrets out of logs.
impl fmt::Debug for CardSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CardSettings")
            .field("webhook_secrets", &self.webhook_secrets.len())
            .field("token_spelling", &self.token_spelling)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sandbox_has_a_secret_that_is_stable_and_hidden() {
        let with_secrets = |secrets: &[&str]| {
            let webhook_secrets = secrets.iter().map(|secret| (*secret).to_owned()).collect();
            let mut cards = CardSettings { webhook_secrets, token_spelling: TokenSpelling::Nested };
            cards.add_sandbox_secret(&Keys::new([7; 32]));
            cards
        };
        let derived = with_secrets(&[]);
        assert_eq!(derived, with_secrets(&[]));
        let [secret] = derived.webhook_secrets.as_slice() else { panic!("one secret") };
        assert!(secret.starts_with("whsec_") && secret.len() > 40);
        assert!(!format!("{derived:?}").contains("whsec"));
        assert_eq!(with_secrets(&["whsec_own"]).webhook_secrets, ["whsec_own"]);
    }
}
