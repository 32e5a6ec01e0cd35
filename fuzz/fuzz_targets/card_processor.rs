//! Parses any bytes as a webhook, an answer of the card processor and a request to its sandbox: no panic, no forged signature,
//! and no answer counts as paid unless it says so. The first byte chooses an endpoint of the sandbox.

#![no_main]

use dropleaf_pay::stripe::sandbox::{Call, CardDetails, Context, FormSubmission, Request};
use dropleaf_pay::stripe::{
    ChargeAnswer, CheckoutState, Event, ExpectedCharge, ExpectedCheckout, Money, ObjectId,
    SharedPaymentToken, read_charge, read_checkout, verify_signature,
};
use libfuzzer_sys::fuzz_target;

const CONTEXT: Context<'_> =
    Context { now: 1_767_225_600, random: [7; 32], form_url: "https://sandbox.test" };
const PATHS: [(&str, &str); 9] = [
    ("POST", "/v1/checkout/sessions"),
    ("GET", "/v1/checkout/sessions/cs_1"),
    ("POST", "/v1/checkout/sessions/cs_1/expire"),
    ("POST", "/v1/payment_intents"),
    ("GET", "/v1/payment_intents/pi_1"),
    ("POST", "/v1/test_helpers/shared_payment/granted_tokens"),
    ("POST", "/v1/test_helpers/shared_payment/granted_tokens/spt_1/revoke"),
    ("GET", "/v1/shared_payment/granted_tokens/spt_1"),
    ("POST", "/v1/refunds"),
];

fuzz_target!(|data: &[u8]| {
    let price = Money::usd_cents(100);
    for status in [200, 400, 402, 404] {
        if let Ok(checkout) = read_checkout(status, data) {
            let paid =
                checkout.judge(&ExpectedCheckout { id: None, reference: "r1", price }) == CheckoutState::Paid;
            assert!(!paid || checkout.amount_total == Some(price));
        }
        let expected = ExpectedCharge { price, request_id: Some("r1"), intent: None };
        let charge = read_charge(status, false, data, &expected);
        assert!(status == 200 || !matches!(charge, ChargeAnswer::Succeeded { .. }));
    }
    let _ = Event::parse(data);

    let Some((&choice, rest)) = data.split_first() else { return };
    let (method, path) = PATHS[usize::from(choice) % PATHS.len()];
    let authorization = Some("Bearer sk_test_x");
    let request = Request { method, path, authorization, idempotency_key: Some("k"), parameters: rest };
    let handled = Call::parse(&request).run(&[], &CONTEXT);
    assert!(handled.status < 500);

    let Ok(text) = str::from_utf8(data) else { return };
    assert!(verify_signature(text, &["whsec_secret"], data, CONTEXT.now).is_err());
    assert!(SharedPaymentToken::parse(text).is_none() || ObjectId::parse(text).is_none());
    let _ = Call::parse(&Request { path: text, authorization: Some(text), ..request }).run(&[], &CONTEXT);
    let card = CardDetails { number: text, expiry: text, cvc: text };
    let _ = FormSubmission { session: text, card, authentication: None }.run(&[], &CONTEXT);
});
