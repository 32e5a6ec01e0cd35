//! One error for every floor: a stable code, a sentence for the caller, and what happened inside.
//! The inner source is logged once at the door and never sent.

use crate::Code;
use crate::rate::Standing;
use std::error::Error as StdError;
use std::fmt;

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A further field of the error body, such as the current `updated_at` of a conflict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    Int(i64),
    Text(String),
}

#[derive(Debug)]
pub struct Error {
    pub code: Code,
    /// Sent as `error_description`: says what to do next, holds nothing internal.
    pub detail: String,
    /// Sent beside the two standard fields.
    pub facts: Vec<(&'static str, Fact)>,
    /// Seconds until a retry makes sense; becomes `Retry-After`.
    pub retry_after: Option<i64>,
    /// The rate that is used up, for the `RateLimit` headers.
    pub standing: Option<Box<Standing>>,
    pub source: Option<Box<dyn StdError + Send + Sync>>,
}

impl Error {
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Self {
            code,
            detail: detail.into(),
            facts: Vec::new(),
            retry_after: None,
            standing: None,
            source: None,
        }
    }

    /// The error whose description is the code's own meaning.
    pub fn plain(code: Code) -> Self {
        Self::new(code, code.meaning())
    }

    pub fn not_found(what: &str) -> Self {
        Self::new(Code::NotFound, format!("There is no such {what} here, or it is not yours."))
    }

    pub fn field(name: &str, why: impl fmt::Display) -> Self {
        Self::new(Code::InvalidField, format!("`{name}` {why}."))
    }

    pub fn internal(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self { source: Some(source.into()), ..Self::plain(Code::Internal) }
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
    pub fn with_standing(mut self, standing: Standing) -> Self {
        self.standing = Some(Box::new(standing));
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
