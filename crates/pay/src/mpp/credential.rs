//! The credential that answers a challenge, as it arrives in a header field. Parsed strictly here; whether it is worth anything
//! is for [`Issuer::verify`](super::Issuer::verify) to say.

use std::fmt;

use serde_json::Value;

use super::credential_error::CredentialError;
use super::credential_field::CredentialField;
use super::parameters::{Parameters, optional, required};
use super::{SCHEME, encoded_json};
use crate::json::Object;

/// The longest credential accepted; a normal one has 1.5 KB.
pub const CREDENTIAL_BYTES: usize = 16 * 1024;

/// A well-formed credential, not yet verified.
#[derive(Clone, PartialEq)]
pub struct Credential {
    pub(super) field: CredentialField,
    pub(super) id: String,
    pub(super) parameters: Parameters,
    pub(super) payload: Object,
    pub(super) source: Option<String>,
}

/// Whether the value of an `Authorization` field is meant as a payment, well formed or not.
pub fn has_payment_scheme(value: &str) -> bool {
    split_scheme(value).0.eq_ignore_ascii_case(SCHEME)
}

impl Credential {
    /// Parses `Payment <base64url>` from one header field. That a request has more than one credential is
    /// [`CredentialError::TwoCredentials`], which only the caller can detect.
    pub fn parse(field: CredentialField, value: &str) -> Result<Self, CredentialError> {
        if value.len() > CREDENTIAL_BYTES {
            return Err(CredentialError::TooLarge);
        }
        if !has_payment_scheme(value) {
            return Err(CredentialError::WrongScheme);
        }
        let members = encoded_json::decode(split_scheme(value).1)?;
        let object =
            |name| members.get(name).and_then(Value::as_object).ok_or(CredentialError::InvalidMember);
        let challenge = object("challenge")?;
        Ok(Self {
            field,
            id: required(challenge, "id")?,
            parameters: Parameters::read(challenge)?,
            payload: object("payload")?.clone(),
            source: optional(&members, "source")?,
        })
    }
}

/// The scheme, and what follows the spaces after it.
fn split_scheme(value: &str) -> (&str, &str) {
    let (scheme, rest) = value.split_once(' ').unwrap_or((value, ""));
    (scheme, rest.trim_start_matches(' '))
}

/// Keeps credentials out of logs: an unsettled authorization can be used to take the payer's money.
impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credential").field("field", &self.field).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payments_are_told_from_other_credentials() {
        for value in ["Payment e30", "payment e30", "PAYMENT   e30", "Payment", "Payment "] {
            assert!(has_payment_scheme(value), "{value}");
        }
        for value in
            ["", "Bearer e30", "Payments e30", "Paymente30", " Payment e30", "Payment\te30", "Payment,"]
        {
            assert!(!has_payment_scheme(value), "{value}");
        }
    }
}
