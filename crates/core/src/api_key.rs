//! An API key as its owner sees it, without the secret.

use crate::scope::Scopes;
use crate::{Code, Error, Result};

/// The maximum number of API keys per account.
pub const MOST: i64 = 100;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    pub id: String,
    pub account_id: String,
    pub name: String,
    pub prefix: String,
    pub created_at: i64,
    pub last_used: Option<i64>,
    /// The OAuth grant of the program that created the key; the key is revoked with it.
    pub grant_id: Option<String>,
    /// The most it allows: the scopes of the credential that created it.
    pub scopes: Scopes,
}

/// The error when an account has reached the limit.
pub fn too_many() -> Error {
    Error::new(Code::TooMany, format!("An account can have at most {MOST} API keys. Revoke some first."))
}

/// Validates the requested name of a key, or returns the default.
pub fn name(asked: Option<&str>) -> Result<String> {
    let name = asked.map_or("API key", str::trim);
    let name = if name.is_empty() { "API key" } else { name };
    if name.chars().count() > 100 || name.chars().any(char::is_control) {
        return Err(Error::field("name", "must be at most 100 characters, without control characters"));
    }
    Ok(name.to_owned())
}
