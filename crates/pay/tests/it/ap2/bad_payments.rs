//! Chains that pay something else, or at another time.

use dropleaf_pay::ap2::MandateRefusal as Refusal;
use serde_json::json;

use super::{NOW, refused_chains, remove};

#[test]
fn chains_for_another_occasion_are_refused() {
    refused_chains(&[
        ("another audience", Refusal::AudienceMismatch, |it| {
            it.links[1].claims["aud"] = json!("https://other.example");
        }),
        ("several audiences", Refusal::AudienceMismatch, |it| {
            it.links[1].claims["aud"] = json!(["https://host.example", "https://other.example"]);
        }),
        ("no audience", Refusal::AudienceMismatch, |it| remove(&mut it.links[1].claims, "aud")),
        ("another nonce", Refusal::NonceMismatch, |it| it.links[1].claims["nonce"] = json!("nonce-124")),
        ("no nonce", Refusal::NonceMismatch, |it| remove(&mut it.links[1].claims, "nonce")),
        ("an open mandate that has expired", Refusal::Expired, |it| {
            it.links[0].mandate["exp"] = json!(NOW - 300);
        }),
        ("a root that has expired", Refusal::Expired, |it| it.links[0].claims["exp"] = json!(NOW - 300)),
        ("a closed mandate that has expired", Refusal::Expired, |it| {
            it.links[1].mandate["exp"] = json!(NOW - 300);
        }),
        ("a last token that has expired", Refusal::Expired, |it| it.links[1].claims["exp"] = json!(1)),
        ("a token of the future", Refusal::NotYetValid, |it| it.links[1].claims["iat"] = json!(NOW + 301)),
        ("an open mandate of the future", Refusal::NotYetValid, |it| {
            it.links[0].mandate["iat"] = json!(NOW + 301);
        }),
        ("not before tomorrow", Refusal::NotYetValid, |it| it.links[0].claims["nbf"] = json!(NOW + 86_400)),
        ("no end", Refusal::TimesMissing, |it| remove(&mut it.links[1].mandate, "exp")),
        ("no beginning", Refusal::TimesMissing, |it| remove(&mut it.links[1].claims, "iat")),
        ("a time as text", Refusal::MalformedMember, |it| it.links[1].mandate["exp"] = json!("2030-01-01")),
        ("a time with a fraction", Refusal::MalformedMember, |it| {
            it.links[1].claims["iat"] = json!(1_794_701_900.5);
        }),
    ]);
}

#[test]
fn closed_mandates_for_another_payment_are_refused() {
    refused_chains(&[
        ("another transaction", Refusal::TransactionMismatch, |it| {
            it.links[1].mandate["transaction_id"] = json!("prov-0002");
        }),
        ("another payee", Refusal::PayeeMismatch, |it| {
            it.links[1].mandate["payee"] = json!({ "id": "host-2", "name": "Payee" });
        }),
        ("a payee by name", Refusal::MalformedMember, |it| {
            it.links[1].mandate["payee"] = json!({ "name": "host-1" });
        }),
        ("a cent less", Refusal::AmountMismatch, |it| {
            it.links[1].mandate["payment_amount"]["amount"] = json!(99);
        }),
        ("a cent more", Refusal::AmountMismatch, |it| {
            it.links[1].mandate["payment_amount"]["amount"] = json!(101);
        }),
        ("dollars for cents", Refusal::AmountMismatch, |it| {
            it.links[1].mandate["payment_amount"]["amount"] = json!(1);
        }),
        ("a fraction", Refusal::MalformedMember, |it| {
            it.links[1].mandate["payment_amount"]["amount"] = json!(100.0);
        }),
        ("an amount as text", Refusal::MalformedMember, |it| {
            it.links[1].mandate["payment_amount"]["amount"] = json!("100");
        }),
        ("a negative amount", Refusal::MalformedMember, |it| {
            it.links[1].mandate["payment_amount"]["amount"] = json!(-100);
        }),
        ("another currency", Refusal::CurrencyMismatch, |it| {
            it.links[1].mandate["payment_amount"]["currency"] = json!("EUR");
        }),
        ("a currency in small letters", Refusal::CurrencyMismatch, |it| {
            it.links[1].mandate["payment_amount"]["currency"] = json!("usd");
        }),
        ("a card", Refusal::UnsupportedInstrument, |it| {
            it.links[1].mandate["payment_instrument"]["type"] = json!("card");
        }),
        ("no instrument", Refusal::MalformedMember, |it| {
            remove(&mut it.links[1].mandate, "payment_instrument");
        }),
        ("an empty instrument", Refusal::MalformedMember, |it| {
            it.links[1].mandate["payment_instrument"]["id"] = json!("");
        }),
        ("tomorrow", Refusal::DateNotAllowed, |it| {
            it.links[1].mandate["execution_date"] = json!("2026-11-16");
        }),
        ("some time", Refusal::MalformedMember, |it| it.links[1].mandate["execution_date"] = json!("soon")),
    ]);
}
