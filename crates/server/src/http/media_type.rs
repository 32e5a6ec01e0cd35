//! Parses media types in `Content-Type` and `Accept` headers (RFC 9110 §8.3.1, §12.5.1): names are case-insensitive,
//! parameters and surrounding white space are allowed. Every handler that reads one of these headers uses this module.

use super::quality::{self, Weight};
use http::{HeaderMap, header};

pub(in crate::http) const EVENT_STREAM: &str = "text/event-stream";
pub(in crate::http) const FORM: &str = "application/x-www-form-urlencoded";
pub(in crate::http) const FORM_DATA: &str = "multipart/form-data";
pub(in crate::http) const HTML: &str = "text/html";
pub(in crate::http) const JSON: &str = "application/json";
pub(in crate::http) const MARKDOWN: &str = "text/markdown";

/// The media type of a body, without its parameters.
#[derive(Debug, Clone, Copy)]
pub(in crate::http) struct MediaType<'a>(&'a str);

impl<'a> MediaType<'a> {
    /// The media type of `Content-Type`. None if it is absent, repeated or invalid.
    pub(in crate::http) fn of(headers: &'a HeaderMap) -> Option<Self> {
        Self::parse(content_type(headers)?)
    }

    fn parse(value: &'a str) -> Option<Self> {
        let essence = value.split(';').next().unwrap_or_default().trim_matches([' ', '\t']);
        let (kind, subtype) = essence.split_once('/')?;
        (is_token(kind) && is_token(subtype)).then_some(Self(essence))
    }

    pub(in crate::http) fn is(self, name: &str) -> bool {
        self.0.eq_ignore_ascii_case(name)
    }
}

/// The value of `Content-Type`; None if it is repeated.
fn content_type(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(header::CONTENT_TYPE).iter();
    values.next().filter(|_| values.next().is_none())?.to_str().ok()
}

/// A parameter of the body's type, such as `boundary`; names are case-insensitive.
pub(in crate::http) fn parameter(headers: &HeaderMap, name: &str) -> Option<String> {
    let mut rest = content_type(headers)?;
    while let Some(at) = unquoted(rest, b';') {
        rest = &rest[at + 1..];
        let whole = &rest[..unquoted(rest, b';').unwrap_or(rest.len())];
        let found = whole.split_once('=').filter(|(found, _)| found.trim().eq_ignore_ascii_case(name));
        if let Some((_, value)) = found {
            return Some(unquote(value.trim()));
        }
    }
    None
}

/// The position of the first `sign` outside of quotes.
fn unquoted(text: &str, sign: u8) -> Option<usize> {
    let (mut in_quotes, mut escaped) = (false, false);
    text.bytes().position(|byte| {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_quotes,
            b'"' => in_quotes = !in_quotes,
            _ => return byte == sign && !in_quotes,
        }
        false
    })
}

/// The value of a quoted string (RFC 9110 §5.6.4); a token is returned unchanged.
fn unquote(value: &str) -> String {
    let Some(inner) = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else {
        return value.to_owned();
    };
    let (mut text, mut escaped) = (String::with_capacity(inner.len()), false);
    for character in inner.chars() {
        if character == '\\' && !escaped {
            escaped = true;
        } else {
            escaped = false;
            text.push(character);
        }
    }
    text
}

/// Whether `Content-Type` is this type.
pub(in crate::http) fn is(headers: &HeaderMap, name: &str) -> bool {
    MediaType::of(headers).is_some_and(|kind| kind.is(name))
}

/// The weight of a type that `Accept` names; zero if it is not named, or only by a wildcard.
pub(in crate::http) fn accept_weight(headers: &HeaderMap, name: &str) -> Weight {
    let values = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let items = values.flat_map(quality::items);
    let named = items.filter(|item| MediaType::parse(item.name).is_some_and(|kind| kind.is(name)));
    named.map(|item| item.weight).max().unwrap_or(Weight::ZERO)
}

/// Whether `Accept` names this type with a weight above zero.
pub(in crate::http) fn accepts(headers: &HeaderMap, name: &str) -> bool {
    accept_weight(headers, name) > Weight::ZERO
}

/// RFC 9110 §5.6.2.
fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn headers(name: &header::HeaderName, values: &[&'static str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(name.clone(), HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn a_type_is_the_same_in_any_case_and_with_any_parameters() {
        for same in [
            "application/json",
            "Application/JSON",
            " application/json ",
            "application/json;charset=utf-8",
            "application/json ; charset=\"utf-8\"",
            "APPLICATION/JSON\t;\tCharset=UTF-8",
            "application/json;",
        ] {
            assert!(is(&headers(&header::CONTENT_TYPE, &[same]), JSON), "{same}");
        }
        for other in [
            "",
            "application",
            "application/",
            "/json",
            "application/jsonp",
            "application/json-seq",
            "application/json, text/html",
            "application /json",
            "text/plain; a=application/json",
            "json",
        ] {
            assert!(!is(&headers(&header::CONTENT_TYPE, &[other]), JSON), "{other}");
        }
        assert!(!is(&HeaderMap::new(), JSON));
        assert!(!is(&headers(&header::CONTENT_TYPE, &["application/json", "text/html"]), JSON));
    }

    #[test]
    fn parameters_are_found_whatever_is_around_them() {
        for (sent, boundary) in [
            ("multipart/form-data; boundary=XX", Some("XX")),
            ("multipart/form-data ; boundary=XX", Some("XX")),
            ("multipart/form-data;Boundary = \"X X\" ; a=b", Some("X X")),
            ("multipart/form-data; a=\"; boundary=no\"; boundary=XX", Some("XX")),
            (r#"multipart/form-data; boundary="a\"b\\c;d""#, Some(r#"a"b\c;d"#)),
            ("multipart/form-data; boundary=", Some("")),
            ("multipart/form-data; xboundary=XX", None),
            ("multipart/form-data; boundary", None),
            ("multipart/form-data", None),
        ] {
            let found = parameter(&headers(&header::CONTENT_TYPE, &[sent]), "boundary");
            assert_eq!(found.as_deref(), boundary, "{sent}");
        }
    }

    #[test]
    fn a_client_accepts_what_it_names_unless_its_weight_is_zero() {
        let accepts = |values: &[&'static str]| accepts(&headers(&header::ACCEPT, values), JSON);
        for yes in [
            "application/json",
            "text/html, Application/JSON;q=0.1",
            "application/json; charset=utf-8; q=0.5",
            "text/plain;a=\"x,y\" , application/json",
        ] {
            assert!(accepts(&[yes]), "{yes}");
        }
        assert!(accepts(&["text/html", "application/json"]), "a list may be in several headers");
        for no in [
            "",
            "*/*",
            "application/*",
            "application/json;q=0",
            "application/json;q=0.000",
            "application/jsonp",
            "text/plain;a=\"application/json\"",
            "text/plain;a=\",application/json,\"",
            "application/json;q=nonsense",
        ] {
            assert!(!accepts(&[no]), "{no}");
        }
    }
}
