//! Parses lists in environment variables and flags: comma-separated, or an array as in JSON and TOML.

use anyhow::{Context, Result, bail};
use std::net::Ipv6Addr;

/// The items of a list. An item with a comma in it needs the array form.
pub(super) fn parse(text: &str) -> Result<Vec<String>> {
    let text = text.trim();
    if !is_array(text) {
        let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
        return Ok(items.map(str::to_owned).collect());
    }
    if let Ok(items) = serde_json::from_str(text) {
        return Ok(items);
    }
    let hint = "write a,b or [\"a\", \"b\"]";
    let array: toml::Table = format!("items = {text}").parse().context(hint)?;
    let mut items = array.into_iter();
    match (items.next(), items.next()) {
        (Some((_, value)), None) => value.try_into().context(hint),
        _ => bail!(hint),
    }
}

/// A list may also start with an IPv6 address in brackets: `[::1]:53,[::2]:53`.
fn is_array(text: &str) -> bool {
    let Some(inside) = text.strip_prefix('[') else { return false };
    let address = inside.split(']').next().unwrap_or_default();
    !inside.contains(']') || address.parse::<Ipv6Addr>().is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_in_brackets_are_items() {
        for (text, items) in [
            ("[::1]:53", &["[::1]:53"][..]),
            ("[::1]:53,127.0.0.1:53", &["[::1]:53", "127.0.0.1:53"]),
            ("127.0.0.1:53, [::1]:53", &["127.0.0.1:53", "[::1]:53"]),
            (r#"["[::1]:53", "127.0.0.1:53"]"#, &["[::1]:53", "127.0.0.1:53"]),
        ] {
            assert_eq!(parse(text).unwrap(), items, "{text}");
        }
    }

    #[test]
    fn text_after_an_array_is_refused() {
        assert!(parse("[\"a\"]\nother = 1").is_err());
        assert!(parse("[\"a\"] b").is_err());
    }
}
