//! OAuth clients: their registration metadata (RFC 7591), and which of it is stored.

use super::{OAuthCode, OAuthError, redirect};
use crate::host::Hosts;
use crate::plain_text;
use crate::scope::Scopes;

const MOST_REDIRECTS: usize = 10;
const NAME_CHARACTERS: usize = 100;
const URL_CHARACTERS: usize = 500;

pub const CODE_GRANT: &str = "authorization_code";
pub const REFRESH_GRANT: &str = "refresh_token";
pub const DEVICE_GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// How a client authenticates at the token endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthMethod {
    /// Not at all: a public client, which cannot keep a secret.
    None,
    Basic,
    Post,
}

impl AuthMethod {
    pub const ALL: [Self; 3] = [Self::None, Self::Basic, Self::Post];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Basic => "client_secret_basic",
            Self::Post => "client_secret_post",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.as_str() == text)
    }
}

/// A registered client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    /// An id of ours, or the URL of the client's metadata document.
    pub id: String,
    pub name: String,
    pub uri: Option<String>,
    pub redirect_uris: Vec<String>,
    pub auth_method: AuthMethod,
    /// The scopes it is granted when a request names none.
    pub scopes: Scopes,
    /// Whether it may also use the device authorization grant.
    pub uses_device_codes: bool,
    pub created_at: i64,
}

/// The client metadata that we read.
#[derive(Debug, Clone, Default)]
pub struct ClientRegistration {
    pub name: Option<String>,
    pub uri: Option<String>,
    pub redirect_uris: Vec<String>,
    pub grant_types: Option<Vec<String>>,
    pub response_types: Option<Vec<String>>,
    pub auth_method: Option<String>,
    pub scope: Option<String>,
}

impl Client {
    /// Whether it may use the authorization code grant.
    pub fn uses_codes(&self) -> bool {
        !self.redirect_uris.is_empty()
    }

    /// Whether responses may be sent to this redirect URI.
    pub fn redirects_to(&self, uri: &str) -> bool {
        self.redirect_uris.iter().any(|registered| redirect::matches(registered, uri))
    }

    pub fn grant_types(&self) -> Vec<&'static str> {
        let mut types = Vec::new();
        if self.uses_codes() {
            types.push(CODE_GRANT);
        }
        types.push(REFRESH_GRANT);
        if self.uses_device_codes {
            types.push(DEVICE_GRANT);
        }
        types
    }

    /// The client's host, when its id is a URL. A name can be made up, a host cannot.
    pub fn document_host(&self) -> Option<String> {
        document_host(&self.id)
    }
}

/// The host of an id that is a URL.
pub fn document_host(id: &str) -> Option<String> {
    id.contains("://").then(|| redirect::shown(id))
}

impl ClientRegistration {
    /// Validates the metadata and returns the client to store, or what is wrong.
    pub fn check(self, id: String, hosts: &Hosts, now: i64) -> Result<Client, OAuthError> {
        let bad = |why: String| OAuthError::new(OAuthCode::InvalidClientMetadata, why);
        let grants = self.grant_types.unwrap_or_else(|| vec![CODE_GRANT.to_owned()]);
        let has = |name: &str| grants.iter().any(|grant| grant == name);
        let (codes, devices) = (has(CODE_GRANT), has(DEVICE_GRANT));
        if !codes && !devices {
            return Err(bad(format!("grant_types must contain {CODE_GRANT} or {DEVICE_GRANT}.")));
        }
        if codes && self.response_types.is_some_and(|types| !types.iter().any(|kind| kind == "code")) {
            return Err(bad("response_types must contain code.".into()));
        }
        let auth_method = match self.auth_method.as_deref() {
            None => AuthMethod::Basic,
            Some(text) => AuthMethod::parse(text).ok_or_else(|| {
                let known = AuthMethod::ALL.map(AuthMethod::as_str).join(", ");
                bad(format!("token_endpoint_auth_method must be one of {known}."))
            })?,
        };
        let redirect_uris = if codes { self.redirect_uris } else { Vec::new() };
        if codes && redirect_uris.is_empty() {
            return Err(OAuthError::new(
                OAuthCode::InvalidRedirectUri,
                "redirect_uris must contain at least one address.",
            ));
        }
        if redirect_uris.len() > MOST_REDIRECTS {
            let most = format!("redirect_uris must contain at most {MOST_REDIRECTS} addresses.");
            return Err(OAuthError::new(OAuthCode::InvalidRedirectUri, most));
        }
        redirect_uris.iter().try_for_each(|uri| redirect::check(uri))?;
        if redirect_uris.iter().any(|uri| redirect::is_ours(uri, hosts)) {
            let ours = "A redirect URI must not point to this server.";
            return Err(OAuthError::new(OAuthCode::InvalidRedirectUri, ours));
        }
        Ok(Client {
            id,
            name: name(self.name.as_deref()).map_err(bad)?,
            uri: self.uri.filter(|uri| uri.starts_with("https://") && uri.len() <= URL_CHARACTERS),
            redirect_uris,
            auth_method,
            scopes: known_scopes(self.scope.as_deref().unwrap_or_default()),
            uses_device_codes: devices,
            created_at: now,
        })
    }
}

