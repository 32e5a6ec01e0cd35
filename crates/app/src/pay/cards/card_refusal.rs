//! Why the processor did not charge a card, for the client: a decline of the bank, a token or a request that is not accepted, a
//! payment that the cardholder has to confirm, or our own settings. Nothing was charged in any case.

use crate::pay::PayRefused;
use dropleaf_core::{Code, Error};
use dropleaf_pay::mpp::Problem;

pub(super) const ACTION_REQUIRED: &str = "payment_action_required";
/// Declines that mean the same: the codes of the processor.
const NEEDS_CARDHOLDER: [&str; 3] =
    [ACTION_REQUIRED, "authentication_required", "payment_intent_authentication_failure"];
/// The processor does not accept the token, or another part of the request.
pub(super) const TOKEN_REFUSED: &str = "token_refused";
pub(super) const REQUEST_REFUSED: &str = "request_refused";
/// The reason of a payment that the processor did not take. It can be reserved again.
pub(in crate::pay) const NOT_TAKEN: &str = "processor_misconfigured";
const NOT_TAKEN_RETRY_SECONDS: i64 = 60;

/// The error for a charge that the processor did not take, because our key or a parameter is wrong.
pub(in crate::pay) fn not_taken() -> Error {
    let detail = "The card processor does not accept this server's requests, so nothing was charged. The operator has to correct the \
                  settings. Send the same token again later, or use another protocol: GET /provision lists them.";
    Error::new(Code::ProcessorUnavailable, detail).retry_after(NOT_TAKEN_RETRY_SECONDS)
}

/// Describes a refusal of the processor: nothing was charged. `reason` is ours, or the processor's code of a decline.
pub(in crate::pay) fn card_refused(reason: &str) -> PayRefused {
    let needs_cardholder = NEEDS_CARDHOLDER.contains(&reason);
    let sentence = match reason {
        _ if needs_cardholder => {
            "The bank wants the cardholder to confirm the payment, which is not possible with a token. Nothing was charged. Use a \
             pay link (POST /pay/sessions)."
        }
        TOKEN_REFUSED => {
            "The card processor does not accept this token: it is unknown, expired, revoked, used or too limited. Nothing was \
             charged. Use another token."
        }
        REQUEST_REFUSED => {
            "The card processor does not accept this charge, whatever the token. Nothing was charged. Use a pay link (POST \
             /pay/sessions), or tell the operator."
        }
        "processing_error" => "The card could not be processed. Nothing was charged. Use another token.",
        // Canceled at the processor, left unfinished until it was too late, or decided by an operator.
        "canceled" | "expired" | "refused" => {
            "The payment was not completed. Nothing was charged. Use another token."
        }
        _ => "The bank declined the card. Nothing was charged. Use another token.",
    };
    PayRefused {
        reason: reason.to_owned(),
        sentence: sentence.to_owned(),
        malformed: false,
        receipt: None,
        problem: if needs_cardholder { Problem::PaymentActionRequired } else { Problem::VerificationFailed },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_say_who_refused_and_that_nothing_was_charged() {
        for (reason, who) in [
            (ACTION_REQUIRED, "cardholder to confirm"),
            ("authentication_required", "cardholder to confirm"),
            ("payment_intent_authentication_failure", "cardholder to confirm"),
            (TOKEN_REFUSED, "does not accept this token"),
            (REQUEST_REFUSED, "does not accept this charge"),
            ("processing_error", "could not be processed"),
            ("canceled", "not completed"),
            ("expired", "not completed"),
            ("refused", "not completed"),
            ("card_declined", "bank declined"),
            ("insufficient_funds", "bank declined"),
            ("expired_card", "bank declined"),
            ("unspecified", "bank declined"),
        ] {
            let refused = card_refused(reason);
            assert!(refused.sentence.contains("Nothing was charged."), "{reason}");
            assert!(refused.sentence.contains(who), "{reason}: {}", refused.sentence);
            assert_eq!(refused.reason, reason);
            let is_action = refused.problem == Problem::PaymentActionRequired;
            assert_eq!(is_action, who == "cardholder to confirm", "{reason}");
        }
    }
}
