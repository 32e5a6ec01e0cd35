//! Challenges that were not issued, or not for this request, this price or this time.

use dropleaf_pay::mpp::CredentialError as Error;
use dropleaf_pay::mpp::{CredentialField, Issuer};
use dropleaf_pay::{Amount, EvmAddress, Offer, Refusal, Token};
use serde_json::{Value, json};

use super::{Case, offer_of, pay_to, usdc};
use crate::mpp::attempt::{Attempt, EXPIRES, nonce, offer, payer, vector};

impl Attempt {
    /// Appends to a parameter of the challenge.
    fn extend(&mut self, name: &str, more: &str) {
        let text = self.echo(name).as_str().unwrap().to_owned();
        *self.echo(name) = json!(text + more);
    }
}

fn encoded(json: &str) -> Value {
    json!(data_encoding::BASE64URL_NOPAD.encode(json.as_bytes()))
}

pub(super) const METHODS: &[Case] = &[
    ("another method", Error::UnsupportedMethod, |a| *a.echo("method") = json!("tempo")),
    ("method in capitals", Error::UnsupportedMethod, |a| *a.echo("method") = json!("EVM")),
    ("no method", Error::UnsupportedMethod, |a| *a.echo("method") = json!("")),
    ("another intent", Error::UnsupportedMethod, |a| *a.echo("intent") = json!("session")),
    ("two places in one", Error::UnsupportedMethod, |a| *a.echo("method") = json!("evm|charge")),
];

pub(super) const CHANGED: &[Case] = &[
    ("another id", Error::UnknownChallenge, |a| {
        *a.echo("id") = json!(vector("id").replace("VtqD", "VtqE"));
    }),
    ("id in other case", Error::UnknownChallenge, |a| *a.echo("id") = json!(vector("id").to_lowercase())),
    ("no id", Error::UnknownChallenge, |a| *a.echo("id") = json!("")),
    ("a longer id", Error::UnknownChallenge, |a| a.extend("id", "AAAA")),
    ("id with padding", Error::UnknownChallenge, |a| a.extend("id", "=")),
    ("id with other last bits", Error::UnknownChallenge, |a| {
        *a.echo("id") = json!(vector("id").replace("y0XY", "y0XZ"));
    }),
    ("part of the id", Error::UnknownChallenge, |a| *a.echo("id") = json!(&vector("id")[..40])),
    ("another realm", Error::UnknownChallenge, |a| *a.echo("realm") = json!("evil.example")),
    ("realm in capitals", Error::UnknownChallenge, |a| *a.echo("realm") = json!("API.HOST.EXAMPLE")),
    ("a lower amount", Error::UnknownChallenge, |a| {
        *a.echo("request") = encoded(&vector("reqJson").replace("500000", "1"));
    }),
    ("another recipient", Error::UnknownChallenge, |a| {
        *a.echo("request") = encoded(&vector("reqJson").replace("0x2096", "0x2097"));
    }),
    ("request written otherwise", Error::UnknownChallenge, |a| {
        *a.echo("request") = encoded(&vector("reqJson").replace(':', ": "));
    }),
    ("request with padding", Error::UnknownChallenge, |a| a.extend("request", "=")),
    ("later expiry", Error::UnknownChallenge, |a| *a.echo("expires") = json!("2031-01-01T00:00:00Z")),
    ("expiry written otherwise", Error::UnknownChallenge, |a| {
        *a.echo("expires") = json!("2030-01-01T00:00:00.000Z");
    }),
    ("no expiry", Error::UnknownChallenge, |a| a.remove("/challenge", "expires")),
    ("another digest", Error::UnknownChallenge, |a| {
        *a.echo("digest") = json!("sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:");
    }),
    ("no digest", Error::UnknownChallenge, |a| a.remove("/challenge", "digest")),
    ("another route", Error::UnknownChallenge, |a| {
        *a.echo("opaque") = encoded(&vector("opaqueJson").replace("publish", "unlock"));
    }),
    ("another random value", Error::UnknownChallenge, |a| {
        *a.echo("opaque") = encoded(&vector("opaqueJson").replacen('A', "B", 1));
    }),
    ("no opaque", Error::UnknownChallenge, |a| a.remove("/challenge", "opaque")),
    ("a header added", Error::UnknownChallenge, |a| {
        *a.echo("header") = json!("Payment-Authorization");
        a.field = CredentialField::PaymentAuthorization;
    }),
    ("an empty header", Error::UnknownChallenge, |a| *a.echo("header") = json!("")),
    ("a header removed", Error::UnknownChallenge, |a| {
        a.field = CredentialField::PaymentAuthorization;
        a.answer_anew();
        a.remove("/challenge", "header");
    }),
    ("a header hidden in another parameter", Error::UnknownChallenge, |a| {
        a.field = CredentialField::PaymentAuthorization;
        a.answer_anew();
        a.remove("/challenge", "header");
        a.extend("opaque", "|Payment-Authorization");
        a.field = CredentialField::Authorization;
    }),
    ("another secret", Error::UnknownChallenge, |a| {
        a.issuer = Issuer::new(vector("realm"), &[7; 32], &[&[8; 32]]).unwrap();
    }),
    ("another server", Error::UnknownChallenge, |a| {
        a.issuer = Issuer::new("other.example", vector("secret").as_bytes(), &[]).unwrap();
    }),
];

