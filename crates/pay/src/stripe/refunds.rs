//! The refunds of a payment, as the processor lists them. Their sum is asked for instead of added up from events, because a refund
//! can fail later, and events arrive in any order.

use super::{Money, ObjectId, ReadFault, answer};
use crate::json::Object;
use serde_json::Value;

/// Reads the sum of the refunds of a payment intent that stand: all but those that failed or were canceled. `None` if there are
/// none.
pub fn read_refunds(status: u16, body: &[u8], intent: &ObjectId) -> Result<Option<Money>, ReadFault> {
    let object = answer::object(body);
    let error = object.as_ref().and_then(|it| answer::member(it, "error"));
    match (status, error) {
        (200, _) => sum(&object.unwrap_or_default(), intent).map_err(ReadFault::Unavailable),
        (401 | 403, _) => Err(ReadFault::Misconfigured),
        (404, Some(_)) => Err(ReadFault::NotFound),
        (400 | 402, Some(error)) => Err(ReadFault::Refused { code: answer::code(error, "code") }),
        (409 | 429, _) => Err(ReadFault::Unavailable("the processor is busy")),
        (500..600, _) => Err(ReadFault::Unavailable("the processor failed")),
        _ => Err(ReadFault::Unavailable("the status is not an answer of the processor")),
    }
}

fn sum(list: &Object, intent: &ObjectId) -> Result<Option<Money>, &'static str> {
    let not_refunds = "the answer is not a list of refunds";
    let refunds = list.get("data").and_then(Value::as_array).filter(|_| answer::is_a(list, "list"));
    // A part of the refunds has another sum.
    match list.get("has_more").and_then(Value::as_bool) {
        Some(false) => {}
        Some(true) => return Err("the payment has too many refunds"),
        None => return Err(not_refunds),
    }
    let mut sum: Option<Money> = None;
    for refund in refunds.ok_or(not_refunds)? {
        let refund = refund.as_object().filter(|it| answer::is_a(it, "refund")).ok_or(not_refunds)?;
        if answer::id(refund, "payment_intent").as_ref() != Some(intent) {
            return Err("a refund is of another payment");
        }
        let amount = answer::money(refund, "amount").ok_or(not_refunds)?;
        match answer::text(refund, "status").ok_or(not_refunds)? {
            "failed" | "canceled" => continue,
            _ => {}
        }
        let before = sum.map_or(0, |sum| sum.minor_units);
        if sum.is_some_and(|sum| sum.currency != amount.currency) {
            return Err("the refunds have different currencies");
        }
        sum = Some(Money { minor_units: before.saturating_add(amount.minor_units), ..amount });
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn refund(amount: u64, status: &str) -> Value {
        json!({
            "id": "re_1", "object": "refund", "amount": amount, "currency": "usd", "payment_intent": "pi_1", "status": status,
        })
    }

    fn read(list: &Value) -> Result<Option<Money>, ReadFault> {
        read_refunds(200, list.to_string().as_bytes(), &ObjectId::parse("pi_1").unwrap())
    }

    fn list(refunds: &[Value]) -> Value {
        json!({ "object": "list", "data": refunds, "has_more": false, "url": "/v1/refunds" })
    }

    #[test]
    fn refunds_that_failed_do_not_count() {
        assert_eq!(read(&list(&[])), Ok(None));
        let all = ["succeeded", "pending", "requires_action", "failed", "canceled"];
        let all = all.map(|status| refund(100, status));
        assert_eq!(read(&list(&all)), Ok(Some(Money::usd_cents(300))));
        assert_eq!(read(&list(&all[3..])), Ok(None));
    }

    #[test]
    fn what_may_be_incomplete_or_of_another_payment_is_not_summed() {
        let with = |name: &str, value: Value| {
            let mut refund = refund(100, "succeeded");
            refund[name] = value;
            list(&[refund])
        };
        let mut more = list(&[refund(100, "succeeded")]);
        more["has_more"] = json!(true);
        let mixed = list(&[refund(100, "succeeded"), {
            let mut euro = refund(100, "succeeded");
            euro["currency"] = json!("eur");
            euro
        }]);
        for wrong in [
            json!({}),
            json!({ "object": "list", "data": [] }),
            more,
            mixed,
            with("payment_intent", json!("pi_2")),
            with("payment_intent", Value::Null),
            with("object", json!("charge")),
            with("amount", json!("100")),
            with("status", Value::Null),
        ] {
            assert!(matches!(read(&wrong), Err(ReadFault::Unavailable(_))), "{wrong}");
        }
        let fault = |status| read_refunds(status, b"", &ObjectId::parse("pi_1").unwrap()).unwrap_err();
        assert_eq!(fault(403), ReadFault::Misconfigured);
        assert!(matches!(fault(500), ReadFault::Unavailable(_)));
    }
}
