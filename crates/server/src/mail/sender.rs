//! The sender of our emails: `name <address>` or an address alone, in plain ASCII.

use lettre::Address;
use std::fmt;
use std::str::FromStr;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sender {
    name: String,
    pub(super) address: Address,
}

impl FromStr for Sender {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let (name, address) = match text.strip_suffix('>').and_then(|rest| rest.rsplit_once('<')) {
            Some((name, address)) => (name.trim().trim_matches('"'), address),
            None => ("", text),
        };
        // Characters allowed in a name without quotes (RFC 5322, atoms and spaces).
        let plain = |b: u8| b.is_ascii_alphanumeric() || b" !#$%&'*+-/=?^_`{|}~".contains(&b);
        anyhow::ensure!(
            name.bytes().all(plain),
            "the sender's name must be plain letters, digits and spaces"
        );
        anyhow::ensure!(address.is_ascii(), "the sender's address must be ASCII");
        Ok(Self { name: name.to_owned(), address: address.parse()? })
    }
}

impl fmt::Display for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.name.is_empty() {
            write!(f, "{}", self.address)
        } else {
            write!(f, "{} <{}>", self.name, self.address)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Sender;

    #[test]
    fn a_sender_is_an_address_with_or_without_a_name() {
        for (text, shown) in [
            ("mail@example.com", "mail@example.com"),
            (" Our Pages <mail@example.com> ", "Our Pages <mail@example.com>"),
            ("\"Our Pages\" <mail@example.com>", "Our Pages <mail@example.com>"),
            ("dropleaf@localhost", "dropleaf@localhost"),
        ] {
            assert_eq!(text.parse::<Sender>().unwrap().to_string(), shown);
        }
        for bad in
            ["", "nobody", "a@b@c", "x\r\nBcc: y <a@b.example>", "caf\u{e9} <a@b.example>", "<a@b.example"]
        {
            assert!(bad.parse::<Sender>().is_err(), "{bad}");
        }
    }
}
