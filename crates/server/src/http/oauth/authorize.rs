//! Serves `GET /oauth/authorize`, where a program sends a person to ask for access, and `POST /oauth/consent`, the person's
//! answer. Until the redirect address is verified, errors are shown to the person and nothing is sent to the program.

use super::clients::{self, Known};
use super::params;
use crate::http::error;
use crate::http::extract::client_ip;
use crate::http::state::ApiState;
use crate::http::web::{
    MaybePerson, Person, SignedForm, WebError, login_again, page_with_status, require_visit, see_other,
};
use crate::outbound::Asker;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use dropleaf_app::ConsentAnswer;
use dropleaf_core::oauth::client::Client;
use dropleaf_core::oauth::request::AccessRequest;
use dropleaf_core::oauth::{OAuthCode, OAuthError, redirect};
use dropleaf_pages::dashboard::{Consent, Shell, consent};
use dropleaf_pages::{self as pages, Notice};
use http::StatusCode;

/// Maximum length of the query; it is carried along when the person has to sign in first.
const LONGEST: usize = 4000;

/// Ask the user for access
///
/// An app opens this address in the user's browser: authorization code with PKCE (S256). The user signs in if
/// necessary and decides; then the browser is redirected to `redirect_uri` with `code`, `state` and `iss`, or with
/// `error`.
#[utoipa::path(
    get, path = "/oauth/authorize", tag = "OAuth", operation_id = "authorize",
    params(
        ("client_id" = String, Query, description = "From registration, or the https address of a client metadata document."),
        ("redirect_uri" = String, Query, description = "One of the registered addresses; the port of a loopback address can \
                                                        differ."),
        ("response_type" = String, Query, description = "`code`."),
        ("code_challenge" = String, Query, description = "The SHA-256 of the verifier, in base64url."),
        ("code_challenge_method" = String, Query, description = "`S256`."),
        ("scope" = Option<String>, Query, description = "`sites:read`, `sites:write` or both, separated by a space."),
        ("state" = Option<String>, Query, description = "Returned unchanged."),
        ("resource" = Option<String>, Query, description = "The server or its `/mcp` (RFC 8707)."),
    ),
    responses(
        (status = 200, description = "The consent page", content_type = "text/html", body = String),
        (
            status = 303, description = "Redirect to the sign-in page, or to the app with `error`",
            headers(("Location" = String, description = "The redirect target.")),
        ),
        (status = 400, description = "The app cannot be connected; the page says why", content_type = "text/html", body = String),
    ),
    security(()),
)]
pub(in crate::http) async fn authorize(
    State(state): State<ApiState>,
    MaybePerson(person): MaybePerson,
    request: Request,
) -> Result<Response, WebError> {
    let (parts, _) = request.into_parts();
    require_visit(&parts.headers)?;
    let here = parts.uri.path_and_query().map_or("/", http::uri::PathAndQuery::as_str);
    let sign_in_first = || Err(WebError::sign_in_first(here));
    let query = parts.uri.query().unwrap_or_default();
    if query.len() > LONGEST {
        return Ok(stop("The app sent a request that is too long.", ""));
    }
    let params = params::parse(query.as_bytes());
    let (Ok(Some(id)), ip) = (params.find("client_id"), client_ip(&parts, &state)) else {
        return Ok(stop("The app did not send a client_id.", ""));
    };
    let client = match clients::find(&state, id).await? {
        Known::Client(client) => Ok(client),
        Known::Nobody(why) => Err(why),
        // Documents are fetched from other hosts only for signed-in people.
        Known::Described if person.is_none() => return sign_in_first(),
        Known::Described => clients::fetch(&state, id, Asker::Person, ip).await?,
    };
    let client = match client {
        Ok(client) => client,
        Err(why) => return Ok(stop(&why, "")),
    };
    let hosts = &state.resolved.hosts;
    let redirect_uri = match params.find("redirect_uri") {
        Ok(Some(uri)) if client.redirects_to(uri) && !redirect::is_ours(uri, hosts) => uri,
        Ok(Some(_)) => {
            return Ok(stop("The app requested a redirect address that it has not registered.", ""));
        }
        Ok(None) | Err(_) => return Ok(stop("The app did not send a redirect address.", "")),
    };
    let issuer = hosts.base.url();
    // Anyone can register an address, so no one is redirected to one without having signed in. Exceptions: a redirect
    // to a program on the person's own machine, and a request with `prompt=none`, which gets the same error whether or
    // not the person is signed in.
    let at_once = redirect::is_local(redirect_uri) || params.is_silent();
    match (AccessRequest::check(&client, redirect_uri, &params, &issuer), person) {
        (Err(error), person) if person.is_some() || at_once => {
            Ok(refuse(redirect_uri, params.all("state").next(), &issuer, &error))
        }
        (Ok(request), Some(person)) => show(&state, &client, &person, request, here).await,
        (_, _) => sign_in_first(),
    }
}

