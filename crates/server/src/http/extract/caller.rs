//! Extractors for credentials: the caller's permission is a type in the handler's signature. Cookies are never read.
//! Spec §5.

use crate::http::Peer;
use crate::http::api_error::ApiError;
use crate::http::layer::Exchange;
use crate::http::state::ApiState;
use axum::extract::FromRequestParts;
use dropleaf_app::{Caller, Identity, Writer};
use dropleaf_core::account::Account;
use dropleaf_core::error::Fact;
use dropleaf_core::scope::Scope;
use dropleaf_core::{Code, Error, network};
use dropleaf_pay::wallet;
use http::header::AUTHORIZATION;
use http::request::Parts;
use std::net::IpAddr;

/// An account with read access.
#[derive(Debug)]
pub(in crate::http) struct Reader(pub Account);

/// An account with write access.
#[derive(Debug)]
pub(in crate::http) struct Owner(pub Account);

/// An account that may delete what it owns, even while it is suspended. A program deletes only what it may see.
#[derive(Debug)]
pub(in crate::http) struct Remover(pub Identity);

/// An account that may list keys. A program sees only the keys it created.
#[derive(Debug)]
pub(in crate::http) struct KeyReader(pub Identity);

/// An account that may create keys and share tokens, and revoke keys. What a program creates is bound to its grant.
#[derive(Debug)]
pub(in crate::http) struct Maker(pub Identity);

/// A caller that may publish: an account, or an anonymous caller with a known IP address.
#[derive(Debug)]
pub(in crate::http) struct Publisher(pub Caller);

/// A caller that pays or lets a person pay: an account with write access, or anyone.
#[derive(Debug)]
pub(in crate::http) struct Buyer {
    pub account: Option<Account>,
    pub ip: Option<IpAddr>,
}

/// Any caller of the content check. A credential is optional, but verified and counted if present.
#[derive(Debug)]
pub(in crate::http) struct AnyCaller(pub Option<IpAddr>);

/// A caller that appeals against a refusal: an account or an anonymous caller, rate limited.
#[derive(Debug)]
pub(in crate::http) struct Appellant(pub Caller);

/// A caller that may replace one page: an account, the holder of its claim token, or the wallet that paid for it.
#[derive(Debug)]
pub(in crate::http) struct SiteWriter {
    pub writer: Writer,
    /// The grant of the OAuth client that acts for the account, if any.
    pub grant_id: Option<String>,
    pub ip: Option<IpAddr>,
}

