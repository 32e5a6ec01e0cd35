//! Wallet and token addresses: 20 bytes in checksummed hex on EVM chains, 32 bytes in base58 on Solana.

use std::fmt;

use crate::hex;
use crate::keccak::keccak;

/// An address on an EVM chain, displayed with its EIP-55 checksum.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EvmAddress(pub [u8; 20]);

/// A public key or program address on Solana.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SolanaAddress(pub [u8; 32]);

/// An address of either kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Address {
    Evm(EvmAddress),
    Solana(SolanaAddress),
}

impl EvmAddress {
    /// Parses `0x` and 40 hexadecimal digits. Ignores case, because wallets and clients differ.
    pub fn parse(text: &str) -> Option<Self> {
        hex::parse(text).map(Self)
    }

    /// Parses an address that a person entered: mixed case is a checksum (EIP-55), and a wrong one indicates a typo.
    pub fn parse_checked(text: &str) -> Option<Self> {
        let has = |case: fn(&u8) -> bool| text.bytes().skip(2).any(|byte| case(&byte));
        let mixed = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
        Self::parse(text).filter(|address| !mixed || address.to_string() == text)
    }

    /// The lower-case form for keys and comparisons.
    pub fn to_lower(self) -> String {
        hex::show(&self.0)
    }
}

impl SolanaAddress {
    pub fn parse(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        // Longer text cannot be 32 bytes, and decoding takes quadratic time.
        if text.len() > 44 {
            return None;
        }
        let length = bs58::decode(text).onto(&mut bytes).ok()?;
        (length == 32).then_some(Self(bytes))
    }
}

impl Address {
    /// Parses either kind. EVM addresses start with `0x`; base58 has no zero.
    pub fn parse(text: &str) -> Option<Self> {
        if text.starts_with("0x") {
            EvmAddress::parse(text).map(Self::Evm)
        } else {
            SolanaAddress::parse(text).map(Self::Solana)
        }
    }
}

impl fmt::Display for EvmAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lower = self.to_lower();
        let digits = lower.trim_start_matches("0x");
        let hash = keccak(&[digits.as_bytes()]);
        f.write_str("0x")?;
        for (index, digit) in digits.chars().enumerate() {
            let byte = hash.get(index / 2).copied().unwrap_or(0);
            let nibble = if index % 2 == 0 { byte >> 4 } else { byte & 15 };
            write!(f, "{}", if nibble >= 8 { digit.to_ascii_uppercase() } else { digit })?;
        }
        Ok(())
    }
}

impl fmt::Display for SolanaAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&bs58::encode(self.0).into_string())
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Evm(address) => address.fmt(f),
            Self::Solana(address) => address.fmt(f),
        }
    }
}

impl fmt::Debug for EvmAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for SolanaAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evm_addresses_are_shown_with_their_checksum() {
        for text in [
            "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
            "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
            "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
        ] {
            assert_eq!(EvmAddress::parse(&text.to_lowercase()).unwrap().to_string(), text);
            assert_eq!(Address::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_slip_in_an_address_that_was_written_down_is_seen() {
        let text = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
        let upper = format!("0x{}", text[2..].to_uppercase());
        for good in [text, &text.to_lowercase(), &upper] {
            assert_eq!(EvmAddress::parse_checked(good), EvmAddress::parse(text), "{good}");
        }
        // A wrong digit, and a letter in the wrong case.
        for bad in
            ["0x70997970C51812dc3A010C7d01b50e0d17dc79C9", "0x70997970c51812dc3A010C7d01b50e0d17dc79C8", ""]
        {
            assert_eq!(EvmAddress::parse_checked(bad), None, "{bad}");
        }
    }

    #[test]
    fn solana_addresses_read_back() {
        let text = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
        assert_eq!(Address::parse(text).unwrap().to_string(), text);
    }

    #[test]
    fn malformed_addresses_are_refused() {
        for text in [
            "",
            "0x",
            "f39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
            "0Xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
            "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb9226",
            "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb922666",
            "0xg39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
            "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyT",
            "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v1",
            "IPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
        ] {
            assert_eq!(Address::parse(text), None, "{text}");
        }
    }
}
