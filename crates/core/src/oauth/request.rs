//! Validates an authorization request, after its client and redirect URI have been verified.

use super::client::Client;
use super::params::Params;
use super::{OAuthCode, OAuthError, pkce, resource};
use crate::scope::Scopes;

const STATE_CHARACTERS: usize = 2000;

/// A validated request that waits for the user's consent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessRequest {
    pub client_id: String,
    pub client_name: String,
    pub redirect_uri: String,
    pub scopes: Scopes,
    pub resource: String,
    pub challenge: String,
    pub state: Option<String>,
}

impl AccessRequest {
    /// Validates the parameters of this client's request; `redirect_uri` has already been verified.
    pub fn check(
        client: &Client,
        redirect_uri: &str,
        params: &Params,
        issuer: &str,
    ) -> Result<Self, OAuthError> {
        let bad = |code, detail: &str| Err(OAuthError::new(code, detail));
        let state = params.find("state")?;
        if state.is_some_and(|state| state.len() > STATE_CHARACTERS || state.chars().any(char::is_control)) {
            return bad(OAuthCode::InvalidRequest, "state is too long or contains control characters.");
        }
        if params.required("response_type")? != "code" {
            return bad(OAuthCode::UnsupportedResponseType, "response_type must be code.");
        }
        let challenge = params.required("code_challenge")?;
        if params.find("code_challenge_method")? != Some("S256") {
            return bad(OAuthCode::InvalidRequest, "code_challenge_method must be S256.");
        }
        if !pkce::is_challenge(challenge) {
            return bad(OAuthCode::InvalidRequest, "code_challenge must be a SHA-256 hash in base64url.");
        }
        let Some(scopes) = Scopes::parse(params.find("scope")?.unwrap_or_default()) else {
            return bad(OAuthCode::InvalidScope, "The supported scopes are sites:read and sites:write.");
        };
        let resource = resource::resolve(issuer, params.all("resource"))?;
        if params.is_silent() {
            // Access always requires the user's consent. Whether a user is signed in is not disclosed to the client.
            return bad(OAuthCode::LoginRequired, "The user must sign in and give consent.");
        }
        Ok(Self {
            client_id: client.id.clone(),
            client_name: client.name.clone(),
            redirect_uri: redirect_uri.to_owned(),
            scopes: if scopes.is_empty() { client.scopes } else { scopes },
            resource,
            challenge: challenge.to_owned(),
            state: state.map(str::to_owned),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oauth::client::AuthMethod;

    const ISSUER: &str = "https://drop.example";
    const BACK: &str = "https://app.example/cb";

    fn check(changes: &[(&str, &str)]) -> Result<AccessRequest, OAuthError> {
        let client = Client {
            id: "client_1".into(),
            name: "App".into(),
            uri: None,
            redirect_uris: vec![BACK.into()],
            auth_method: AuthMethod::None,
            scopes: Scopes::parse("sites:read").unwrap(),
            uses_device_codes: false,
            created_at: 7,
        };
        let usual = [
            ("response_type", "code"),
            ("code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"),
            ("code_challenge_method", "S256"),
            ("state", "s"),
        ];
        let kept = usual.into_iter().filter(|(name, _)| !changes.iter().any(|(other, _)| other == name));
        let pairs = kept.chain(changes.iter().copied());
        let params = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        AccessRequest::check(&client, BACK, &params, ISSUER)
    }

    #[test]
    fn what_is_not_asked_for_is_what_the_program_registered() {
        let asked = check(&[]).unwrap();
        assert_eq!(asked.scopes.to_string(), "sites:read");
        assert_eq!((asked.redirect_uri.as_str(), asked.state.as_deref()), (BACK, Some("s")));
        assert_eq!(check(&[("scope", "sites:write")]).unwrap().scopes.to_string(), "sites:write");
    }

    #[test]
    fn nonsense_is_refused_by_its_name() {
        let long = "s".repeat(2001);
        for (name, value, code) in [
            ("state", long.as_str(), OAuthCode::InvalidRequest),
            ("state", "a\u{0}b", OAuthCode::InvalidRequest),
            ("response_type", "token", OAuthCode::UnsupportedResponseType),
            ("response_type", "", OAuthCode::InvalidRequest),
            ("code_challenge", "", OAuthCode::InvalidRequest),
            ("code_challenge", "short", OAuthCode::InvalidRequest),
            ("code_challenge_method", "plain", OAuthCode::InvalidRequest),
            ("code_challenge_method", "", OAuthCode::InvalidRequest),
            ("scope", "sites:admin", OAuthCode::InvalidScope),
            ("resource", "https://evil.example", OAuthCode::InvalidTarget),
            ("prompt", "none", OAuthCode::LoginRequired),
        ] {
            assert_eq!(check(&[(name, value)]).unwrap_err().code, code, "{name}={value}");
        }
        let twice = check(&[("state", "a"), ("state", "b")]);
        assert_eq!(twice.unwrap_err().code, OAuthCode::InvalidRequest);
    }
}
