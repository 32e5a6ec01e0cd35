//! A grant: the access a person gave to an OAuth client. Its codes, tokens and keys end with it.

use crate::scope::Scopes;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    pub id: String,
    pub client_id: String,
    pub client_name: String,
    pub account_id: String,
    pub scopes: Scopes,
    pub resource: String,
    pub created_at: i64,
    pub last_used_at: Option<i64>,
    /// Refreshing cannot extend the grant beyond this time.
    pub ends_at: i64,
    pub revoked_at: Option<i64>,
}

impl Grant {
    pub const fn is_live(&self, now: i64) -> bool {
        self.revoked_at.is_none() && self.ends_at > now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grant_lives_until_it_ends_or_is_revoked() {
        let grant = Grant {
            id: "grant_1".into(),
            client_id: "client_1".into(),
            client_name: "App".into(),
            account_id: "acc_1".into(),
            scopes: Scopes::ALL,
            resource: "https://drop.example".into(),
            created_at: 1,
            last_used_at: None,
            ends_at: 10,
            revoked_at: None,
        };
        assert!(grant.is_live(9) && !grant.is_live(10));
        assert!(!Grant { revoked_at: Some(5), ..grant }.is_live(6));
    }
}
