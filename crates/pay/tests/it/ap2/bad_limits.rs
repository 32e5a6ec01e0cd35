//! Chains in which an agent exceeds what the user allowed.

use dropleaf_pay::ap2::MandateRefusal as Refusal;
use dropleaf_pay::payer::ChainDraft;
use serde_json::{Value, json};

use super::{refused_chains, remove};

/// Puts one constraint in the place of all.
fn constrain(draft: &mut ChainDraft, constraint: &Value) {
    draft.links[0].mandate["constraints"] = json!([constraint]);
    draft.links[0].disclosures.clear();
}

#[test]
fn what_the_user_did_not_allow_is_refused() {
    refused_chains(&[
        ("too much", Refusal::AmountNotAllowed, |it| {
            it.links[0].mandate["constraints"][0]["max"] = json!(99);
        }),
        ("too little", Refusal::AmountNotAllowed, |it| {
            constrain(
                it,
                &json!({ "type": "payment.amount_range", "currency": "USD", "min": 101, "max": 500 }),
            );
        }),
        ("a range in another currency", Refusal::AmountNotAllowed, |it| {
            it.links[0].mandate["constraints"][0]["currency"] = json!("EUR");
        }),
        ("a range without a maximum", Refusal::MalformedConstraint, |it| {
            remove(&mut it.links[0].mandate["constraints"][0], "max");
        }),
        ("a range without a currency", Refusal::MalformedConstraint, |it| {
            remove(&mut it.links[0].mandate["constraints"][0], "currency");
        }),
        ("a range in dollars", Refusal::MalformedConstraint, |it| {
            it.links[0].mandate["constraints"][0]["max"] = json!(100.5);
        }),
        ("other payees", Refusal::PayeeNotAllowed, |it| {
            constrain(it, &json!({ "type": "payment.allowed_payees", "allowed": [{ "id": "host-2" }] }));
        }),
        ("payees by name", Refusal::PayeeNotAllowed, |it| {
            constrain(it, &json!({ "type": "payment.allowed_payees", "allowed": [{ "name": "host-1" }] }));
        }),
        ("no payees", Refusal::PayeeNotAllowed, |it| {
            constrain(it, &json!({ "type": "payment.allowed_payees", "allowed": [] }));
        }),
        ("hidden payees", Refusal::PayeeNotAllowed, |it| it.links[0].disclosures.clear()),
        ("payees as text", Refusal::MalformedConstraint, |it| {
            constrain(it, &json!({ "type": "payment.allowed_payees", "allowed": "host-1" }));
        }),
        ("other instruments", Refusal::InstrumentNotAllowed, |it| {
            let allowed = json!([{ "id": "spt_other", "type": "stripe_spt" }]);
            constrain(it, &json!({ "type": "payment.allowed_payment_instruments", "allowed": allowed }));
        }),
        ("an instrument of another type", Refusal::InstrumentNotAllowed, |it| {
            let allowed = json!([{ "id": "spt_example", "type": "card" }]);
            constrain(it, &json!({ "type": "payment.allowed_payment_instruments", "allowed": allowed }));
        }),
        ("too early", Refusal::DateNotAllowed, |it| {
            constrain(it, &json!({ "type": "payment.execution_date", "not_before": "2026-11-16" }));
        }),
        ("too late, with a false date", Refusal::DateNotAllowed, |it| {
            constrain(it, &json!({ "type": "payment.execution_date", "not_after": "2026-11-14" }));
            it.links[1].mandate["execution_date"] = json!("2026-11-15");
        }),
        ("a date without a zone", Refusal::MalformedConstraint, |it| {
            constrain(it, &json!({ "type": "payment.execution_date", "not_after": "2027-01-01T00:00:00" }));
        }),
        ("a checkout", Refusal::CheckoutRequired, |it| {
            constrain(it, &json!({ "type": "payment.reference", "conditional_transaction_id": "hash" }));
        }),
        ("a budget", Refusal::HistoryRequired, |it| {
            constrain(it, &json!({ "type": "payment.budget", "max": 1000, "currency": "USD" }));
        }),
        ("recurrence", Refusal::HistoryRequired, |it| {
            constrain(it, &json!({ "type": "payment.agent_recurrence", "frequency": "MONTHLY" }));
        }),
        ("an unknown constraint", Refusal::UnknownConstraint, |it| {
            constrain(it, &json!({ "type": "payment.allowed_pisps", "allowed": [] }));
        }),
        ("a constraint without a type", Refusal::MalformedConstraint, |it| constrain(it, &json!({}))),
        ("a constraint as text", Refusal::MalformedConstraint, |it| constrain(it, &json!("none"))),
        ("no constraints", Refusal::MalformedMember, |it| {
            remove(&mut it.links[0].mandate, "constraints");
            it.links[0].disclosures.clear();
        }),
        ("many constraints", Refusal::TooManyConstraints, |it| {
            let range = it.links[0].mandate["constraints"][0].clone();
            it.links[0].mandate["constraints"] = json!(vec![range; 33]);
            it.links[0].disclosures.clear();
        }),
        ("a fixed amount", Refusal::FixedPropertyMismatch, |it| {
            it.links[0].mandate["payment_amount"] = json!({ "amount": 99, "currency": "USD" });
        }),
        ("a fixed payee", Refusal::FixedPropertyMismatch, |it| {
            it.links[0].mandate["payee"] = json!({ "id": "host-2" });
        }),
        ("a fixed instrument", Refusal::FixedPropertyMismatch, |it| {
            it.links[0].mandate["payment_instrument"] = json!({ "id": "spt_other", "type": "stripe_spt" });
        }),
        ("a fixed transaction", Refusal::FixedPropertyMismatch, |it| {
            it.links[0].mandate["transaction_id"] = json!("prov-0002");
        }),
        ("a fixed date", Refusal::FixedPropertyMismatch, |it| {
            it.links[0].mandate["execution_date"] = json!("2026-11-15");
        }),
    ]);
}
