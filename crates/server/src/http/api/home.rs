//! Pages for people at the API's address: the landing page, the reference, how to claim a page.

use super::{ApiState, openapi};
use crate::http::error::designed_policy;
use crate::pages::{self, Landing, Notice, Rendered};
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use http::header;

fn designed(page: Rendered) -> Response {
    let headers = [
        (header::CONTENT_TYPE, http::HeaderValue::from_static("text/html; charset=utf-8")),
        (header::CONTENT_SECURITY_POLICY, designed_policy(page.style_source)),
        (header::X_FRAME_OPTIONS, http::HeaderValue::from_static("DENY")),
        (
            header::HeaderName::from_static("cross-origin-opener-policy"),
            http::HeaderValue::from_static("same-origin"),
        ),
    ];
    (headers, page.html).into_response()
}

pub(super) async fn landing(State(state): State<ApiState>) -> Response {
    let hosts = &state.resolved.hosts;
    designed(pages::landing(&Landing {
        base_url: &hosts.base.url(),
        site_url: &hosts.site.url(),
        version: env!("CARGO_PKG_VERSION"),
        anonymous_hours: dropleaf_core::expiry::ANONYMOUS_LIFE_SECONDS / 3600,
        max_upload_mib: state.resolved.config.limits.upload_bytes >> 20,
    }))
}

pub(super) async fn docs(State(state): State<ApiState>) -> Response {
    designed(pages::docs(
        &openapi::served(&state.resolved.hosts.base.url()),
        &state.resolved.hosts.base.url(),
    ))
}

pub(super) async fn openapi(State(state): State<ApiState>) -> Response {
    let document = openapi::served(&state.resolved.hosts.base.url());
    ([(header::CONTENT_TYPE, "application/json")], document.to_string()).into_response()
}

/// Where a claim link leads. The token stays in the browser, behind the #.
pub(super) async fn claim(State(state): State<ApiState>, Path(id): Path<String>) -> Response {
    let base = state.resolved.hosts.base.url();
    let id: String = id.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(40).collect();
    let hint = format!(
        "`curl -X POST -H 'Authorization: Bearer <your key>' -H 'Content-Type: application/json' \
         -d '{{\"claim_token\": \"<the part of this address after #>\"}}' {base}/sites/{id}/claim`"
    );
    designed(pages::notice(&Notice {
        status: 200,
        code: "claim",
        heading: "Keep this page",
        message: "This page was published without an account and will disappear after a day. \
                  Claim it with your key and it becomes yours, for good.",
        hint: Some(&hint),
        home: Some(&base),
        report: None,
    }))
}

pub(super) async fn favicon() -> Response {
    (
        [(header::CONTENT_TYPE, "image/svg+xml"), (header::CACHE_CONTROL, "public, max-age=86400")],
        pages::FAVICON_SVG,
    )
        .into_response()
}

pub(super) async fn robots() -> Response {
    (
        [(header::CONTENT_TYPE, "text/plain; charset=utf-8")],
        "User-agent: *\nAllow: /$\nAllow: /docs\nDisallow: /\n",
    )
        .into_response()
}
