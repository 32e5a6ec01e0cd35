//! Credentials: who calls, as a type in the handler's signature. Cookies are never looked at. Spec §5.

use crate::http::Peer;
use crate::http::api::{ApiError, ApiState, Exchange};
use axum::extract::FromRequestParts;
use dropleaf_app::{Caller, Writer};
use dropleaf_core::account::Account;
use dropleaf_core::{Code, Error, network};
use http::header::AUTHORIZATION;
use http::request::Parts;
use std::net::IpAddr;

/// An account that may read.
#[derive(Debug)]
pub(in crate::http) struct Reader(pub Account);

/// An account that may change things.
#[derive(Debug)]
pub(in crate::http) struct Owner(pub Account);

/// Whoever may publish: an account, or nobody in particular with a known address.
#[derive(Debug)]
pub(in crate::http) struct Publisher(pub Caller);

/// Whoever may replace one page: an account, or the holder of its claim token.
#[derive(Debug)]
pub(in crate::http) struct SiteWriter {
    pub writer: Writer,
    pub ip: Option<IpAddr>,
}

/// A credential as it was sent.
enum Credential<'a> {
    None,
    Bearer(&'a str),
    Claim(&'a str),
}

fn credential(parts: &Parts) -> Result<Credential<'_>, Error> {
    let mut values = parts.headers.get_all(AUTHORIZATION).iter();
    let Some(value) = values.next() else { return Ok(Credential::None) };
    let bad = || {
        Error::new(
            Code::InvalidCredential,
            "The Authorization header is not understood; send `Bearer stk_live_…`.",
        )
    };
    if values.next().is_some() {
        return Err(bad());
    }
    let (scheme, rest) = value.to_str().map_err(|_| bad())?.split_once(' ').ok_or_else(bad)?;
    match scheme.to_ascii_lowercase().as_str() {
        "bearer" => Ok(Credential::Bearer(rest.trim())),
        "claim" => Ok(Credential::Claim(rest.trim())),
        _ => Err(bad()),
    }
}

async fn account(parts: &Parts, state: &ApiState) -> Result<Option<Account>, ApiError> {
    match credential(parts)? {
        Credential::None => Ok(None),
        Credential::Claim(_) => {
            Err(Error::new(Code::InvalidCredential, "A claim token works only on PUT /sites/{id}.").into())
        }
        Credential::Bearer(key) => {
            let known = state.app.authenticate(key).await?;
            let (account, key) = &*known;
            let standing = state.app.take_key_request(&key.id, client_ip(parts, state))?;
            if let (Some(standing), Some(exchange)) = (standing, parts.extensions.get::<Exchange>()) {
                exchange.note_standing(standing);
            }
            Ok(Some(account.clone()))
        }
    }
}

async fn required(parts: &Parts, state: &ApiState) -> Result<Account, ApiError> {
    account(parts, state).await?.ok_or_else(|| Error::plain(Code::AuthRequired).into())
}

/// The client's own address; see `core::network`.
pub(in crate::http) fn client_ip(parts: &Parts, state: &ApiState) -> Option<IpAddr> {
    let Peer(peer) = parts.extensions.get::<Peer>()?;
    let forwarded = parts.headers.get_all("x-forwarded-for").iter().filter_map(|value| value.to_str().ok());
    network::client_ip(peer.ip(), forwarded, &state.resolved.trusted_proxies)
}

impl FromRequestParts<ApiState> for Reader {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, ApiError> {
        required(parts, state).await.map(Self)
    }
}

impl FromRequestParts<ApiState> for Owner {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, ApiError> {
        required(parts, state).await.map(Self)
    }
}

impl FromRequestParts<ApiState> for Publisher {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, ApiError> {
        let caller = Caller { account: account(parts, state).await?, ip: client_ip(parts, state) };
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

impl FromRequestParts<ApiState> for SiteWriter {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, ApiError> {
        let ip = client_ip(parts, state);
        let writer = match credential(parts)? {
            Credential::Claim(token) => Writer::Claim(token.to_owned()),
            Credential::None | Credential::Bearer(_) => Writer::Account(required(parts, state).await?),
        };
        Ok(Self { writer, ip })
    }
}
