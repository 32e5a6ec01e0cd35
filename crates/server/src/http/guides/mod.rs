//! Serves the front page for people and the guides for agents.

mod facts;

pub(super) use facts::guide_facts;

use super::api::{designed, designed_headers};
use super::error::{Wants, scripted_policy};
use super::web::{MaybePerson, see_other};
use crate::http::state::ApiState;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use dropleaf_pages::{self as pages, Guide, GuideFacts, Landing};
use http::{HeaderMap, HeaderName, HeaderValue, header};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

const MARKDOWN: &str = "text/markdown; charset=utf-8";
const DESIGN_GUIDE: &str = "/design-guide";
const AUTH_MD: &str = "/auth.md";

/// Documents for agents.
pub(super) fn texts() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(design_guide)).routes(routes!(auth_md)).routes(routes!(llms_txt))
}

/// Read the design guide
///
/// What makes a good page here. Markdown for programs, an HTML page for browsers.
#[utoipa::path(
    get, path = "/design-guide", tag = "Documents", operation_id = "getDesignGuide",
    responses((status = 200, description = "The guide", content((String = "text/markdown"), (String = "text/html")))),
    security(()),
)]
async fn design_guide(State(state): State<ApiState>, headers: HeaderMap) -> Response {
    let facts = guide_facts(&state);
    negotiated(pages::design_guide(&facts), DESIGN_GUIDE, &facts, &headers)
}

/// Read how an agent authenticates
///
/// Markdown for programs, an HTML page for browsers.
#[utoipa::path(
    get, path = "/auth.md", tag = "Documents", operation_id = "getAuthGuide",
    responses((status = 200, description = "The guide", content((String = "text/markdown"), (String = "text/html")))),
    security(()),
)]
async fn auth_md(State(state): State<ApiState>, headers: HeaderMap) -> Response {
    let facts = guide_facts(&state);
    negotiated(pages::auth_md(&facts), AUTH_MD, &facts, &headers)
}

/// Read a short description of this server
#[utoipa::path(
    get, path = "/llms.txt", tag = "Documents", operation_id = "getLlmsTxt",
    responses((status = 200, description = "The text", content_type = "text/plain", body = String)),
    security(()),
)]
async fn llms_txt(State(state): State<ApiState>) -> Response {
    let text = pages::llms_txt(&guide_facts(&state));
    ([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response()
}

/// Markdown for programs, HTML for browsers.
fn negotiated(text: String, path: &str, facts: &GuideFacts, headers: &HeaderMap) -> Response {
    let mut response = match Wants::of(headers) {
        Wants::Page => {
            let title = text.lines().next().unwrap_or_default().trim_start_matches("# ");
            let body_html = &dropleaf_content::render_fragment(&text);
            designed(pages::guide(&Guide { title, path, base_url: &facts.base_url, body_html }))
        }
        Wants::Json | Wants::Text => ([(header::CONTENT_TYPE, MARKDOWN)], text).into_response(),
    };
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("Accept"));
    response
}

/// The front page; a signed-in person is redirected to the dashboard.
pub(super) async fn home(State(state): State<ApiState>, MaybePerson(person): MaybePerson) -> Response {
    if person.is_some() {
        return see_other("/dashboard");
    }
    let hosts = &state.resolved.hosts;
    let page = pages::landing(&Landing {
        base_url: &hosts.base.url(),
        site_url: &hosts.site.url(),
        version: env!("CARGO_PKG_VERSION"),
        anonymous_hours: dropleaf_core::expiry::ANONYMOUS_LIFE_SECONDS / 3600,
        max_upload_bytes: i64::try_from(state.resolved.config.limits.upload_bytes).unwrap_or(i64::MAX),
        anonymous: state.app.require_anonymous_publishing().is_ok(),
        sells: state.app.require_payments().is_ok(),
    });
    let mut response = (designed_headers(scripted_policy(page.style_source)), page.html).into_response();
    // The only page on the host with the session cookie that search engines may index.
    response.headers_mut().insert(HeaderName::from_static("x-robots-tag"), HeaderValue::from_static("all"));
    response
}
