//! Middleware around every API request: the headers that open a response to all origins, CORS preflights, and the
//! challenge of a refused credential. Also answers requests that no route matches.

use crate::http::api_error::ApiError;
use crate::http::challenge::{self, Challenge};
use crate::http::error::{self, Wants};
use crate::http::foreign_origin;
use crate::http::layer::run_handler;
use crate::http::state::ApiState;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use dropleaf_core::{Code, Error};
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};

pub(in crate::http) async fn exchange(
    State(state): State<ApiState>,
    request: Request,
    next: Next,
) -> Response {
    if request.method() == Method::OPTIONS {
        let (parts, _) = request.into_parts();
        return match foreign_origin::check_preflight(&state, &parts) {
            Ok(()) => preflight(),
            Err(error) => ApiError(error).into_response(),
        };
    }
    let mut handled = run_handler(&state, request, next).await;
    if let Some(challenge) = handled.response.extensions_mut().remove::<Challenge>() {
        let base = state.resolved.hosts.base.url();
        challenge::write(handled.response.headers_mut(), &challenge, &base);
    }
    open_to_all(handled.response.headers_mut());
    handled.finish()
}

fn open_to_all(headers: &mut HeaderMap) {
    let fixed = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        (
            header::ACCESS_CONTROL_EXPOSE_HEADERS,
            "X-Request-Id, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, Mcp-Session-Id, PAYMENT-REQUIRED, PAYMENT-RESPONSE, X-PAYMENT-RESPONSE, Payment-Receipt",
        ),
    ];
    for (name, value) in fixed {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
}

/// Any page may call the API from a browser with a key, since cookies are never accepted. The response never allows a
/// public site to reach into a private network.
fn preflight() -> Response {
    let headers = [
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, PUT, PATCH, DELETE"),
        (
            header::ACCESS_CONTROL_ALLOW_HEADERS,
            "Authorization, Content-Type, Idempotency-Key, If-None-Match, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, Last-Event-ID, PAYMENT-SIGNATURE, X-PAYMENT, Payment-Authorization, Accept-Payment",
        ),
        (header::ACCESS_CONTROL_MAX_AGE, "86400"),
    ];
    (StatusCode::NO_CONTENT, headers).into_response()
}

pub(in crate::http) async fn not_found(request: Request) -> Response {
    let error = Error::new(Code::NotFound, "This address does not exist. /docs lists all addresses.");
    error::respond(&error, worded(&request)).map(Body::new)
}

pub(in crate::http) async fn method_not_allowed(request: Request) -> Response {
    error::respond(&Error::plain(Code::MethodNotAllowed), worded(&request)).map(Body::new)
}

/// Errors are JSON unless a browser asks for a page.
fn worded(request: &Request) -> Wants {
    match Wants::of(request.headers()) {
        Wants::Page => Wants::Page,
        Wants::Json | Wants::Text => Wants::Json,
    }
}