pub(super) const ELSEWHERE: &[Case] = &[
    ("sent in the other field", Error::WrongField, |a| a.field = CredentialField::PaymentAuthorization),
    ("not sent in the other field", Error::WrongField, |a| {
        a.field = CredentialField::PaymentAuthorization;
        a.answer_anew();
        a.field = CredentialField::Authorization;
    }),
    ("another endpoint", Error::OtherRoute, |a| a.route = "POST /provision"),
    ("another method of the endpoint", Error::OtherRoute, |a| a.route = "PUT /publish"),
    ("another feature", Error::OtherRoute, |a| {
        a.route = "POST /unlock?feature=a";
        a.answer_anew();
        a.route = "POST /unlock?feature=b";
    }),
    ("another chain", Error::Refused(Refusal::NetworkNotOffered), |a| {
        a.offer = offer_of(84532, Token::usdc(84532).unwrap(), pay_to());
    }),
    ("no longer settled in x402 v2", Error::Refused(Refusal::NetworkNotOffered), |a| a.offer.v2 = false),
    ("another token", Error::TermsChanged, |a| {
        a.offer = offer_of(8453, Token { address: EvmAddress([9; 20]), ..usdc() }, pay_to());
    }),
    ("a token that is neither offered nor USDC", Error::TermsChanged, |a| {
        let token = Token { address: EvmAddress([9; 20]), ..usdc() };
        a.offer = offer_of(8453, token, pay_to());
        a.answer_anew();
        a.offer = offer();
    }),
    ("another recipient", Error::TermsChanged, |a| {
        a.offer = offer_of(8453, usdc(), EvmAddress([9; 20]));
    }),
    ("a lower price", Error::TermsChanged, |a| a.offer.amount = Amount::new(499_999)),
];

pub(super) const BODIES: &[Case] = &[
    ("another body", Error::OtherBody, |a| a.body = "{\"html\":\"<h1>bye</h1>\"}"),
    ("no body", Error::OtherBody, |a| a.body = ""),
];

pub(super) const AMOUNTS: &[Case] = &[
    ("a higher price", Error::PriceIncreased, |a| a.offer.amount = Amount::new(500_001)),
    ("a unit less", Error::Refused(Refusal::AmountMismatch), |a| {
        let less = Offer { amount: Amount::new(499_999), ..offer() };
        a.sign(&payer(), &less, nonce(), (0, EXPIRES));
    }),
    // Only the exact amount can be settled.
    ("a unit more", Error::Refused(Refusal::AmountMismatch), |a| {
        let more = Offer { amount: Amount::new(500_001), ..offer() };
        a.sign(&payer(), &more, nonce(), (0, EXPIRES));
    }),
    ("nothing", Error::Refused(Refusal::AmountMismatch), |a| *a.payload("value") = json!("0")),
];

pub(super) const EXPIRED: &[Case] = &[
    ("too close to its end to settle", Error::Refused(Refusal::Expired), |a| a.now = EXPIRES - 9),
    ("at its end", Error::Refused(Refusal::Expired), |a| a.now = EXPIRES),
    ("a day late", Error::Refused(Refusal::Expired), |a| a.now = EXPIRES + 86_400),
    ("at the end of time", Error::Refused(Refusal::Expired), |a| a.now = i64::MAX),
];
