//! One constraint of an open mandate. A type that is not understood is refused, because it limits what the user agreed to.

use serde_json::Value;

use super::closed_mandate::{ClosedMandate, NamedInstrument};
use super::disclosures::is_hidden;
use super::json_member::{self, Object};
use super::mandate::MandateRequest;
use super::moment;
use super::refusal::MandateRefusal;

/// Whether a closed mandate that answers our request satisfies a constraint.
pub(crate) fn check(
    constraint: &Object,
    closed: &ClosedMandate<'_>,
    request: &MandateRequest<'_>,
    now: i64,
) -> Result<(), MandateRefusal> {
    let malformed = |_| MandateRefusal::MalformedConstraint;
    match json_member::text(constraint, "type").map_err(malformed)? {
        "payment.amount_range" => amount_range(constraint, closed),
        "payment.allowed_payees" => allowed_payees(constraint, closed),
        "payment.allowed_payment_instruments" => allowed_instruments(constraint, closed),
        "payment.execution_date" => execution_date(constraint, now),
        "payment.reference" => {
            let checkout = json_member::text(constraint, "conditional_transaction_id").map_err(malformed)?;
            match request.open_checkout_hash {
                None => Err(MandateRefusal::CheckoutRequired),
                Some(hash) if hash == checkout => Ok(()),
                Some(_) => Err(MandateRefusal::CheckoutMismatch),
            }
        }
        "payment.budget" | "payment.agent_recurrence" => Err(MandateRefusal::HistoryRequired),
        _ => Err(MandateRefusal::UnknownConstraint),
    }
}

fn amount_range(constraint: &Object, closed: &ClosedMandate<'_>) -> Result<(), MandateRefusal> {
    let bound =
        |name| json_member::whole_number(constraint, name).map_err(|_| MandateRefusal::MalformedConstraint);
    let currency =
        json_member::text(constraint, "currency").map_err(|_| MandateRefusal::MalformedConstraint)?;
    let max = bound("max")?;
    let min = if json_member::optional(constraint, "min").is_some() { bound("min")? } else { 0 };
    if closed.amount.currency == currency && (min..=max).contains(&closed.amount.minor) {
        Ok(())
    } else {
        Err(MandateRefusal::AmountNotAllowed)
    }
}

/// The disclosed elements of a list of alternatives. To hide others only narrows the choice, so that is allowed.
fn allowed(constraint: &Object) -> Result<impl Iterator<Item = &Object>, MandateRefusal> {
    let elements =
        json_member::array(constraint, "allowed").map_err(|_| MandateRefusal::MalformedConstraint)?;
    Ok(elements.iter().filter(|element| !is_hidden(element)).filter_map(Value::as_object))
}

fn allowed_payees(constraint: &Object, closed: &ClosedMandate<'_>) -> Result<(), MandateRefusal> {
    // Anyone can use any name or website, so an entry without an id allows nobody.
    let is_allowed = allowed(constraint)?.any(|payee| json_member::text(payee, "id") == Ok(closed.payee_id));
    if is_allowed { Ok(()) } else { Err(MandateRefusal::PayeeNotAllowed) }
}

fn allowed_instruments(constraint: &Object, closed: &ClosedMandate<'_>) -> Result<(), MandateRefusal> {
    let is_allowed = allowed(constraint)?.any(|it| NamedInstrument::read(it) == Ok(closed.instrument));
    if is_allowed { Ok(()) } else { Err(MandateRefusal::InstrumentNotAllowed) }
}

/// The payment is executed now, whatever date the agent writes into the closed mandate.
fn execution_date(constraint: &Object, now: i64) -> Result<(), MandateRefusal> {
    let bound = |name| match json_member::optional(constraint, name) {
        Some(value) => {
            value.as_str().and_then(moment::parse).map(Some).ok_or(MandateRefusal::MalformedConstraint)
        }
        None => Ok(None),
    };
    let is_early = bound("not_before")?.is_some_and(|period| now < *period.start());
    let is_late = bound("not_after")?.is_some_and(|period| now > *period.end());
    if is_early || is_late { Err(MandateRefusal::DateNotAllowed) } else { Ok(()) }
}
