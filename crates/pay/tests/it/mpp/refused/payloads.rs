//! Payloads that are not authorizations, and authorizations that answer something else.

use dropleaf_pay::mpp::CredentialError as Error;
use dropleaf_pay::payer::EvmPayer;
use dropleaf_pay::{EvmAddress, Refusal};
use serde_json::json;

use super::{Case, offer_of, usdc};
use crate::mpp::attempt::{EXPIRES, nonce, offer, payer, vector};

pub(super) const INVALID: &[Case] = &[
    ("type of Permit2", Error::UnsupportedType, |a| *a.payload("type") = json!("permit2")),
    ("type of a transaction", Error::UnsupportedType, |a| *a.payload("type") = json!("transaction")),
    ("a hash", Error::UnsupportedType, |a| {
        a.credential["payload"] = json!({ "type": "hash", "hash": vector("nonce") });
    }),
    ("type in capitals", Error::UnsupportedType, |a| *a.payload("type") = json!("Authorization")),
    ("type is null", Error::Refused(Refusal::InvalidPayload), |a| *a.payload("type") = json!(null)),
    ("no type", Error::Refused(Refusal::InvalidPayload), |a| a.remove("/payload", "type")),
    ("no from", Error::Refused(Refusal::InvalidPayload), |a| a.remove("/payload", "from")),
    ("no to", Error::Refused(Refusal::InvalidPayload), |a| a.remove("/payload", "to")),
    ("no value", Error::Refused(Refusal::InvalidPayload), |a| a.remove("/payload", "value")),
    ("no validAfter", Error::Refused(Refusal::InvalidPayload), |a| a.remove("/payload", "validAfter")),
    ("no validBefore", Error::Refused(Refusal::InvalidPayload), |a| a.remove("/payload", "validBefore")),
    ("no nonce", Error::Refused(Refusal::InvalidPayload), |a| a.remove("/payload", "nonce")),
    ("no signature", Error::Refused(Refusal::InvalidPayload), |a| a.remove("/payload", "signature")),
    ("empty", Error::Refused(Refusal::InvalidPayload), |a| a.credential["payload"] = json!({})),
    ("one more", Error::Refused(Refusal::InvalidPayload), |a| *a.payload("chainId") = json!("8453")),
    ("one renamed", Error::Refused(Refusal::InvalidPayload), |a| {
        a.remove("/payload", "validAfter");
        *a.payload("valid_after") = json!("0");
    }),
    ("as in x402", Error::Refused(Refusal::InvalidPayload), |a| {
        let from = a.payload("from").take();
        a.credential["payload"] =
            json!({ "type": "authorization", "authorization": { "from": from }, "signature": "0x" });
    }),
    ("value is a number", Error::Refused(Refusal::InvalidPayload), |a| *a.payload("value") = json!(500_000)),
    ("value in hexadecimal", Error::Refused(Refusal::InvalidPayload), |a| {
        *a.payload("value") = json!("0x7a120");
    }),
    ("value with a leading zero", Error::Refused(Refusal::InvalidPayload), |a| {
        *a.payload("value") = json!("0500000");
    }),
    ("value with a fraction", Error::Refused(Refusal::InvalidPayload), |a| {
        *a.payload("value") = json!("500000.0");
    }),
    ("a negative time", Error::Refused(Refusal::InvalidPayload), |a| *a.payload("validAfter") = json!("-1")),
    ("a short nonce", Error::Refused(Refusal::InvalidPayload), |a| *a.payload("nonce") = json!("0x4e6d")),
    ("a nonce without 0x", Error::Refused(Refusal::InvalidPayload), |a| {
        *a.payload("nonce") = json!(&vector("nonce")[2..]);
    }),
    ("from is a name", Error::Refused(Refusal::InvalidPayload), |a| {
        *a.payload("from") = json!("vitalik.eth");
    }),
    ("to is too short", Error::Refused(Refusal::InvalidPayload), |a| *a.payload("to") = json!("0x2096")),
    ("signature is not hexadecimal", Error::Refused(Refusal::InvalidPayload), |a| {
        *a.payload("signature") = json!("0xzz");
    }),
    ("signature without 0x", Error::Refused(Refusal::InvalidPayload), |a| {
        *a.payload("signature") = json!(&vector("signature")[2..]);
    }),
];

pub(super) const OTHER: &[Case] = &[
    ("a nonce of its own", Error::NonceMismatch, |a| {
        a.sign(&payer(), &offer(), [3; 32], (0, EXPIRES));
    }),
    ("a nonce changed", Error::NonceMismatch, |a| {
        *a.payload("nonce") = json!(vector("nonce").replace("0x4e", "0x4f"));
    }),
    ("the answer to another challenge", Error::NonceMismatch, |a| {
        let first = a.credential["payload"].clone();
        a.answer_anew();
        a.credential["payload"] = first;
    }),
    ("to another recipient", Error::Refused(Refusal::RecipientMismatch), |a| {
        let offer = offer_of(8453, usdc(), EvmAddress([9; 20]));
        a.sign(&payer(), &offer, nonce(), (0, EXPIRES));
    }),
    ("valid for longer", Error::ExpiryMismatch, |a| {
        a.sign(&payer(), &offer(), nonce(), (0, EXPIRES + 1));
    }),
    ("valid for less long", Error::ExpiryMismatch, |a| {
        a.sign(&payer(), &offer(), nonce(), (0, EXPIRES - 1));
    }),
    ("valid for ever", Error::ExpiryMismatch, |a| {
        let most = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
        *a.payload("validBefore") = json!(most);
    }),
    ("not valid yet", Error::Refused(Refusal::NotYetValid), |a| {
        a.sign(&payer(), &offer(), nonce(), (a.now + 1, EXPIRES));
    }),
    ("much too early", Error::Refused(Refusal::ValidTooLong), |a| a.now = EXPIRES - 901),
    ("source is another wallet", Error::SourceMismatch, |a| {
        let other = EvmPayer::new(&[5; 32]).unwrap().address;
        a.credential["source"] = json!(format!("did:pkh:eip155:8453:{other}"));
    }),
    ("source is on another chain", Error::SourceMismatch, |a| {
        a.credential["source"] = json!(format!("did:pkh:eip155:1:{}", vector("payer")));
    }),
    ("source is another kind of DID", Error::SourceMismatch, |a| {
        a.credential["source"] = json!(format!("did:ethr:{}", vector("payer")));
    }),
    ("source is an address", Error::SourceMismatch, |a| a.credential["source"] = json!(vector("payer"))),
    ("source is empty", Error::SourceMismatch, |a| a.credential["source"] = json!("")),
];
