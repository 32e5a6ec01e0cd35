//! A passkey: a key pair on a person's device that signs them in. Only its record and its name; verification is left to the
//! server.

/// The maximum number of passkeys per account.
pub const MOST: i64 = 20;
/// How long a browser may take to register a passkey or sign in with one.
pub const CEREMONY_SECONDS: i64 = 300;
const NAME_CHARS: usize = 60;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passkey {
    pub id: String,
    pub account_id: String,
    /// The credential id assigned by the device.
    pub credential_id: Vec<u8>,
    /// The id under which the device knows the account.
    pub user_handle: Vec<u8>,
    /// The public key and its counter, as serialized by the library.
    pub credential: String,
    pub name: String,
    pub created_at: i64,
    pub last_used_at: Option<i64>,
}

/// The name of a passkey: what the owner typed, or the device it was added on.
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