/// The credential of the `Authorization` header.
enum Credential<'a> {
    None,
    Bearer(&'a str),
    Claim(&'a str),
    Wallet(&'a str),
}

fn credential(parts: &Parts) -> Result<Credential<'_>, Error> {
    let mut values = parts.headers.get_all(AUTHORIZATION).iter();
    let Some(value) = values.next() else { return Ok(Credential::None) };
    let bad = || {
        Error::new(Code::InvalidCredential, "The Authorization header is invalid. Send `Bearer stk_live_…`.")
    };
    if values.next().is_some() {
        return Err(bad());
    }
    let (scheme, rest) = value.to_str().map_err(|_| bad())?.split_once(' ').ok_or_else(bad)?;
    match scheme.to_ascii_lowercase().as_str() {
        "bearer" => Ok(Credential::Bearer(rest.trim())),
        "claim" => Ok(Credential::Claim(rest.trim())),
        "wallet" => Ok(Credential::Wallet(rest.trim())),
        _ => Err(bad()),
    }
}

/// The bearer token itself, for long-lived connections that verify it again.
pub(in crate::http) fn bearer_text(parts: &Parts) -> Option<String> {
    match credential(parts) {
        Ok(Credential::Bearer(bearer)) => Some(bearer.to_owned()),
        _ => None,
    }
}

/// The identity behind the bearer token, if one was sent. Scopes are not checked here.
pub(in crate::http) async fn bearer(parts: &Parts, state: &ApiState) -> Result<Option<Identity>, ApiError> {
    match credential(parts)? {
        Credential::None => Ok(None),
        Credential::Claim(_) => {
            Err(Error::new(Code::InvalidCredential, "A claim token works only on PUT /sites/{id}.").into())
        }
        Credential::Wallet(_) => {
            let why = "A wallet signature works only on PUT /sites/{id}.";
            Err(Error::new(Code::InvalidCredential, why).into())
        }
        Credential::Bearer(bearer) => {
            let identity = state.app.authenticate_bearer(bearer).await?;
            let standing = state.app.take_request(&identity, client_ip(parts, state)).await?;
            if let (Some(standing), Some(exchange)) = (standing, parts.extensions.get::<Exchange>()) {
                exchange.note_standing(standing);
            }
            Ok(Some(identity))
        }
    }
}

/// The same, but refuses a credential without the scope.
async fn identity(parts: &Parts, state: &ApiState, needs: Scope) -> Result<Option<Identity>, ApiError> {
    let identity = bearer(parts, state).await?;
    if let Some(known) = &identity {
        allow(known, needs)?;
    }
    Ok(identity)
}

/// Checks that the credential has the scope. A suspended account may not write, whatever its scopes.
fn allow(known: &Identity, needs: Scope) -> Result<(), Error> {
    require_scope(known, needs)?;
    if needs == Scope::Write { known.account.check_active() } else { Ok(()) }
}

/// Checks the scope alone, for operations that a suspended account may still run.
pub(in crate::http) fn require_scope(known: &Identity, needs: Scope) -> Result<(), Error> {
    if known.scopes.has(needs) {
        return Ok(());
    }
    let detail = format!("The credential lacks the scope {}.", needs.as_str());
    Err(Error::new(Code::InsufficientScope, detail).with_fact("scope", Fact::Text(needs.as_str().into())))
}

async fn required(parts: &Parts, state: &ApiState, needs: Scope) -> Result<Identity, ApiError> {
    identity(parts, state, needs).await?.ok_or_else(|| Error::plain(Code::AuthRequired).into())
}

/// The client's IP address; see `core::network`.
pub(in crate::http) fn client_ip(parts: &Parts, state: &ApiState) -> Option<IpAddr> {
    let Peer(peer) = parts.extensions.get::<Peer>()?;
    let forwarded = parts.headers.get_all("x-forwarded-for").iter().filter_map(|value| value.to_str().ok());
    network::client_ip(peer.ip(), forwarded, &state.resolved.trusted_proxies)
}

impl FromRequestParts<ApiState> for Buyer {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, ApiError> {
        let known = identity(parts, state, Scope::Write).await?;
        Ok(Self { account: known.map(|known| known.account), ip: client_ip(parts, state) })
    }
}

impl FromRequestParts<ApiState> for Reader {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, ApiError> {
        required(parts, state, Scope::Read).await.map(|known| Self(known.account))
    }
}

impl FromRequestParts<ApiState> for KeyReader {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, ApiError> {
        required(parts, state, Scope::Read).await.map(Self)
    }
}

impl FromRequestParts<ApiState> for Maker {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, ApiError> {
        required(parts, state, Scope::Write).await.map(Self)
    }
}

impl FromRequestParts<ApiState> for Owner {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, ApiError> {
        required(parts, state, Scope::Write).await.map(|known| Self(known.account))
    }
}

impl FromRequestParts<ApiState> for Remover {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, ApiError> {
        let known = bearer(parts, state).await?.ok_or_else(|| Error::plain(Code::AuthRequired))?;
        require_scope(&known, Scope::Write)?;
        Ok(Self(known))
    }
}

impl FromRequestParts<ApiState> for Publisher {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, ApiError> {
        let identity = identity(parts, state, Scope::Write).await?;
        let ip = client_ip(parts, state);
        let anonymous = Caller { account: None, grant_id: None, ip, maker: None };
        let caller = identity.map_or(anonymous, |known| Caller::of(known, ip));
        if caller.account.is_none()
            && let Some(standing) =
                state.app.check_anonymous(&caller, parts.headers.contains_key("idempotency-key")).await?
            && let Some(exchange) = parts.extensions.get::<Exchange>()
        {
            exchange.note_standing(standing);
        }
        Ok(Self(caller))
    }
}

impl FromRequestParts<ApiState> for AnyCaller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, ApiError> {
        bearer(parts, state).await?;
        let ip = client_ip(parts, state);
        state.app.take_check(ip)?;
        Ok(Self(ip))
    }
}

impl FromRequestParts<ApiState> for Appellant {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, ApiError> {
        let identity = identity(parts, state, Scope::Write).await?;
        let ip = client_ip(parts, state);
        let anonymous = Caller { account: None, grant_id: None, ip, maker: None };
        let caller = identity.map_or(anonymous, |known| Caller::of(known, ip));
        state.app.check_appeal_rate(&caller).await?;
        Ok(Self(caller))
    }
}

impl FromRequestParts<ApiState> for SiteWriter {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, ApiError> {
        let ip = client_ip(parts, state);
        let mut grant_id = None;
        let writer = match credential(parts)? {
            Credential::Claim(token) => Writer::Claim(token.to_owned()),
            Credential::Wallet(text) => Writer::Wallet(
                wallet::Credential::parse(text)
                    .map_err(|malformed| Error::new(Code::InvalidCredential, malformed.sentence()))?,
            ),
            Credential::None | Credential::Bearer(_) => {
                let known = required(parts, state, Scope::Write).await?;
                grant_id = known.grant_id;
                Writer::Account(known.account, known.maker)
            }
        };
        Ok(Self { writer, grant_id, ip })
    }
}
