//! Signatures that the payer did not make, or not for this payment.

use dropleaf_pay::mpp::CredentialError as Error;
use dropleaf_pay::payer::EvmPayer;
use dropleaf_pay::{Refusal, Token};
use serde_json::json;

use super::{Case, offer_of, pay_to, usdc};
use crate::mpp::attempt::{EXPIRES, nonce, offer, payer, vector};

/// n - s of the vector's signature, and the other parity.
const MIRRORED: &str = "0xf62c9b4a22a6be5f6ad87a47f0328e9647216093495aca56fdfda691d267be059a26d55755687894c820b9d48b51e61af761c61fd39cc125ed32aecba10f5df11c";

pub(super) const SIGNATURES: &[Case] = &[
    ("no bytes", Error::Refused(Refusal::InvalidSignature), |a| *a.payload("signature") = json!("0x")),
    ("64 bytes", Error::Refused(Refusal::InvalidSignature), |a| {
        *a.payload("signature") = json!(&vector("signature")[..130]);
    }),
    ("zeros", Error::Refused(Refusal::InvalidSignature), |a| {
        *a.payload("signature") = json!(format!("0x{}", "00".repeat(65)));
    }),
    ("the mirror image", Error::Refused(Refusal::InvalidSignature), |a| {
        *a.payload("signature") = json!(MIRRORED);
    }),
    ("v of 2", Error::Refused(Refusal::InvalidSignature), |a| {
        *a.payload("signature") = json!(vector("signature")[..130].to_owned() + "02");
    }),
    ("v of 29", Error::Refused(Refusal::InvalidSignature), |a| {
        *a.payload("signature") = json!(vector("signature")[..130].to_owned() + "1d");
    }),
    ("the other v", Error::NotSignedByPayer, |a| {
        *a.payload("signature") = json!(vector("signature")[..130].to_owned() + "1c");
    }),
    ("a changed digit", Error::NotSignedByPayer, |a| {
        *a.payload("signature") = json!(vector("signature").replace("0xf6", "0xf5"));
    }),
    ("another wallet", Error::NotSignedByPayer, |a| {
        let other = EvmPayer::new(&[5; 32]).unwrap();
        a.sign(&other, &offer(), nonce(), (0, EXPIRES));
        *a.payload("from") = json!(vector("payer"));
        a.credential["source"] = json!(format!("did:pkh:eip155:8453:{}", vector("payer")));
    }),
    ("in the name of another wallet", Error::NotSignedByPayer, |a| {
        let other = EvmPayer::new(&[5; 32]).unwrap().address;
        *a.payload("from") = json!(other.to_string());
        a.credential["source"] = json!(format!("did:pkh:eip155:8453:{other}"));
    }),
    ("validAfter changed", Error::NotSignedByPayer, |a| *a.payload("validAfter") = json!("1")),
    ("for another token", Error::NotSignedByPayer, |a| {
        let token = Token { name: "USDC".to_owned(), ..usdc() };
        a.sign(&payer(), &offer_of(8453, token, pay_to()), nonce(), (0, EXPIRES));
    }),
    ("on another chain", Error::NotSignedByPayer, |a| {
        a.sign(&payer(), &offer_of(84532, usdc(), pay_to()), nonce(), (0, EXPIRES));
    }),
    ("of a contract wallet", Error::NotSignedByPayer, |a| {
        *a.payload("signature") = json!(vector("signature").to_owned() + &"6492".repeat(16));
    }),
];
