//! The times in a token or mandate: `iat`, `nbf` and `exp` in seconds since 1970. Clocks may differ by five minutes.

use super::json_member::{self, Object};
use super::refusal::MandateRefusal;

/// How far the clocks of signers may be off.
pub(crate) const SKEW_SECONDS: i64 = 300;

/// Checks the times that are present. Which of them must be present is left to the caller.
pub(crate) fn check(claims: &Object, now: i64) -> Result<(), MandateRefusal> {
    for name in ["iat", "nbf"] {
        if time(claims, name)?.is_some_and(|start| start > now.saturating_add(SKEW_SECONDS)) {
            return Err(MandateRefusal::NotYetValid);
        }
    }
    if time(claims, "exp")?.is_some_and(|end| end <= now.saturating_sub(SKEW_SECONDS)) {
        return Err(MandateRefusal::Expired);
    }
    Ok(())
}

/// Whether a time is present.
pub(crate) fn has(claims: &Object, name: &str) -> bool {
    json_member::optional(claims, name).is_some()
}

fn time(claims: &Object, name: &str) -> Result<Option<i64>, MandateRefusal> {
    let Some(value) = json_member::optional(claims, name) else { return Ok(None) };
    value.as_i64().map(Some).ok_or(MandateRefusal::MalformedMember)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn five_minutes_are_tolerated_and_no_second_more() {
        let at = |claims: serde_json::Value| check(claims.as_object().unwrap(), 10_000);
        for name in ["iat", "nbf"] {
            assert_eq!(at(json!({ name: 10_300 })), Ok(()));
            assert_eq!(at(json!({ name: 10_301 })), Err(MandateRefusal::NotYetValid));
        }
        assert_eq!(at(json!({ "exp": 9_701 })), Ok(()));
        assert_eq!(at(json!({ "exp": 9_700 })), Err(MandateRefusal::Expired));
        assert_eq!(at(json!({ "exp": null })), Ok(()));
        for time in [json!("9999"), json!(9999.5), json!(u64::MAX), json!([1])] {
            assert_eq!(at(json!({ "exp": time })), Err(MandateRefusal::MalformedMember));
        }
        assert_eq!(check(json!({ "iat": i64::MAX, "exp": i64::MAX }).as_object().unwrap(), i64::MAX), Ok(()));
        assert_eq!(
            check(json!({ "exp": i64::MIN }).as_object().unwrap(), i64::MIN),
            Err(MandateRefusal::Expired)
        );
    }
}
