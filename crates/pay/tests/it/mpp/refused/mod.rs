//! Credentials that do not pay: each is the good one with one change, and is refused for its own reason and with the problem
//! type that clients expect.

mod challenges;
mod malformed;
mod payloads;
mod signatures;

use dropleaf_pay::mpp::{CredentialError, Problem};
use dropleaf_pay::{Asset, EvmAddress, Offer, Token};

use super::attempt::{Attempt, offer};
use challenges::{AMOUNTS, BODIES, CHANGED, ELSEWHERE, EXPIRED, METHODS};
use malformed::{HEADERS, MEMBERS};
use payloads::{INVALID, OTHER};
use signatures::SIGNATURES;

/// What is changed, and what comes of it.
type Case = (&'static str, CredentialError, fn(&mut Attempt));

#[test]
fn bad_credentials_are_refused_each_with_its_problem() {
    let groups = [
        (Problem::MalformedCredential, HEADERS),
        (Problem::MalformedCredential, MEMBERS),
        (Problem::MethodUnsupported, METHODS),
        (Problem::InvalidChallenge, CHANGED),
        (Problem::InvalidChallenge, ELSEWHERE),
        (Problem::InvalidPayload, INVALID),
        (Problem::VerificationFailed, OTHER),
        (Problem::VerificationFailed, SIGNATURES),
        (Problem::VerificationFailed, BODIES),
        (Problem::PaymentInsufficient, AMOUNTS),
        (Problem::PaymentExpired, EXPIRED),
    ];
    assert!(Attempt::good().judge().is_ok());
    let mut count = 0;
    for (problem, cases) in groups {
        for &(what, error, change) in cases {
            let mut attempt = Attempt::good();
            change(&mut attempt);
            assert_eq!(attempt.judge().err(), Some(error), "{what}");
            assert_eq!(error.problem(), problem, "{what}");
            count += 1;
        }
    }
    assert!(count >= 120, "{count}");
}

/// Our offer with another part that depends on the chain.
fn offer_of(chain_id: u64, token: Token, pay_to: EvmAddress) -> Offer {
    Offer { asset: Asset::Evm { chain_id, token, pay_to }, ..offer() }
}

fn pay_to() -> EvmAddress {
    EvmAddress::parse("0x209693Bc6afc0C5328bA36FaF03C514EF312287C").unwrap()
}

fn usdc() -> Token {
    Token::usdc(8453).unwrap()
}
