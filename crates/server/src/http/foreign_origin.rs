//! Decides which API requests web pages of other origins may send from a visitor's browser: those with a credential (a
//! valid key or an upload address) and those for which the payment is the credential. An anonymous write would count
//! against the visitor's network quota, and on a private network only the visitor can reach the server, so it is
//! refused before the body is read. Programs outside browsers send no `Origin` and are not affected.

use super::api_error::ApiError;
use super::state::ApiState;
use crate::http::extract::bearer_text;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use dropleaf_core::host::{Origin, written_origin};
use dropleaf_core::{Code, Error, upload_ticket};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, header};

const REQUESTS_PRIVATE_NETWORK: &str = "access-control-request-private-network";
/// Checked by the handler of `/mcp`, which accepts nothing without a credential.
const MCP: &str = "/mcp";
/// Sign-in endpoints for programs; browser programs may use them if their origin may call `/mcp`.
const SIGN_IN: [&str; 2] = ["/oauth/", "/device/"];
/// Routes where a key is no credential for a web page: paid routes, which ignore it beside a proof of payment, and those
/// with the credential in the path or in a signature.
const KEYLESS: [&str; 5] = ["/publish", "/provision", "/wallet-auth/", "/uploads/", "/webhooks/stripe"];
/// Routes where a payment is the credential.
const PAID: [&str; 3] = ["/publish", "/provision", "/unlock"];
/// Minimum length after the prefix of an upload ticket; a sealed ticket is longer.
const TICKET_CHARS: usize = 64;

/// Request extension: a web page of another origin sent this request to a paid route. Without a proof of payment it
/// gets the terms and is not counted; otherwise any site could use up its visitors' rate limit.
#[derive(Debug, Clone, Copy)]
pub(in crate::http) struct ForeignOrigin;

/// Refuses a request that a page of another origin sends without a credential.
pub(super) async fn guard(State(state): State<ApiState>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    match check(&state, &parts).await {
        Ok(()) => {
            if PAID.contains(&parts.uri.path()) && is_foreign(&state, &parts) {
                parts.extensions.insert(ForeignOrigin);
            }
            next.run(Request::from_parts(parts, body)).await
        }
        Err(error) => error.into_response(),
    }
}

async fn check(state: &ApiState, parts: &Parts) -> Result<(), ApiError> {
    let reads = matches!(parts.method, Method::GET | Method::HEAD | Method::OPTIONS);
    if reads || parts.uri.path() == MCP || !is_foreign(state, parts) {
        return Ok(());
    }
    let path = parts.uri.path();
    if is_claimed_or_signed(parts) || is_upload_address(path) || is_sold_for_money(state, path) {
        return Ok(());
    }
    let keyless = SIGN_IN.iter().chain(&KEYLESS).any(|prefix| path.starts_with(prefix));
    match bearer_text(parts).filter(|_| !keyless) {
        // Checked here too, in case a route does not check it.
        Some(bearer) => Ok(state.app.authenticate_bearer(&bearer).await.map(|_| ())?),
        None => Err(refused().into()),
    }
}

/// Whether the request replaces a page or a file of it with its claim token or a wallet signature, which the operation
/// verifies.
fn is_claimed_or_signed(parts: &Parts) -> bool {
    let below = parts.uri.path().strip_prefix("/sites/").map(|rest| rest.split_once('/'));
    let writes = match below {
        Some(None) => parts.method == Method::PUT,
        Some(Some((_, rest))) => {
            (rest.starts_with("files/") && matches!(parts.method, Method::PUT | Method::DELETE))
                || (rest == "content" && parts.method == Method::PATCH)
        }
        None => false,
    };
    let scheme =
        parts.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()?.split_once(' '));
    let named = |scheme: &str| ["claim", "wallet"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
    writes && scheme.is_some_and(|(scheme, _)| named(scheme))
}

