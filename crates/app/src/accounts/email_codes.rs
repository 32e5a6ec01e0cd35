//! Eight-digit codes sent by email, shared by the email gate and sign-in. A code is valid for a few minutes and a few
//! attempts.

use crate::app::App;
use dropleaf_core::rate::Rate;
use dropleaf_store::{Stmt, counters};

/// Lifetime of a code in seconds, and the attempts it allows.
pub(crate) const CODE_SECONDS: i64 = 600;
pub(crate) const CODE_ATTEMPTS: i64 = 5;
const DIGITS: usize = 8;

/// Normalizes a typed code; None if it cannot be one. People copy codes with the spaces they see.
pub(crate) fn parse_code(text: &str) -> Option<String> {
    let code: String = text.chars().filter(|c| !c.is_whitespace() && *c != '-').collect();
    (code.len() == DIGITS && code.bytes().all(|b| b.is_ascii_digit())).then_some(code)
}

/// The code as shown in an email.
pub(crate) fn format_code(code: &str) -> String {
    let (first, last) = code.split_at(code.len() / 2);
    format!("{first} {last}")
}

impl App {
    pub(crate) fn new_email_code(&self) -> String {
        // The modulo bias of 64 random bits is negligible.
        let number = u64::from_be_bytes(self.minter.bytes()) % 10_u64.pow(8);
        format!("{number:0DIGITS$}")
    }

    /// Counts one email to an address. The address itself is not stored, only its keyed hash.
    pub(crate) fn count_email_to(&self, rate: &Rate, address: &str, now: i64) -> Stmt {
        counters::take(&self.mailbox_key(rate, address), rate, now)
    }

    /// Takes back the count of an email that was not sent.
    pub(crate) fn uncount_email_to(&self, rate: &Rate, address: &str, now: i64) -> Stmt {
        counters::give_back(&self.mailbox_key(rate, address), rate, now)
    }

    fn mailbox_key(&self, rate: &Rate, address: &str) -> String {
        let mailbox = &self.keys.mac("mailbox", address.as_bytes())[..12];
        let mailbox = mailbox.iter().fold(String::new(), |text, b| format!("{text}{b:02x}"));
        format!("{}:{mailbox}", rate.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_read_as_people_type_them() {
        for good in ["12345678", " 1234 5678\n", "1234-5678"] {
            assert_eq!(parse_code(good).as_deref(), Some("12345678"));
        }
        for bad in ["", "1234567", "123456789", "1234567a", "１２３４５６７８"] {
            assert_eq!(parse_code(bad), None, "{bad}");
        }
        assert_eq!(format_code("12345678"), "1234 5678");
    }
}
