//! The wallet credential: the wallet that paid for a page may change it by signing a challenge (EIP-191, `personal_sign`).
//! What a challenge is valid for, and how long, is left to the caller.

use std::fmt;

use dropleaf_core::iso;

use crate::address::EvmAddress;
use crate::evm::{Signature, recover};
use crate::hex;
use crate::keccak::keccak;
use crate::refusal::Refusal;

/// The prefix of every challenge.
pub const PREFIX: &str = "WAUTH-";

/// The value after `Authorization: Wallet`.
#[derive(Clone, PartialEq, Eq)]
pub struct Credential {
    pub challenge: String,
    signature: [u8; 65],
}

/// The exact text to sign. Wallets show it to people, so it names the host and states that it is not a transaction.
pub fn message(host: &str, challenge: &str, expires_at: i64) -> String {
    format!(
        "{host} requests a signature to update one page that this wallet paid for.\n\n\
         This is not a transaction. It does not transfer money or authorize a transfer.\n\n\
         Challenge: {challenge}\n\
         Valid until: {}",
        iso::format(expires_at)
    )
}

/// The digest that `personal_sign` signs for a message.
pub fn digest(message: &str) -> [u8; 32] {
    let length = message.len().to_string();
    keccak(&[b"\x19Ethereum Signed Message:\n", length.as_bytes(), message.as_bytes()])
}

impl Credential {
    /// Parses `challenge=…,sig=…`: each once, in either order, quoted or not, and nothing else.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let (mut challenge, mut signature) = (None, None);
        for part in text.split(',') {
            let (name, value) = part.trim_matches(' ').split_once('=').ok_or(Refusal::CredentialMalformed)?;
            let quoted = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
            let slot = match name {
                "challenge" => &mut challenge,
                "sig" => &mut signature,
                _ => return Err(Refusal::CredentialMalformed),
            };
            if slot.replace(quoted.unwrap_or(value)).is_some() {
                return Err(Refusal::CredentialMalformed);
            }
        }
        let challenge = challenge.filter(|it| is_challenge(it)).ok_or(Refusal::CredentialMalformed)?;
        let signature = signature.and_then(hex::parse).ok_or(Refusal::CredentialMalformed)?;
        Ok(Self { challenge: challenge.to_owned(), signature })
    }

    /// The wallet that signed `message`. Every well-formed signature yields some address, so the caller must compare it.
    pub fn signer(&self, message: &str) -> Result<EvmAddress, Refusal> {
        let signature = Signature::read(&self.signature).ok_or(Refusal::InvalidSignature)?;
        recover(&digest(message), &signature).ok_or(Refusal::InvalidSignature)
    }
}

fn is_challenge(text: &str) -> bool {
    let rest = text.strip_prefix(PREFIX).unwrap_or("");
    (1..=128).contains(&rest.len())
        && rest.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credential").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELLO: &str = "0xf16ea9a3478698f695fd1401bfe27e9e4a7e8e3da94aa72b021125e31fa899cc573c48ea3fe1d4ab61a9db10c19032026e3ed2dbccba5a178235ac27f94504311c";

    #[test]
    fn the_signer_of_hello_is_recovered() {
        let credential = Credential::parse(&format!("challenge=WAUTH-x,sig={HELLO}")).unwrap();
        let signer = credential.signer("hello").unwrap();
        assert_eq!(signer.to_string(), "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266");
        assert_ne!(credential.signer("hello!"), Ok(signer));
    }

    #[test]
    fn credentials_are_read_in_either_order_and_quoted() {
        let plain = Credential::parse(&format!("challenge=WAUTH-a_B-9,sig={HELLO}")).unwrap();
        assert_eq!(plain.challenge, "WAUTH-a_B-9");
        let other = Credential::parse(&format!("sig=\"{HELLO}\", challenge=\"WAUTH-a_B-9\"")).unwrap();
        assert_eq!(other, plain);
    }

    #[test]
    fn anything_else_is_malformed() {
        let short = HELLO.trim_end_matches("1c");
        for text in [
            String::new(),
            "challenge=WAUTH-x".to_owned(),
            format!("sig={HELLO}"),
            format!("challenge=WAUTH-x;sig={HELLO}"),
            format!("challenge=WAUTH-x,sig={HELLO},"),
            format!("challenge=WAUTH-x,sig={HELLO},sig={HELLO}"),
            format!("challenge=WAUTH-x,challenge=WAUTH-x,sig={HELLO}"),
            format!("challenge=WAUTH-x,sig={HELLO},more=1"),
            format!("Challenge=WAUTH-x,sig={HELLO}"),
            format!("challenge=WAUTH-,sig={HELLO}"),
            format!("challenge=x,sig={HELLO}"),
            format!("challenge=WAUTH-x y,sig={HELLO}"),
            format!("challenge=WAUTH-{},sig={HELLO}", "x".repeat(129)),
            format!("challenge=WAUTH-x,sig={short}"),
            format!("challenge=WAUTH-x,sig={HELLO}00"),
            format!("challenge=WAUTH-x,sig={}", HELLO.trim_start_matches("0x")),
            format!("challenge=\"WAUTH-x,sig={HELLO}"),
        ] {
            assert_eq!(Credential::parse(&text), Err(Refusal::CredentialMalformed), "{text}");
        }
    }

    #[test]
    fn a_signature_that_cannot_be_one_is_invalid() {
        let zero = format!("challenge=WAUTH-x,sig=0x{}", "00".repeat(65));
        assert_eq!(Credential::parse(&zero).unwrap().signer("hello"), Err(Refusal::InvalidSignature));
    }

    #[test]
    fn the_message_names_host_challenge_and_end() {
        let expected = "pages.test requests a signature to update one page that this wallet paid for.\n\nThis is not a \
                        transaction. It does not transfer money or authorize a transfer.\n\nChallenge: WAUTH-abc\nValid until: \
                        2026-01-01T00:00:00Z";
        assert_eq!(message("pages.test", "WAUTH-abc", 1_767_225_600), expected);
    }

    #[test]
    fn moments_are_dates() {
        for (epoch, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_251_199, "2024-02-29T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (-1, "1969-12-31T23:59:59Z"),
        ] {
            assert_eq!(iso::format(epoch), text);
        }
    }
}