/// Whether a payment is the credential here: without one the response is the terms and nothing is created. In the
/// sandbox a proof costs nothing, so it does not count as a credential.
fn is_sold_for_money(state: &ApiState, path: &str) -> bool {
    PAID.contains(&path) && state.app.require_payments().is_ok_and(|payments| !payments.is_sandbox())
}

/// Whether this is an upload address: its ticket cannot be guessed, and the operation verifies it.
fn is_upload_address(path: &str) -> bool {
    let is_sealed = |text: &str| {
        text.len() >= TICKET_CHARS
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
    };
    let ticket = path.strip_prefix("/uploads/").and_then(|rest| rest.split('/').next());
    ticket.and_then(|ticket| ticket.strip_prefix(upload_ticket::PREFIX)).is_some_and(is_sealed)
}

/// Checks a CORS preflight. A page of another origin is refused where the request itself would be refused, and always
/// when the request goes from a public site into a private network.
pub(super) fn check_preflight(state: &ApiState, parts: &Parts) -> Result<(), Error> {
    if !is_foreign(state, parts) {
        return Ok(());
    }
    let text = |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok());
    let method = text(header::ACCESS_CONTROL_REQUEST_METHOD.as_str());
    let writes = method.is_some_and(|method| method != "GET" && method != "HEAD");
    let names = text(header::ACCESS_CONTROL_REQUEST_HEADERS.as_str()).unwrap_or_default();
    let sends = |header: &str| names.split(',').any(|name| name.trim().eq_ignore_ascii_case(header));
    let path = parts.uri.path();
    let has_credential = sends("authorization") || is_upload_address(path) || is_sold_for_money(state, path);
    if parts.headers.contains_key(REQUESTS_PRIVATE_NETWORK) || (writes && !has_credential) {
        return Err(refused());
    }
    Ok(())
}

fn refused() -> Error {
    let detail = "Web pages of this origin cannot send this request without a credential. The setting anonymous.origins lists \
                  the allowed origins.";
    Error::new(Code::CrossSite, detail)
}

/// Whether the request comes from a web page that is neither ours nor of an origin the operator allowed.
fn is_foreign(state: &ApiState, parts: &Parts) -> bool {
    let resolved = &state.resolved;
    let base = &resolved.hosts.base;
    let path = parts.uri.path();
    let signs_in = path == MCP || SIGN_IN.iter().any(|prefix| path.starts_with(prefix));
    let requested = requested_origin(&parts.headers, parts, base.scheme);
    let ours = |value: &HeaderValue| {
        let Ok(origin) = value.to_str() else { return false };
        origin.eq_ignore_ascii_case(&base.url())
            || requested.as_ref().is_some_and(|requested| origin.eq_ignore_ascii_case(requested))
            || resolved.hosts.agents.as_ref().is_some_and(|agents| origin.eq_ignore_ascii_case(&agents.url()))
            || resolved.anonymous_origins.allows(origin)
            || (signs_in && is_allowed_origin(origin, base, &resolved.mcp_origins))
    };
    !parts.headers.get_all(header::ORIGIN).iter().all(ours)
}

/// Whether web pages of this origin may call `/mcp` and the sign-in endpoints: our own origin, those the operator listed
/// and, if the server runs on a loopback host, every other loopback origin.
pub(super) fn is_allowed_origin(text: &str, base: &Origin, allowed: &[String]) -> bool {
    let local = |host: &str| matches!(host, "localhost" | "127.0.0.1" | "[::1]");
    let ours = Origin::parse(text)
        .is_some_and(|origin| origin == *base || (local(&base.host) && local(&origin.host)));
    ours || written_origin(text).is_some_and(|origin| allowed.contains(&origin))
}

/// The requested origin, by the host name that was used: a server on this machine has several names, and one for
/// agents. Host names that are not the server's are refused earlier.
fn requested_origin(headers: &HeaderMap, parts: &Parts, scheme: &str) -> Option<String> {
    let host = headers.get(header::HOST).and_then(|value| value.to_str().ok());
    let host = parts.uri.authority().map(http::uri::Authority::as_str).or(host)?;
    Some(format!("{scheme}://{host}"))
}
