//! An open mandate: the limits within which an agent may close one. Who signed it is checked by [`super::chain`].

use serde_json::Value;

use super::closed_mandate::{ClosedMandate, Money, NamedInstrument};
use super::constraint;
use super::disclosures::{fully_disclosed, is_hidden};
use super::json_member::{self, Object};
use super::mandate::MandateRequest;
use super::refusal::MandateRefusal;

/// In one mandate.
const CONSTRAINTS: usize = 32;

/// Whether the closed mandate stays within an open one: every constraint, and every property that the user has fixed.
pub(crate) fn check(
    open: &Object,
    closed: &ClosedMandate<'_>,
    request: &MandateRequest<'_>,
    now: i64,
) -> Result<(), MandateRefusal> {
    if !keeps_fixed_properties(open, closed)? {
        return Err(MandateRefusal::FixedPropertyMismatch);
    }
    let constraints = json_member::array(open, "constraints")?;
    if constraints.len() > CONSTRAINTS {
        return Err(MandateRefusal::TooManyConstraints);
    }
    for constraint in constraints {
        if is_hidden(constraint) {
            return Err(MandateRefusal::HiddenClaims);
        }
        let members = constraint.as_object().ok_or(MandateRefusal::MalformedConstraint)?;
        constraint::check(fully_disclosed(members)?, closed, request, now)?;
    }
    Ok(())
}

/// An open mandate may contain any property of a closed one, which must then be the same there.
fn keeps_fixed_properties(open: &Object, closed: &ClosedMandate<'_>) -> Result<bool, MandateRefusal> {
    let fixed = |name| match json_member::optional(open, name) {
        Some(value) => value.as_object().map(Some).ok_or(MandateRefusal::MalformedMember),
        None => Ok(None),
    };
    let same_payee = match fixed("payee")? {
        Some(payee) => json_member::text(payee, "id")? == closed.payee_id,
        None => true,
    };
    let same_amount = match fixed("payment_amount")? {
        Some(amount) => Money::read(amount)? == closed.amount,
        None => true,
    };
    let same_instrument = match fixed("payment_instrument")? {
        Some(instrument) => NamedInstrument::read(instrument)? == closed.instrument,
        None => true,
    };
    let same_others = ["transaction_id", "execution_date", "pisp"].iter().all(|name| {
        let fixed: Option<&Value> = json_member::optional(open, name);
        fixed.is_none() || fixed == closed.member(name)
    });
    Ok(same_payee && same_amount && same_instrument && same_others)
}
