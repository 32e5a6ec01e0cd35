//! Serves `/appeals`: publishers ask the operator to review refused content, and read the decision.

use crate::http::api_error::ApiError;
use crate::http::error::{self, Wants};
use crate::http::extract::{Appellant, Fields, Incoming};
use crate::http::state::ApiState;
use crate::http::string_enum::words;
use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use dropleaf_app::AppealOutcome;
use dropleaf_core::appeal::{self, Appeal, State as AppealState};
use dropleaf_pages as pages;
use http::header::VARY;
use http::{HeaderMap, StatusCode};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa::openapi::schema::Object;

/// The refused content, and why it should be allowed.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({
    "file": "<!doctype html>\n<title>Sign in</title>\n<p>A training page.</p>\n",
    "comment": "A training page for our staff. The form does not send anything.", "contact": "sam@example.org"
}))]
pub(in crate::http) struct AppealForm {
    /// The same file that was refused: the decision applies to exactly these bytes.
    #[schema(value_type = String, format = Binary, content_media_type = "application/octet-stream")]
    #[expect(dead_code, reason = "describes the form; the file is read as a stream")]
    file: Option<IgnoredAny>,
    /// What the page is for; up to 2000 characters.
    #[schema(nullable = false, example = "A training page for our staff. The form does not send anything.")]
    pub comment: Option<String>,
    /// How the operator can reach you; up to 254 characters. The decision is sent to an email address if the server
    /// can send mail.
    #[schema(nullable = false, example = "sam@example.org")]
    pub contact: Option<String>,
}

fn status() -> Object {
    let says = "`allowed`: the same content is accepted from now on. `upheld`: it stays refused. `lapsed`: the operator did not \
                decide in time; you can appeal again.";
    words(AppealState::ALL.iter().map(|state| state.as_str()), Some(says))
}

/// An appeal as its sender sees it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "id": "app_0d7i8l2q5k3n1v9c4t6s", "token": "8w3k…", "words_kept": true, "status": "open",
    "status_url": "http://localhost:8080/appeals/8w3k…", "answer": null, "created_at": 1_794_706_860, "decided_at": null
}))]
pub(super) struct AppealJson {
    id: String,
    /// Secret for reading the status of the appeal; only in the response to `POST /appeals`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    token: Option<String>,
    /// False if the operator does not see the `comment` and `contact` of this request: an appeal for this content is
    /// already open with an earlier comment from you, or with comments from many others. Only in the response to
    /// `POST /appeals`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    words_kept: Option<bool>,
    #[schema(schema_with = status)]
    status: &'static str,
    #[schema(format = "uri")]
    status_url: String,
    /// The operator's answer, once decided.
    answer: Option<String>,
    created_at: i64,
    decided_at: Option<i64>,
}

/// There is nothing to appeal: the content would be published.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"accepted": true, "warnings": []}))]
pub(super) struct AcceptedJson {
    /// Always true.
    accepted: bool,
    warnings: Vec<String>,
}

/// The response when no appeal was opened: one is already open, or there is no reason for one.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(super) enum NothingNewJson {
    Waiting(AppealJson),
    Accepted(AcceptedJson),
}

impl AppealJson {
    fn new(state: &ApiState, appeal: Appeal, token: &str) -> Self {
        Self {
            token: None,
            words_kept: None,
            status: appeal.state.as_str(),
            status_url: format!("{}/appeals/{token}", state.app.hosts.base.url()),
            answer: appeal.answer,
            created_at: appeal.created_at,
            decided_at: appeal.decided_at,
            id: appeal.id,
        }
    }
}

/// Ask the operator to review a refused page
///
/// Send the file that was refused with `phishing_blocked` or `content_blocked` again, with a note on what it is for.
/// The operator sees it with the reasons and decides; the content is then erased here. If it is allowed, publish the
/// same file again: the reasons it was refused for no longer apply (unless it is taken down later). There is one open
/// appeal per content: sending it again returns the same appeal (200) with another token. An appeal sent without a
/// credential ends as `lapsed` if it is not decided in time. For content that would be accepted the response is 200
/// `{"accepted": true}` and nothing is stored.
#[utoipa::path(
    post, path = "/appeals", tag = "Sites", operation_id = "createAppeal",
    request_body(content = AppealForm, content_type = "multipart/form-data"),
    responses(
        (status = 201, description = "Waiting for the operator", body = AppealJson),
        (status = 200, description = "Nothing to appeal, or an appeal is already open", body = NothingNewJson),
    ),
    security((), ("api_key" = [])),
)]
pub(super) async fn create(
    State(state): State<ApiState>,
    Appellant(caller): Appellant,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let form = Incoming { state: &state, headers: &headers, body }.form().await?;
    let AppealForm { comment, contact, .. } = Fields::of_form(form.fields).take()?;
    let plea = appeal::checked(comment, contact)?;
    Ok(match state.app.submit_appeal(&caller, form.upload, plea).await? {
        AppealOutcome::Accepted { warnings } => {
            let json = AcceptedJson { accepted: true, warnings };
            Json(NothingNewJson::Accepted(json)).into_response()
        }
        AppealOutcome::Open { appeal, token, is_duplicate, is_statement_kept } => {
            let json = AppealJson::new(&state, *appeal, &token);
            let json = AppealJson { token: Some(token), words_kept: Some(is_statement_kept), ..json };
            if is_duplicate {
                Json(NothingNewJson::Waiting(json)).into_response()
            } else {
                (StatusCode::CREATED, Json(json)).into_response()
            }
        }
    })
}

/// Get the status of an appeal
///
/// Browsers get an HTML page.
#[utoipa::path(
    get, path = "/appeals/{token}", tag = "Sites", operation_id = "getAppeal",
    params(("token" = String, Path, description = "The `token` from the appeal response.")),
    responses((status = 200, description = "The appeal", content((AppealJson = "application/json"), (String = "text/html")))),
    security(()),
)]
pub(super) async fn read(
    State(state): State<ApiState>,
    Path(token): Path<String>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let found = state.app.appeal_by_token(&token).await;
    let shown = if Wants::of(&headers) == Wants::Page {
        match found {
            Ok(appeal) => error::designed(StatusCode::OK, pages::appeal_status(&appeal)),
            Err(error) => error::respond(&error, Wants::Page),
        }
        .map(Body::new)
    } else {
        Json(AppealJson::new(&state, found?, &token)).into_response()
    };
    Ok(([(VARY, "Accept")], shown).into_response())
}
