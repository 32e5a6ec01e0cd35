//! Header values that are not credentials, and credentials without the members they must have.

use dropleaf_pay::mpp::CREDENTIAL_BYTES;
use dropleaf_pay::mpp::CredentialError as Error;
use serde_json::json;

use super::Case;
use crate::mpp::attempt::{Attempt, EXPIRES, vector};

impl Attempt {
    /// Sends JSON text as a credential.
    fn send(&mut self, json: impl AsRef<[u8]>) {
        let token = data_encoding::BASE64URL_NOPAD.encode(json.as_ref());
        self.header = Some(format!("Payment {token}"));
    }

    /// Sends a credential whose length needs padding, with it.
    fn send_padded(&mut self) {
        let mut text = self.credential.to_string();
        while text.len().is_multiple_of(3) {
            text.push(' ');
        }
        self.header = Some(format!("Payment {}", data_encoding::BASE64URL.encode(text.as_bytes())));
    }

    /// Changes the header value.
    fn rewrite(&mut self, change: impl FnOnce(String) -> String) {
        self.header = Some(change(self.header()));
    }

    /// Changes the JSON text of the credential.
    fn rewrite_json(&mut self, from: &str, to: &str) {
        let text = self.credential.to_string();
        assert!(text.contains(from));
        self.send(text.replacen(from, to, 1));
    }
}

pub(super) const HEADERS: &[Case] = &[
    ("nothing", Error::WrongScheme, |a| a.header = Some(String::new())),
    ("another scheme", Error::WrongScheme, |a| a.rewrite(|it| it.replace("Payment", "Bearer"))),
    ("a longer scheme", Error::WrongScheme, |a| a.rewrite(|it| it.replace("Payment", "Payments"))),
    ("no space", Error::WrongScheme, |a| a.rewrite(|it| it.replace(' ', ""))),
    ("a tab", Error::WrongScheme, |a| a.rewrite(|it| it.replace(' ', "\t"))),
    ("space first", Error::WrongScheme, |a| a.rewrite(|it| format!(" {it}"))),
    ("no token", Error::InvalidJson, |a| a.header = Some("Payment ".to_owned())),
    ("padding", Error::NotBase64Url, Attempt::send_padded),
    ("standard alphabet", Error::NotBase64Url, |a| a.header = Some("Payment eyI/Ij4+".to_owned())),
    ("space inside", Error::NotBase64Url, |a| a.rewrite(|it| it.replacen("eyJ", "eyJ ", 1))),
    ("space after", Error::NotBase64Url, |a| a.rewrite(|it| format!("{it} "))),
    ("two tokens", Error::NotBase64Url, |a| a.rewrite(|it| format!("{it}, {it}"))),
    ("quoted", Error::NotBase64Url, |a| a.rewrite(|it| it.replace(' ', " \"") + "\"")),
    ("plain JSON", Error::NotBase64Url, |a| a.header = Some(format!("Payment {}", a.credential))),
    ("not ASCII", Error::NotBase64Url, |a| a.rewrite(|it| format!("{it}é"))),
    ("bits left over", Error::NotBase64Url, |a| a.header = Some("Payment e31".to_owned())),
    ("not UTF-8", Error::InvalidJson, |a| a.send(b"{\"challenge\":\"\xff\"}")),
    ("no JSON", Error::InvalidJson, |a| a.send("hello")),
    ("JSON cut off", Error::InvalidJson, |a| a.send(a.credential.to_string().trim_end_matches('}'))),
    ("null", Error::InvalidJson, |a| a.send("null")),
    ("a list", Error::InvalidJson, |a| a.send(format!("[{}]", a.credential))),
    ("a string", Error::InvalidJson, |a| a.send("\"text\"")),
    ("two objects", Error::InvalidJson, |a| a.send(format!("{0}{0}", a.credential))),
    ("byte order mark", Error::InvalidJson, |a| a.send(format!("\u{feff}{}", a.credential))),
    ("deep nesting", Error::InvalidJson, |a| {
        a.send(format!("{{\"a\":{}{}}}", "[".repeat(16), "]".repeat(16)));
    }),
    ("very deep nesting", Error::InvalidJson, |a| a.send(format!("{{\"a\":{}", "[".repeat(10_000)))),
    ("source twice", Error::InvalidJson, |a| a.rewrite_json("{", "{\"source\":\"\",")),
    ("id twice", Error::InvalidJson, |a| {
        a.rewrite_json("\"challenge\":{", "\"challenge\":{\"id\":\"\",");
    }),
    ("value twice", Error::InvalidJson, |a| {
        a.rewrite_json("\"payload\":{", "\"payload\":{\"v\\u0061lue\":\"1\",");
    }),
    ("too large", Error::TooLarge, |a| a.header = Some(format!("Payment {}", "A".repeat(CREDENTIAL_BYTES)))),
    ("a large member", Error::TooLarge, |a| a.credential["more"] = json!("x".repeat(CREDENTIAL_BYTES))),
];

pub(super) const MEMBERS: &[Case] = &[
    ("empty object", Error::InvalidMember, |a| a.credential = json!({})),
    ("no challenge", Error::InvalidMember, |a| a.remove("", "challenge")),
    ("challenge is its id", Error::InvalidMember, |a| a.credential["challenge"] = json!(vector("id"))),
    ("challenge is a list", Error::InvalidMember, |a| a.credential["challenge"] = json!([])),
    ("no payload", Error::InvalidMember, |a| a.remove("", "payload")),
    ("payload is null", Error::InvalidMember, |a| a.credential["payload"] = json!(null)),
    ("payload is text", Error::InvalidMember, |a| a.credential["payload"] = json!(vector("signature"))),
    ("source is null", Error::InvalidMember, |a| a.credential["source"] = json!(null)),
    ("source is an object", Error::InvalidMember, |a| a.credential["source"] = json!({})),
    ("no id", Error::InvalidMember, |a| a.remove("/challenge", "id")),
    ("no realm", Error::InvalidMember, |a| a.remove("/challenge", "realm")),
    ("no method", Error::InvalidMember, |a| a.remove("/challenge", "method")),
    ("no intent", Error::InvalidMember, |a| a.remove("/challenge", "intent")),
    ("no request", Error::InvalidMember, |a| a.remove("/challenge", "request")),
    ("id is a number", Error::InvalidMember, |a| *a.echo("id") = json!(1)),
    ("request decoded", Error::InvalidMember, |a| *a.echo("request") = json!({ "amount": "500000" })),
    ("expires is a number", Error::InvalidMember, |a| *a.echo("expires") = json!(EXPIRES)),
    ("digest is null", Error::InvalidMember, |a| *a.echo("digest") = json!(null)),
    ("opaque decoded", Error::InvalidMember, |a| *a.echo("opaque") = json!({ "route": "POST /publish" })),
    ("header is a flag", Error::InvalidMember, |a| *a.echo("header") = json!(true)),
];
