//! Device login as programs meet it: RFC 8628, and the older paths that end in an API key.

use crate::http::api::{ApiError, ApiState};
use crate::http::extract::client_ip;
use axum::Json;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use dropleaf_app::{DeviceRequest, NewDevice, Polled};
use dropleaf_core::device_login::{self, Kind, LIFE_SECONDS, OWN_CLIENT, POLL_SECONDS};
use dropleaf_core::scope::Scopes;
use dropleaf_core::{Code, Error};
use http::{StatusCode, header};
use http_body_util::{BodyExt, Limited};
use serde_json::{Map, Value, json};
use std::net::IpAddr;
use std::time::Duration;

const LIMIT: usize = 16 * 1024;
const PATIENCE: Duration = Duration::from_secs(10);

/// `POST /device/code`: begins a login that ends in an API key.
pub(super) async fn key_code(State(state): State<ApiState>, request: Request) -> Result<Response, ApiError> {
    let (ip, mut sent) = read(&state, request).await?;
    let client_id = sent.take("client_id")?.unwrap_or_else(|| OWN_CLIENT.to_owned());
    if client_id.len() > 300 {
        return Err(Error::field("client_id", "must be at most 300 characters").into());
    }
    let asked = DeviceRequest {
        client_id,
        client_name: device_login::client_name(sent.take("client_name")?)?,
        kind: Kind::Key,
        scopes: Scopes::ALL,
        resource: state.resolved.hosts.base.url(),
    };
    Ok(begun(&state, &state.app.begin_device(asked, ip).await?))
}

/// `POST /device/token`: asks for the key.
pub(super) async fn key_token(State(state): State<ApiState>, request: Request) -> Result<Response, ApiError> {
    let (_, mut sent) = read(&state, request).await?;
    let Some(code) = sent.take("device_code")? else {
        return Err(Error::new(Code::InvalidRequest, "`device_code` is required.").into());
    };
    Ok(match state.app.poll_device(&code, Kind::Key, None).await? {
        Polled::Key(new) => answer(
            StatusCode::OK,
            json!({
                "access_token": new.secret, "token_type": "Bearer", "scope": Scopes::ALL.to_string(),
                "key_id": new.key.id, "name": new.key.name,
            }),
        ),
        other => refusal(&other),
    })
}

/// What a program shows its person, and what it keeps to itself.
fn begun(state: &ApiState, new: &NewDevice) -> Response {
    let page = format!("{}/device", state.resolved.hosts.base.url());
    let code = new.login.spelled();
    answer(
        StatusCode::OK,
        json!({
            "device_code": new.device_code, "user_code": code, "verification_uri": page,
            "verification_uri_complete": format!("{page}?user_code={code}"),
            "expires_in": LIFE_SECONDS, "interval": POLL_SECONDS,
        }),
    )
}

/// The names of RFC 8628 §3.5 for a login that gives nothing, or nothing yet.
fn refusal(polled: &Polled) -> Response {
    let (error, why) = match polled {
        Polled::Pending => {
            ("authorization_pending", "Nobody has answered yet; ask again after the interval.")
        }
        Polled::TooSoon => ("slow_down", "That was too soon; wait five seconds longer between questions."),
        Polled::Denied => ("access_denied", "The person said no."),
        Polled::Expired => ("expired_token", "The code has expired; start again."),
        Polled::Unknown | Polled::Key(_) => {
            ("invalid_grant", "The device code is unknown or was used already; start again.")
        }
    };
    answer(StatusCode::BAD_REQUEST, json!({"error": error, "error_description": why}))
}

fn answer(status: StatusCode, body: Value) -> Response {
    (status, [(header::CACHE_CONTROL, "no-store")], Json(body)).into_response()
}

/// What was sent, as JSON or as a form: some clients of the older paths use the one, some the other.
struct Sent(Map<String, Value>);

impl Sent {
    fn take(&mut self, name: &str) -> Result<Option<String>, Error> {
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(Error::field(name, "must be a string")),
        }
    }
}

async fn read(state: &ApiState, request: Request) -> Result<(Option<IpAddr>, Sent), Error> {
    let (parts, body) = request.into_parts();
    let ip = client_ip(&parts, state);
    let bytes = match tokio::time::timeout(PATIENCE, Limited::new(body, LIMIT).collect()).await {
        Ok(Ok(whole)) => whole.to_bytes(),
        Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => {
            return Err(Error::new(Code::TooLarge, format!("The body may be {LIMIT} bytes long.")));
        }
        Ok(Err(_)) => return Err(Error::new(Code::InvalidRequest, "The request body ended early.")),
        Err(_) => return Err(Error::plain(Code::RequestTimeout)),
    };
    let kind = parts.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let is_form = kind.is_some_and(|kind| kind.starts_with("application/x-www-form-urlencoded"));
    if !is_form {
        return Ok((ip, Sent(crate::http::extract::json_object(&bytes)?)));
    }
    let mut map = Map::new();
    for (name, value) in form_urlencoded::parse(&bytes) {
        if map.insert(name.clone().into_owned(), value.into_owned().into()).is_some() {
            return Err(Error::new(Code::InvalidRequest, format!("`{name}` was sent twice.")));
        }
    }
    Ok((ip, Sent(map)))
}
