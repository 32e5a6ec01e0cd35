//! The parameters of a challenge that its id is bound to. They are kept as text exactly as they were sent, because the
//! binding covers the text and not its meaning.

use serde_json::Value;

use super::credential_error::CredentialError;
use crate::json::Object;

/// Everything in a challenge except its id and its description, which is only for people and not bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Parameters {
    pub(super) realm: String,
    pub(super) method: String,
    pub(super) intent: String,
    pub(super) request: String,
    pub(super) expires: Option<String>,
    pub(super) digest: Option<String>,
    pub(super) opaque: Option<String>,
    /// The header field for the credential, if it is not `Authorization`.
    pub(super) header: Option<String>,
}

impl Parameters {
    /// Reads the parameters that a client returned. The draft says to ignore unknown members, and it is safe: whatever is used
    /// is bound to the id.
    pub(super) fn read(echo: &Object) -> Result<Self, CredentialError> {
        let required = |name| required(echo, name);
        Ok(Self {
            realm: required("realm")?,
            method: required("method")?,
            intent: required("intent")?,
            request: required("request")?,
            expires: optional(echo, "expires")?,
            digest: optional(echo, "digest")?,
            opaque: optional(echo, "opaque")?,
            header: optional(echo, "header")?,
        })
    }

    /// The text that the id authenticates. A missing parameter leaves its place empty, except `header`, which is appended only
    /// if present. `None` if a value contains the separator: then two sets of parameters could have the same text.
    pub(super) fn binding(&self) -> Option<String> {
        let or_empty = |value: &Option<String>| value.clone().unwrap_or_default();
        let mut slots = vec![
            self.realm.clone(),
            self.method.clone(),
            self.intent.clone(),
            self.request.clone(),
            or_empty(&self.expires),
            or_empty(&self.digest),
            or_empty(&self.opaque),
        ];
        slots.extend(self.header.clone());
        let is_unambiguous = slots.iter().all(|slot| !slot.contains('|'));
        is_unambiguous.then(|| slots.join("|"))
    }
}

/// A string member that must be there.
pub(super) fn required(object: &Object, name: &str) -> Result<String, CredentialError> {
    optional(object, name)?.ok_or(CredentialError::InvalidMember)
}

/// A string member that may be absent.
pub(super) fn optional(object: &Object, name: &str) -> Result<Option<String>, CredentialError> {
    match object.get(name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(CredentialError::InvalidMember),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters() -> Parameters {
        Parameters {
            realm: "r".to_owned(),
            method: "m".to_owned(),
            intent: "i".to_owned(),
            request: "q".to_owned(),
            expires: None,
            digest: None,
            opaque: Some("o".to_owned()),
            header: None,
        }
    }

    #[test]
    fn missing_parameters_keep_their_places_and_a_header_comes_last() {
        assert_eq!(parameters().binding().as_deref(), Some("r|m|i|q|||o"));
        let header = Some("Payment-Authorization".to_owned());
        let with_header = Parameters { header, ..parameters() };
        assert_eq!(with_header.binding().as_deref(), Some("r|m|i|q|||o|Payment-Authorization"));
    }

    #[test]
    fn a_value_cannot_imitate_two() {
        let opaque = Some("o|Payment-Authorization".to_owned());
        assert_eq!(Parameters { opaque, ..parameters() }.binding(), None);
        assert_eq!(Parameters { realm: "r|m".to_owned(), ..parameters() }.binding(), None);
    }
}
