//! An API key as its owner sees it: never the secret itself.

use crate::scope::Scopes;
use crate::{Code, Error, Result};

/// Keys that one account may have.
pub const MOST: i64 = 100;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    pub id: String,
    pub account_id: String,
    pub name: String,
    pub prefix: String,
    pub created_at: i64,
    pub last_used: Option<i64>,
    /// The grant of the program that made it; it ends with that.
    pub grant_id: Option<String>,
    /// What it allows at most: what the credential did that it was made with.
    pub scopes: Scopes,
}

/// The refusal of one key more.
pub fn too_many() -> Error {
    Error::new(Code::TooMany, format!("An account can have at most {MOST} API keys. Revoke some first."))
}

/// A name for a key: what was asked for, or a default.
pub fn name(asked: Option<&str>) -> Result<String> {
    let name = asked.map_or("API key", str::trim);
    let name = if name.is_empty() { "API key" } else { name };
    if name.chars().count() > 100 || name.chars().any(char::is_control) {
        return Err(Error::field("name", "must be at most 100 characters, without control characters"));
    }
    Ok(name.to_owned())
}
