//! Builds `Content-Disposition` with a file name (RFC 6266, RFC 8187).

use http::HeaderValue;

/// Download under this name, never display.
pub(in crate::http) fn attachment(name: &str) -> HeaderValue {
    let text = format!("attachment; filename*=UTF-8''{}", coded(name));
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("attachment"))
}

/// Display, and suggest this name for saving. The plain name is for clients that do not support `filename*`.
pub(super) fn inline(name: &str) -> HeaderValue {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-._ ()".contains(c) { c } else { '_' };
    let plain: String = name.chars().map(plain).collect();
    let text = format!("inline; filename=\"{plain}\"; filename*=UTF-8''{}", coded(name));
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("inline"))
}

fn coded(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._".contains(&byte) {
            text.push(char::from(byte));
        } else {
            let hex = |digit: u8| char::from(b"0123456789ABCDEF"[usize::from(digit)]);
            text.extend(['%', hex(byte >> 4), hex(byte & 15)]);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_coded_so_that_none_ends_the_header() {
        assert_eq!(attachment("setup.exe"), "attachment; filename*=UTF-8''setup.exe");
        assert_eq!(attachment("ü \"x\".exe"), "attachment; filename*=UTF-8''%C3%BC%20%22x%22.exe");
        assert_eq!(
            inline("a\r\n\"b.pdf"),
            "inline; filename=\"a___b.pdf\"; filename*=UTF-8''a%0D%0A%22b.pdf"
        );
    }

    #[test]
    fn a_shown_file_has_a_plain_name_and_its_own() {
        assert_eq!(
            inline("Übersicht (1).pdf"),
            "inline; filename=\"_bersicht (1).pdf\"; filename*=UTF-8''%C3%9Cbersicht%20%281%29.pdf"
        );
    }
}
