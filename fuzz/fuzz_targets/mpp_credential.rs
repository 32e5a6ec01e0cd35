//! Parses any text as an MPP credential, and damages a valid one: no panic, and whatever is accepted is the payment that was
//! signed. The first byte says whether the damaged credential is the whole JSON or only its payload, which no MAC protects.

#![no_main]

use std::sync::LazyLock;

use dropleaf_pay::mpp::{Credential, CredentialField, Issuer, NewChallenge, PaidRequest, PaymentReceipt};
use dropleaf_pay::payer::{EvmPayer, mpp_challenge};
use dropleaf_pay::{
    Amount, Asset, Checked, EvmAddress, Offer, Resource, SolanaAddress, Terms, Token, facilitator, sandbox,
};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

const NOW: i64 = 1_767_225_620;
const FIELD: CredentialField = CredentialField::Authorization;

static ISSUER: LazyLock<Issuer> = LazyLock::new(|| Issuer::new("api.pages.test", &[7; 32], &[]).unwrap());

static REQUEST: LazyLock<PaidRequest<'static>> = LazyLock::new(|| PaidRequest::new("POST /publish", b"body"));

static TERMS: LazyLock<Terms> = LazyLock::new(|| {
    let asset =
        Asset::Evm { chain_id: 8453, token: Token::usdc(8453).unwrap(), pay_to: EvmAddress([7; 20]) };
    let resource = Resource {
        url: "https://api.pages.test/publish".to_owned(),
        description: String::new(),
        mime_type: "application/json".to_owned(),
    };
    Terms::new(resource, vec![Offer::new(asset, Amount::new(500_000), 60)]).unwrap()
});

static CREDENTIAL: LazyLock<Value> = LazyLock::new(|| {
    let new = NewChallenge {
        offer: &TERMS.offers()[0],
        request: *REQUEST,
        field: FIELD,
        random: [3; 16],
        expires_at: NOW + 60,
        description: Some("A \"page\""),
    };
    let challenge = mpp_challenge(&ISSUER.issue(&new).unwrap().www_authenticate).unwrap();
    EvmPayer::new(&[1; 32]).unwrap().mpp_credential(&challenge, &Token::usdc(8453).unwrap()).unwrap()
});

static PAID: LazyLock<Checked> = LazyLock::new(|| check(&encoded(CREDENTIAL.to_string().as_bytes())).unwrap());

fuzz_target!(|data: &[u8]| {
    judge(&encoded(data));
    if let Ok(text) = str::from_utf8(data) {
        judge(text);
        let _ = PaymentReceipt::parse(text);
    }
    let Some((&choice, damage)) = data.split_first() else { return };
    let whole = choice.is_multiple_of(2);
    let start = if whole { CREDENTIAL.to_string() } else { CREDENTIAL["payload"].to_string() };
    let mut bytes = start.into_bytes();
    for change in damage.chunks_exact(3).take(8) {
        let at = usize::from(u16::from_le_bytes([change[0], change[1]])) % bytes.len();
        bytes[at] = change[2];
    }
    if !whole {
        let prefix = format!("{{\"challenge\":{},\"payload\":", CREDENTIAL["challenge"]);
        bytes = [prefix.as_bytes(), &bytes, b"}"].concat();
    }
    judge(&encoded(&bytes));
});

fn encoded(json: &[u8]) -> String {
    format!("Payment {}", data_encoding::BASE64URL_NOPAD.encode(json))
}

fn check(header: &str) -> Option<Checked> {
    let answered = ISSUER.verify(Credential::parse(FIELD, header).ok()?).ok()?;
    let proof = answered.proof(&TERMS).ok()?;
    answered.check_request(&REQUEST, &TERMS).ok()?;
    let checked = proof.check(&TERMS, NOW).ok()?;
    assert_eq!(proof.recognise(&TERMS).unwrap().key, checked.key);
    Some(checked)
}

fn judge(header: &str) {
    let Some(checked) = check(header) else { return };
    assert!(checked.payer_is_eoa);
    assert_eq!((&checked.key, checked.amount), (&PAID.key, PAID.amount));
    let body = facilitator::build_request(&checked, &TERMS);
    let judged = sandbox::check_request(body.as_bytes(), SolanaAddress([3; 32]), NOW).unwrap();
    assert_eq!(judged.key, checked.key);
}
