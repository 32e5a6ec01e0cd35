//! The page shell for a signed-in person.

use super::Person;
use dropleaf_pages::dashboard::{Done, Section, Shell};

impl Person {
    pub(in crate::http) fn shell(&self, section: Section, done: Option<Done>) -> Shell<'_> {
        Shell {
            section,
            // Accounts created by a payment have no address.
            email: Some(self.account.email.as_deref().unwrap_or("no email address")),
            is_operator: self.account.is_operator,
            is_suspended: self.account.suspended.is_some(),
            form_token: &self.form_token,
            done,
        }
    }
}
