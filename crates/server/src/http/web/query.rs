//! The query of a page's address. Parsing never fails: missing or malformed parameters count as absent.

use axum::extract::FromRequestParts;
use dropleaf_pages::dashboard::Done;
use http::request::Parts;
use std::convert::Infallible;

#[derive(Debug, Default)]
pub(in crate::http) struct Query(Vec<(String, String)>);

impl Query {
    fn parse(text: &str) -> Self {
        Self(form_urlencoded::parse(text.as_bytes()).into_owned().collect())
    }

    /// The first value of a parameter.
    pub(in crate::http) fn find(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The same; empty if absent.
    pub(in crate::http) fn text(&self, name: &str) -> &str {
        self.find(name).unwrap_or_default()
    }

    /// The confirmation that the page shows.
    pub(in crate::http) fn done(&self) -> Option<Done> {
        self.find("done").and_then(Done::parse)
    }
}

impl<S: Sync> FromRequestParts<S> for Query {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::parse(parts.uri.query().unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_queries_are_read_as_far_as_they_go() {
        for (text, next) in [
            ("", None),
            ("next", Some("")),
            ("next=/a&next=/b", Some("/a")),
            ("x=1&next=%2Fa+b", Some("/a b")),
            ("&&=&next=%", Some("%")),
            ("next=%FF", Some("\u{fffd}")),
        ] {
            assert_eq!(Query::parse(text).find("next"), next, "{text}");
        }
        assert_eq!(Query::parse("done=saved").done(), Some(Done::Saved));
        assert_eq!(Query::parse("done=x").done(), None);
    }
}