async fn show(
    state: &ApiState,
    client: &Client,
    person: &Person,
    request: AccessRequest,
    here: &str,
) -> Result<Response, WebError> {
    let id = state.app.store_consent_request(&person.session, &request).await?;
    let host = redirect::shown(&request.redirect_uri);
    let page = Consent {
        shell: Shell::standalone(&person.form_token),
        request: &id,
        name: &client.name,
        account: person.account.email.as_deref().unwrap_or("an account without an address"),
        other_account: login_again(here),
        scopes: request.scopes,
        host: &host,
        is_local: redirect::is_local(&request.redirect_uri),
        document_host: client.document_host(),
    };
    let target = redirect::form_source(&request.redirect_uri);
    Ok(page_with_status(StatusCode::OK, consent(&page), target.as_deref()))
}

/// `POST /oauth/consent`: the person's answer, accepted once and only in the session that was asked.
pub(super) async fn answer_consent(
    State(state): State<ApiState>,
    form: SignedForm,
) -> Result<Response, WebError> {
    let SignedForm { person, fields } = form;
    // Anything but `allow` denies access.
    let allow = fields.text("answer") == "allow";
    let answered =
        state.app.answer_consent(&person.account, &person.session, fields.text("request"), allow).await?;
    let Some(ConsentAnswer { redirect_uri, state: client_state, code }) = answered else {
        return Ok(stop("The request was already answered or has expired.", "Start again in the app."));
    };
    let issuer = state.resolved.hosts.base.url();
    let Some(code) = code else {
        let denied = OAuthError::new(OAuthCode::AccessDenied, "The user denied the request.");
        return Ok(refuse(&redirect_uri, client_state.as_deref(), &issuer, &denied));
    };
    let pairs =
        [("code", Some(code.as_str())), ("state", client_state.as_deref()), ("iss", Some(issuer.as_str()))];
    let pairs = pairs.into_iter().filter_map(|(name, value)| Some((name, value?)));
    // With a GET: the form's fields must not be forwarded.
    Ok(see_other(&redirect::with_query(&redirect_uri, pairs)))
}

/// Redirects to the program with the error. The address is verified by then.
fn refuse(uri: &str, state: Option<&str>, issuer: &str, error: &OAuthError) -> Response {
    let pairs = [
        ("error", Some(error.code.as_str())),
        ("error_description", Some(error.detail.as_str())),
        ("state", state),
        ("iss", Some(issuer)),
    ];
    let pairs = pairs.into_iter().filter_map(|(name, value)| Some((name, value?)));
    see_other(&redirect::with_query(uri, pairs))
}

/// Shows the error to the person, and sends nothing to the program.
fn stop(why: &str, hint: &str) -> Response {
    let notice = Notice {
        status: 400,
        code: "invalid_request",
        heading: "This app cannot be connected",
        message: why,
        hint: (!hint.is_empty()).then_some(hint),
        home: None,
        report: None,
    };
    error::designed(StatusCode::BAD_REQUEST, pages::notice(&notice)).map(Body::new)
}
