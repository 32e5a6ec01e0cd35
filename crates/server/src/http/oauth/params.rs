//! The parameters of an OAuth request, from its query or its body. A parameter comes once (RFC 6749 §3.1), and an empty
//! one counts as left out.

use super::error::EndpointError;
use crate::http::small_body;
use axum::body::Body;
use dropleaf_core::Error;
use dropleaf_core::oauth::{OAuthCode, OAuthError};
use http::{HeaderMap, header};

/// No request of a program is larger.
const LIMIT: usize = 16 * 1024;

#[derive(Debug)]
pub(in crate::http) struct Params(Vec<(String, String)>);

impl Params {
    pub(in crate::http) fn parse(text: &[u8]) -> Self {
        Self(form_urlencoded::parse(text).into_owned().collect())
    }

    pub(in crate::http) fn find<'a>(&'a self, name: &'a str) -> Result<Option<&'a str>, OAuthError> {
        let mut found = self.all(name);
        match (found.next(), found.next()) {
            (_, Some(_)) => {
                Err(OAuthError::new(OAuthCode::InvalidRequest, format!("{name} is sent more than once.")))
            }
            (found, None) => Ok(found),
        }
    }

    pub(in crate::http) fn required<'a>(&'a self, name: &'a str) -> Result<&'a str, OAuthError> {
        let missing = || OAuthError::new(OAuthCode::InvalidRequest, format!("{name} is missing."));
        self.find(name)?.ok_or_else(missing)
    }

    /// Every value of a parameter that may come several times.
    pub(in crate::http) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let of_name = move |(key, _): &&(String, String)| key == name;
        self.0.iter().filter(of_name).map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }
}

/// The fields of a form that a program sent.
pub(in crate::http) async fn read(headers: &HeaderMap, body: Body) -> Result<Params, EndpointError> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if !kind.to_ascii_lowercase().starts_with("application/x-www-form-urlencoded") {
        let detail = "The body must be application/x-www-form-urlencoded.";
        return Err(OAuthError::new(OAuthCode::InvalidRequest, detail).into());
    }
    Ok(Params::parse(&whole(body).await?))
}

/// A body that is short and comes soon.
pub(super) async fn whole(body: Body) -> Result<bytes::Bytes, Error> {
    small_body::read(body, LIMIT).await
}

#[cfg(test)]
mod tests {
    use super::Params;

    #[test]
    fn a_parameter_comes_once_and_an_empty_one_not_at_all() {
        let params = Params::parse(b"a=1&b=&c=1&c=2&d=x%20y+z&b=");
        assert_eq!(params.find("a").unwrap(), Some("1"));
        assert_eq!(params.find("b").unwrap(), None);
        assert!(params.find("c").is_err());
        assert_eq!(params.required("d").unwrap(), "x y z");
        assert!(params.required("e").is_err());
        assert_eq!(params.all("c").collect::<Vec<_>>(), ["1", "2"]);
    }
}
