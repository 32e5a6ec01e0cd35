//! A passkey: a key pair that a person's device keeps, and that signs them in. What is checked about it is the server's
//! business; here it is a name and a record.

/// As many as one account may have.
pub const MOST: i64 = 20;
/// How long a browser may take to answer.
pub const CEREMONY_SECONDS: i64 = 300;
const NAME_CHARS: usize = 60;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passkey {
    pub id: String,
    pub account_id: String,
    /// The device's own name for it.
    pub credential_id: Vec<u8>,
    /// What the device calls the account.
    pub user_handle: Vec<u8>,
    /// The public key and its counter, as the library writes them.
    pub credential: String,
    pub name: String,
    pub created_at: i64,
    pub last_used_at: Option<i64>,
}

/// What a passkey is called: what its owner typed, or what it was added with.
pub fn name(typed: &str, device: &str) -> String {
    let clean = |text: &str| -> String {
        let plain: String = text.chars().filter(|c| !c.is_control()).collect();
        plain.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(NAME_CHARS).collect()
    };
    match clean(typed) {
        typed if typed.is_empty() => clean(device),
        typed => typed,
    }
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn a_name_is_one_short_line() {
        assert_eq!(name("  my\n laptop ", "Firefox on Linux"), "my laptop");
        assert_eq!(name(" \t", "Firefox on Linux"), "Firefox on Linux");
        assert_eq!(name(&"x".repeat(100), "").len(), 60);
    }
}
