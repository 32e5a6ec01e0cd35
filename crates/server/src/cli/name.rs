//! Parses arguments that name a page, an account, a payment or an appeal: an id, slug, token, URL or email address. They are
//! declared with `allow_hyphen_values`, because tokens of older pages may start with `-`.

use dropleaf_core::site;

/// Accepts tokens and email addresses that start with a hyphen and refuses any other word that does, so that a mistyped
/// option is not taken for a name.
pub(super) fn parse(text: &str) -> Result<String, String> {
    if !text.starts_with('-') || site::is_token(text) || text.contains('@') {
        return Ok(text.to_owned());
    }
    Err("this is neither a known option nor an ID or token".to_owned())
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn a_leading_hyphen_is_for_tokens_and_addresses_alone() {
        let token = "-2AAAAAAAAAAAAAAAAAAAA";
        for name in ["site_abc", "my-page", "http://localhost/p/x/", token, "-a@example.org"] {
            assert_eq!(parse(name).as_deref(), Ok(name));
        }
        for option in ["-", "--", "-x", "--raeson", "--suspend=yes", "-2AAAAAAAAAAAAAAAAAAAAA"] {
            assert!(parse(option).is_err(), "{option}");
        }
    }
}
