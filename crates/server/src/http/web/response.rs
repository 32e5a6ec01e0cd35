//! Responses of pages with a session cookie: HTML with the dashboard's security policy, redirects, and errors for
//! people.

use crate::http::error;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use dropleaf_core::error::Fact;
use dropleaf_core::{Code, Error};
use dropleaf_pages::Html;
use http::{HeaderValue, StatusCode, header};
use std::sync::Arc;

/// The policy of pages that load only our own style and scripts. Security reference §1.6.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
    font-src 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; form-action 'self'";

/// The error of a response, kept as an extension so that the middleware can send it as JSON to a script.
#[derive(Debug, Clone)]
pub(super) struct Failure(pub(super) Arc<Error>);

/// An error shown to a person.
#[derive(Debug)]
pub(in crate::http) enum WebError {
    Failed(Error),
    /// Sign in, then come back to this path.
    SignIn(String),
    /// The sign-in is too old for this action: sign in again, then come back to this path.
    ProveAgain(String),
}

impl WebError {
    pub(in crate::http) fn sign_in_first(back: &str) -> Self {
        Self::SignIn(back.to_owned())
    }
}

impl<E: Into<Error>> From<E> for WebError {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

impl IntoResponse for WebError {
    fn into_response(self) -> Response {
        match self {
            Self::SignIn(back) => see_other(&login(&back)),
            // A browser follows the redirect; a script gets the target in the JSON.
            Self::ProveAgain(back) => {
                let to = login_again(&back);
                let response = see_other(&to);
                worded_anew(response, Error::plain(Code::ProofNeeded).with_fact("to", Fact::Text(to)))
            }
            Self::Failed(error) => worded_anew(error::respond_to_owner(&error).map(Body::new), error),
        }
    }
}

/// Attaches the error to the response, for the middleware.
fn worded_anew(mut response: Response, error: Error) -> Response {
    response.extensions_mut().insert(Failure(Arc::new(error)));
    response
}

/// The address of the sign-in page that returns to this path.
pub(in crate::http) fn login(back: &str) -> String {
    format!("/login?next={}", encoded(back))
}

/// The same for a signed-in person: to prove their identity again, or to sign in as someone else.
pub(in crate::http) fn login_again(back: &str) -> String {
    format!("/login?again=1&next={}", encoded(back))
}

fn encoded(path: &str) -> String {
    form_urlencoded::byte_serialize(path.as_bytes()).collect()
}

/// The error page for a wrong method.
pub(in crate::http) async fn method_not_allowed() -> WebError {
    Error::plain(Code::MethodNotAllowed).into()
}

/// An HTML page with status 200.
pub(in crate::http) fn page(html: Html) -> Response {
    page_with_status(StatusCode::OK, html, None)
}

/// A page with a frame that may show only addresses below `within`.
pub(in crate::http) fn framing(status: StatusCode, html: Html, within: Option<&str>) -> Response {
    let mut response = page_with_status(status, html, None);
    let policy =
        within.and_then(|within| HeaderValue::from_str(&format!("frame-src {within}; {POLICY}")).ok());
    if let Some(policy) = policy {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}

/// A page with a status and an origin that its forms may lead to: browsers check the final target of a form, redirects
/// included.
pub(in crate::http) fn page_with_status(
    status: StatusCode,
    html: Html,
    form_target: Option<&str>,
) -> Response {
    let policy = form_target.map_or_else(|| POLICY.to_owned(), |target| format!("{POLICY} {target}"));
    let policy = HeaderValue::from_str(&policy).unwrap_or(HeaderValue::from_static(POLICY));
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
        (header::CONTENT_SECURITY_POLICY, policy),
    ];
    (status, headers, html.0).into_response()
}

/// Redirects with 303, so that the browser follows with GET.
pub(in crate::http) fn see_other(to: &str) -> Response {
    match HeaderValue::from_str(to) {
        Ok(to) => (StatusCode::SEE_OTHER, [(header::LOCATION, to)]).into_response(),
        Err(_) => WebError::from(Error::plain(Code::InvalidRequest)).into_response(),
    }
}
