//! The associated token account of a wallet: an address derived from wallet and mint that is not on the curve, so it has no key.

use curve25519_dalek::edwards::CompressedEdwardsY;
use sha2::{Digest, Sha256};

use super::TOKEN_ACCOUNTS;
use crate::address::SolanaAddress;

/// The associated token account of `owner` for `mint` under a token program.
pub(crate) fn token_account(
    owner: SolanaAddress,
    mint: SolanaAddress,
    token_program: SolanaAddress,
) -> Option<SolanaAddress> {
    // The first candidate, counting down, that is not on the curve.
    (0..=u8::MAX)
        .rev()
        .map(|bump| candidate(owner, mint, token_program, bump))
        .find(|address| !is_on_curve(*address))
}

fn candidate(
    owner: SolanaAddress,
    mint: SolanaAddress,
    token_program: SolanaAddress,
    bump: u8,
) -> SolanaAddress {
    let mut hash = Sha256::new();
    for part in [owner.0, token_program.0, mint.0] {
        hash.update(part);
    }
    hash.update([bump]);
    hash.update(TOKEN_ACCOUNTS.0);
    hash.update(b"ProgramDerivedAddress");
    SolanaAddress(hash.finalize().into())
}

fn is_on_curve(address: SolanaAddress) -> bool {
    CompressedEdwardsY(address.0).decompress().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solana::TOKEN;

    #[test]
    fn accounts_are_those_of_the_reference() {
        let address = |text| SolanaAddress::parse(text).unwrap();
        let mint = address("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v");
        for (owner, account) in [
            ("9hSR6S7WPtxmTojgo6GG3k4yDPecgJY292j7xrsUGWBu", "ASZ2TDDNJG2n42TxAezqNNzwWipykHrENDKMCoLKgzup"),
            ("AKnL4NNf3DGWZJS6cPknBuEGnVsV4A4m5tgebLHaRSZ9", "3wvJdyFnGvaMWpbq93NU91SggiVRveULUXL6iX5VZDGP"),
        ] {
            assert_eq!(token_account(address(owner), mint, TOKEN).unwrap().to_string(), account);
        }
    }

    #[test]
    fn public_keys_lie_on_the_curve() {
        assert!(is_on_curve(SolanaAddress::parse("9hSR6S7WPtxmTojgo6GG3k4yDPecgJY292j7xrsUGWBu").unwrap()));
    }
}
