//! Device login for programs: RFC 8628, which returns tokens, and the older endpoints, which return an API key.

use super::bodies::{DeviceCodeJson, DeviceForm, DeviceKeyBody, DeviceKeyJson, DeviceTokenBody};
use super::clients::Known;
use super::error::EndpointError;
use super::{client_auth, clients, params};
use crate::http::extract::{Fields, client_ip, json_object};
use crate::http::media_type;
use crate::http::state::ApiState;
use crate::outbound::Asker;
use axum::Json;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use dropleaf_app::{DevicePollResult, DeviceRequest, NewDeviceLogin, Tokens};
use dropleaf_core::device_login::{
    self, DeviceLoginKind, LIFE_SECONDS, OWN_CLIENT, OWN_CLIENT_NAME, POLL_SECONDS,
};
use dropleaf_core::oauth::params::Params;
use dropleaf_core::oauth::{OAuthCode, OAuthError, resource};
use dropleaf_core::scope::Scopes;
use dropleaf_core::{Code, Error};
use serde_json::Map;
use std::net::IpAddr;

const ID_CHARACTERS: usize = 500;

/// Start a login on another device
///
/// RFC 8628: show the user `user_code` and `verification_uri`, then poll `POST /oauth/token` for the tokens. The
/// client ID `dropleaf-cli` needs no registration.
#[utoipa::path(
    post, path = "/oauth/device_authorization", tag = "OAuth", operation_id = "authorizeDevice",
    request_body(content = DeviceForm, content_type = "application/x-www-form-urlencoded"),
    responses((status = 200, description = "The codes", body = DeviceCodeJson)),
    security(()),
)]
pub(super) async fn authorize(
    State(state): State<ApiState>,
    request: Request,
) -> Result<Response, EndpointError> {
    let (parts, body) = request.into_parts();
    let ip = client_ip(&parts, &state);
    let params = params::read(&parts.headers, body).await?;
    let client_id = client_auth::authenticate(&state, &parts.headers, &params).await?;
    let (client_name, usual) = named(&state, &client_id, ip).await?;
    let Some(scopes) = Scopes::parse(params.find("scope")?.unwrap_or_default()) else {
        let detail = "The supported scopes are sites:read and sites:write.";
        return Err(OAuthError::new(OAuthCode::InvalidScope, detail).into());
    };
    let login = DeviceRequest {
        client_id,
        client_name,
        kind: DeviceLoginKind::Tokens,
        scopes: if scopes.is_empty() { usual } else { scopes },
        resource: resource::resolve(&state.resolved.hosts.base.url(), params.all("resource"))?,
    };
    Ok(begun(&state, state.app.start_device_login(login, ip).await?))
}

/// The grant of RFC 8628 §3.4 at the token endpoint.
pub(super) async fn tokens(
    state: &ApiState,
    client_id: &str,
    params: &Params,
) -> Result<Tokens, EndpointError> {
    let code = params.required("device_code")?;
    match state.app.poll_device_login(code, DeviceLoginKind::Tokens, Some(client_id)).await? {
        DevicePollResult::Tokens(tokens) => Ok(*tokens),
        other => Err(refusal(&other).into()),
    }
}

/// The name of the client, and its scopes when it requests none. Our own command line needs no registration; other
/// clients must have registered for device codes.
async fn named(
    state: &ApiState,
    client_id: &str,
    ip: Option<IpAddr>,
) -> Result<(String, Scopes), EndpointError> {
    if client_id == OWN_CLIENT {
        return Ok((OWN_CLIENT_NAME.to_owned(), Scopes::ALL));
    }
    let found = match clients::find(state, client_id).await? {
        Known::Client(client) => Ok(client),
        Known::Nobody(why) => Err(why),
        Known::Described => clients::fetch(state, client_id, Asker::Stranger, ip).await?,
    };
    let client = found.map_err(|_| OAuthError::new(OAuthCode::InvalidClient, "The client is unknown."))?;
    if !client.uses_device_codes {
        let detail = "The client has not registered for the device code grant.";
        return Err(OAuthError::new(OAuthCode::UnauthorizedClient, detail).into());
    }
    Ok((client.name, client.scopes))
}