/// Validates a name that can be shown on one line.
fn name(given: Option<&str>) -> Result<String, String> {
    let name = given.map(str::trim).filter(|name| !name.is_empty()).unwrap_or("Unnamed app");
    if name.chars().count() > NAME_CHARACTERS {
        return Err(format!("client_name must be at most {NAME_CHARACTERS} characters."));
    }
    if name.chars().any(|c| c.is_control() || plain_text::is_misleading(c)) {
        return Err("client_name must not contain control characters.".into());
    }
    Ok(name.to_owned())
}

/// The known scopes among the requested ones; all scopes when none is known. Unknown ones are left out of the response, as RFC
/// 7591 allows.
fn known_scopes(text: &str) -> Scopes {
    let known: Vec<&str> = text.split(' ').filter(|word| Scopes::parse(word).is_some()).collect();
    Scopes::parse(&known.join(" ")).filter(|scopes| !scopes.is_empty()).unwrap_or(Scopes::ALL)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described() -> ClientRegistration {
        ClientRegistration {
            redirect_uris: vec!["http://127.0.0.1/cb".into()],
            ..ClientRegistration::default()
        }
    }

    fn check(description: ClientRegistration) -> Result<Client, OAuthError> {
        let base = crate::host::Origin::parse("https://drop.example.com").unwrap();
        let hosts = Hosts::new(base.clone(), base, "drop.example.com".into(), true);
        description.check("client_1".into(), &hosts, 7)
    }

    #[test]
    fn what_is_not_said_has_the_defaults_of_the_rfc() {
        let client = check(described()).unwrap();
        assert_eq!(client.auth_method, AuthMethod::Basic);
        assert_eq!(client.scopes, Scopes::ALL);
        assert_eq!(client.grant_types(), [CODE_GRANT, REFRESH_GRANT]);
        assert!(!client.name.is_empty() && client.uses_codes() && !client.uses_device_codes);
    }

    #[test]
    fn scopes_that_exist_are_kept_and_others_left_out() {
        for (asked, kept) in [
            ("sites:read", "sites:read"),
            ("openid sites:write profile", "sites:write"),
            ("openid", "sites:read sites:write"),
            ("", "sites:read sites:write"),
        ] {
            let client = check(ClientRegistration { scope: Some(asked.into()), ..described() }).unwrap();
            assert_eq!(client.scopes.to_string(), kept, "{asked}");
        }
    }

    #[test]
    fn nonsense_is_refused_by_its_name() {
        let metadata = OAuthCode::InvalidClientMetadata;
        let uri = OAuthCode::InvalidRedirectUri;
        let list = |items: &[&str]| items.iter().map(|item| (*item).to_owned()).collect::<Vec<_>>();
        for (description, code) in [
            (ClientRegistration::default(), uri),
            (ClientRegistration { redirect_uris: list(&["javascript:alert(1)"]), ..described() }, uri),
            (
                ClientRegistration { redirect_uris: list(&["https://x.drop.example.com/"]), ..described() },
                uri,
            ),
            (ClientRegistration { redirect_uris: vec!["https://e.org/".into(); 11], ..described() }, uri),
            (ClientRegistration { grant_types: Some(list(&["implicit"])), ..described() }, metadata),
            (ClientRegistration { grant_types: Some(Vec::new()), ..described() }, metadata),
            (ClientRegistration { response_types: Some(list(&["token"])), ..described() }, metadata),
            (ClientRegistration { auth_method: Some("private_key_jwt".into()), ..described() }, metadata),
            (ClientRegistration { name: Some("x".repeat(101)), ..described() }, metadata),
            (ClientRegistration { name: Some("a\u{202e}b".into()), ..described() }, metadata),
            (ClientRegistration { name: Some("a\nb".into()), ..described() }, metadata),
        ] {
            let said = format!("{description:?}");
            assert_eq!(check(description).unwrap_err().code, code, "{said}");
        }
    }

    #[test]
    fn a_device_needs_no_address_to_answer_to() {
        let device = ClientRegistration {
            grant_types: Some(vec![DEVICE_GRANT.into()]),
            ..ClientRegistration::default()
        };
        let client = check(device).unwrap();
        assert!(client.uses_device_codes && !client.uses_codes());
        assert_eq!(client.grant_types(), [REFRESH_GRANT, DEVICE_GRANT]);
        assert!(!client.redirects_to("http://127.0.0.1/cb"));
    }

    #[test]
    fn only_an_id_that_is_an_address_has_a_host() {
        assert_eq!(document_host("https://app.example.org/oauth.json").unwrap(), "app.example.org");
        assert_eq!(document_host("client_aaaaaaaaaaaaaaaaaaaa"), None);
    }
}
