//! Authenticates OAuth clients: by id alone, or by id and secret in the header or in the body.

use super::error::EndpointError;
use crate::http::state::ApiState;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dropleaf_core::Minter;
use dropleaf_core::device_login::OWN_CLIENT;
use dropleaf_core::oauth::params::Params;
use dropleaf_core::oauth::{OAuthCode, OAuthError, OAuthFailure};
use http::{HeaderMap, header};

fn unknown() -> OAuthError {
    OAuthError::new(OAuthCode::InvalidClient, "The client is unknown, or its secret is wrong.")
}

/// The id of the client, whose secret is verified if it has one.
pub(in crate::http) async fn authenticate(
    state: &ApiState,
    headers: &HeaderMap,
    params: &Params,
) -> Result<String, EndpointError> {
    let (in_body, secret) = (params.find("client_id")?, params.find("client_secret")?);
    if let Some(value) = headers.get(header::AUTHORIZATION) {
        let refuse = |error: OAuthError| EndpointError::by_header(error.into());
        let (id, header_secret) = value.to_str().ok().and_then(basic).ok_or_else(|| refuse(unknown()))?;
        if secret.is_some() || in_body.is_some_and(|other| other != id) {
            let twice = "The client credentials in the header and the body do not match.";
            return Err(OAuthError::new(OAuthCode::InvalidRequest, twice).into());
        }
        return proved(state, &id, Some(&header_secret)).await.map_err(EndpointError::by_header);
    }
    let id = in_body.ok_or_else(|| {
        OAuthError::new(
            OAuthCode::InvalidClient,
            "client_id is missing, and there is no other client credential.",
        )
    })?;
    Ok(proved(state, id, secret).await?)
}

async fn proved(state: &ApiState, id: &str, secret: Option<&str>) -> Result<String, OAuthFailure> {
    if Minter::is_id("client", id) {
        return Ok(state.app.authenticate_client(id, secret).await?.id);
    }
    // Our own command line has no secret and no redirect address: it can only use device login.
    if id == OWN_CLIENT && secret.is_none() {
        return Ok(id.to_owned());
    }
    // A client with a metadata document has no secret; its codes and tokens are bound to its address.
    let documents = state.resolved.config.oauth.client_documents && id.contains("://");
    if documents && secret.is_none() { Ok(id.to_owned()) } else { Err(unknown().into()) }
}

/// Username and password of `Basic`, each percent-encoded first (RFC 6749 §2.3.1).
fn basic(value: &str) -> Option<(String, String)> {
    let (scheme, coded) = value.split_once(' ')?;
    let plain = scheme.eq_ignore_ascii_case("basic").then(|| STANDARD.decode(coded.trim()).ok())??;
    let plain = String::from_utf8(plain).ok()?;
    let (id, secret) = plain.split_once(':')?;
    Some((decoded(id)?, decoded(secret)?))
}

fn decoded(text: &str) -> Option<String> {
    let coded = format!("x={}", text.replace('&', "%26"));
    form_urlencoded::parse(coded.as_bytes()).next().map(|(_, value)| value.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn basic_credentials_are_percent_decoded() {
        let value = |plain: &str| format!("Basic {}", STANDARD.encode(plain));
        assert_eq!(basic(&value("a:b")).unwrap(), ("a".into(), "b".into()));
        assert_eq!(basic(&value("https%3A%2F%2Fe.org:s%3Aec%26r+t")).unwrap().1, "s:ec&r t");
        for bad in ["Basic", "Basic !!", "Bearer YTpi", &value("no colon")] {
            assert_eq!(basic(bad), None, "{bad}");
        }
    }
}