/// Start a login that returns an API key
///
/// The older form of device login: poll `POST /device/token` for the key. JSON or a form.
#[utoipa::path(
    post, path = "/device/code", tag = "OAuth", operation_id = "createDeviceCode",
    request_body(content(
        (DeviceKeyBody = "application/json"), (DeviceKeyBody = "application/x-www-form-urlencoded"),
    )),
    responses((status = 200, description = "The codes", body = DeviceCodeJson)),
    security(()),
)]
pub(super) async fn key_code(
    State(state): State<ApiState>,
    request: Request,
) -> Result<Response, EndpointError> {
    let (ip, mut fields) = read(&state, request).await?;
    let DeviceKeyBody { client_id, client_name } = fields.take()?;
    let client_id = client_id.value().unwrap_or_else(|| OWN_CLIENT.to_owned());
    if client_id.chars().count() > ID_CHARACTERS || client_id.chars().any(char::is_control) {
        let why = format!("must be at most {ID_CHARACTERS} characters, without control characters");
        return Err(Error::field("client_id", why).into());
    }
    let login = DeviceRequest {
        client_id,
        client_name: device_login::client_name(client_name.value())?,
        kind: DeviceLoginKind::Key,
        scopes: Scopes::ALL,
        resource: state.resolved.hosts.base.url(),
    };
    Ok(begun(&state, state.app.start_device_login(login, ip).await?))
}

/// Poll for the API key of a login
///
/// 400 `authorization_pending` until the user has answered; then the key, once. JSON or a form.
#[utoipa::path(
    post, path = "/device/token", tag = "OAuth", operation_id = "createDeviceToken",
    request_body(content(
        (DeviceTokenBody = "application/json"), (DeviceTokenBody = "application/x-www-form-urlencoded"),
    )),
    responses((status = 200, description = "The key, shown once", body = DeviceKeyJson)),
    security(()),
)]
pub(super) async fn key_token(
    State(state): State<ApiState>,
    request: Request,
) -> Result<Response, EndpointError> {
    let (ip, mut fields) = read(&state, request).await?;
    state.app.take_token_request(ip).await?;
    let DeviceTokenBody { device_code } = fields.take()?;
    let Some(code) = device_code.value() else {
        return Err(OAuthError::new(OAuthCode::InvalidRequest, "device_code is missing.").into());
    };
    match state.app.poll_device_login(&code, DeviceLoginKind::Key, None).await? {
        DevicePollResult::Key(new) => Ok(Json(DeviceKeyJson {
            access_token: new.secret,
            token_type: "Bearer",
            scope: Scopes::ALL.to_string(),
            key_id: new.key.id,
            name: new.key.name,
        })
        .into_response()),
        other => Err(refusal(&other).into()),
    }
}

/// The response with both codes.
fn begun(state: &ApiState, new: NewDeviceLogin) -> Response {
    let page = format!("{}/device", state.resolved.hosts.base.url());
    let code = new.login.formatted_user_code();
    Json(DeviceCodeJson {
        device_code: new.device_code,
        verification_uri_complete: format!("{page}?user_code={code}"),
        user_code: code,
        verification_uri: page,
        expires_in: LIFE_SECONDS,
        interval: POLL_SECONDS,
    })
    .into_response()
}

/// The error code of RFC 8628 §3.5 for a login without a result.
fn refusal(polled: &DevicePollResult) -> OAuthError {
    let (code, detail) = match polled {
        DevicePollResult::Pending => {
            (OAuthCode::AuthorizationPending, "The user has not answered yet. Poll again after the interval.")
        }
        DevicePollResult::SlowDown => {
            (OAuthCode::SlowDown, "Polling too fast. Wait five seconds longer between requests.")
        }
        DevicePollResult::Denied => (OAuthCode::AccessDenied, "The user denied the request."),
        DevicePollResult::Expired => (OAuthCode::ExpiredToken, "The code has expired. Start again."),
        DevicePollResult::Unknown | DevicePollResult::Key(_) | DevicePollResult::Tokens(_) => {
            (OAuthCode::InvalidGrant, "The device code is unknown or was already used. Start again.")
        }
    };
    OAuthError::new(code, detail)
}

/// Reads the body, from JSON or a form: clients of the older endpoints send either.
async fn read(state: &ApiState, request: Request) -> Result<(Option<IpAddr>, Fields), Error> {
    let (parts, body) = request.into_parts();
    let ip = client_ip(&parts, state);
    let bytes = params::whole(body).await?;
    if !media_type::is(&parts.headers, media_type::FORM) {
        return Ok((ip, Fields::new(json_object(&bytes)?)));
    }
    let mut map = Map::new();
    for (name, value) in form_urlencoded::parse(&bytes) {
        if map.insert(name.clone().into_owned(), value.into_owned().into()).is_some() {
            return Err(Error::new(Code::InvalidRequest, format!("`{name}` was sent twice.")));
        }
    }
    Ok((ip, Fields::new(map)))
}
