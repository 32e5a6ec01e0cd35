//! The error type of all layers: a stable code, a description for the caller, and the internal source.
//! The source is logged once by the HTTP layer and never sent.

use crate::Code;
use crate::finding::Finding;
use crate::rate::RateLimitStatus;
use std::error::Error as StdError;
use std::fmt;

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An additional field of the error body, such as the current `updated_at` of a conflict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    Int(i64),
    Ints(Vec<i64>),
    Text(String),
    Findings(Vec<Finding>),
}

/// What is wrong, without the API wording of `detail`: for HTML pages, which have their own field labels and remedies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    /// The API field it is about; empty when it is about the whole request.
    pub name: String,
    /// Follows the field name (`must be a number`), or is a complete sentence.
    pub why: String,
}

#[derive(Debug)]
pub struct Error {
    pub code: Code,
    /// Sent as `error_description`: says what to do next and contains nothing internal.
    pub detail: String,
    pub fault: Option<Box<FieldError>>,
    /// Additional fields, sent beside the two standard ones.
    pub facts: Vec<(&'static str, Fact)>,
    /// Seconds until a retry makes sense; sent as `Retry-After`.
    pub retry_after: Option<i64>,
    /// The exhausted rate limit, for the `RateLimit` headers.
    pub rate_limit: Option<Box<RateLimitStatus>>,
    pub source: Option<Box<dyn StdError + Send + Sync>>,
}

impl Error {
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Self {
            code,
            detail: detail.into(),
            fault: None,
            facts: Vec::new(),
            retry_after: None,
            rate_limit: None,
            source: None,
        }
    }

    /// An error whose description is the code's meaning.
    pub fn plain(code: Code) -> Self {
        Self::new(code, code.meaning())
    }

    pub fn not_found(what: &str) -> Self {
        Self::new(Code::NotFound, format!("No such {what}, or you do not have access to it."))
    }

    pub fn field(name: &str, why: impl fmt::Display) -> Self {
        let why = why.to_string();
        Self::new(Code::InvalidField, format!("`{name}` {why}.")).with_fault(name, why)
    }

    /// Like `field`, with a hint on how API clients write the field.
    pub fn field_hinted(name: &str, why: &str, hint: &str) -> Self {
        Self::new(Code::InvalidField, format!("`{name}` {why}; {hint}.")).with_fault(name, why.to_owned())
    }

    /// An empty field has no meaning, and for a protection it is not the same as omitting it.
    pub fn empty_field(name: &str) -> Self {
        Self::field(name, "is empty: omit it or send a value")
    }

    /// A field that the request does not support and that must not be ignored.
    pub fn unknown_field(name: &str, hint: &str) -> Self {
        Self::new(Code::InvalidField, format!("`{name}` is not a known field: {hint}"))
            .with_fault(name, format!("is not a known field: {hint}"))
    }

    /// An exceeded limit: one sentence that states it, another with what API clients can do about it.
    pub fn limit(code: Code, why: String, remedy: &str) -> Self {
        Self::new(code, format!("{why} {remedy}")).with_fault("", why)
    }

    fn with_fault(mut self, name: &str, why: String) -> Self {
        self.fault = Some(Box::new(FieldError { name: name.to_owned(), why }));
        self
    }

    pub fn internal(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self { source: Some(source.into()), ..Self::plain(Code::Internal) }
    }

    /// The findings in the content, when those are the reason.
    pub fn reasons(&self) -> &[Finding] {
        let found = self.facts.iter().find_map(|(name, fact)| match fact {
            Fact::Findings(found) if *name == "reasons" => Some(found.as_slice()),
            _ => None,
        });
        found.unwrap_or_default()
    }

    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    #[must_use]
    pub fn with_fact(mut self, name: &'static str, fact: Fact) -> Self {
        self.facts.push((name, fact));
        self
    }

    #[must_use]
    pub fn with_rate_limit(mut self, standing: RateLimitStatus) -> Self {
        self.rate_limit = Some(Box::new(standing));
        self
    }

    #[must_use]
    pub fn retry_after(mut self, seconds: i64) -> Self {
        self.retry_after = Some(seconds.max(1));
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code.as_str(), self.detail)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_what_is_wrong_without_what_programs_are_told() {
        let fault =
            |error: &Error| error.fault.as_deref().map(|it| (it.name.clone(), it.why.clone())).unwrap();
        let plain = Error::field("title", "is empty");
        assert_eq!(plain.detail, "`title` is empty.");
        assert_eq!(fault(&plain), ("title".into(), "is empty".into()));
        let hinted = Error::field_hinted("expires_at", "is in the past", "it is epoch seconds");
        assert_eq!(hinted.detail, "`expires_at` is in the past; it is epoch seconds.");
        assert_eq!(fault(&hinted), ("expires_at".into(), "is in the past".into()));
        let limit = Error::limit(Code::PlanPageLimit, "The plan holds 3.".into(), "Delete one.");
        assert_eq!(limit.detail, "The plan holds 3. Delete one.");
        assert_eq!(fault(&limit), (String::new(), "The plan holds 3.".into()));
        assert!(Error::plain(Code::NotFound).fault.is_none());
    }
}
