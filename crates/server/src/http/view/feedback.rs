//! Viewers' comments on a page: posts them and lists them for other viewers.
//! Only on pages with feedback enabled, only for viewers who passed the gates, and only from the page's own origin.

pub(super) use super::toolbar::script as toolbar;

use super::page_request::PageRequest;
use super::{OutBody, admission, form, headers, nothing_here, without_body};
use crate::http::extract::{Fields, json_object, nullable};
use crate::http::{error, media_type};
use dropleaf_core::feedback::{self, Feedback, FeedbackDraft, Intent, Severity};
use dropleaf_core::site_change::Field;
use dropleaf_core::{Code, Error};
use http::{HeaderValue, Method, Response, StatusCode, header};
use hyper::body::Incoming;
use serde::{Deserialize, Serialize};

/// A new comment.
#[derive(Debug, Deserialize)]
struct CommentBody {
    #[serde(deserialize_with = "nullable")]
    comment: Field<String>,
    #[serde(deserialize_with = "nullable")]
    element: Field<String>,
    #[serde(deserialize_with = "nullable")]
    element_path: Field<String>,
    #[serde(deserialize_with = "nullable")]
    selected_text: Field<String>,
    #[serde(deserialize_with = "nullable")]
    page_url: Field<String>,
    #[serde(deserialize_with = "nullable")]
    intent: Field<String>,
    #[serde(deserialize_with = "nullable")]
    severity: Field<String>,
}

/// A comment as shown to viewers.
#[derive(Debug, Serialize)]
struct ShownJson {
    id: String,
    comment: String,
    element: Option<String>,
    element_path: Option<String>,
    selected_text: Option<String>,
    page_url: Option<String>,
    intent: Option<&'static str>,
    severity: Option<&'static str>,
    created_at: i64,
}

#[derive(Debug, Serialize)]
struct LeftJson {
    #[serde(flatten)]
    shown: ShownJson,
    resolved_at: Option<i64>,
    resolved_note: Option<String>,
    warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
struct ListJson {
    notice: &'static str,
    feedback: Vec<ShownJson>,
}

impl ShownJson {
    fn new(item: Feedback) -> Self {
        let said = item.content;
        Self {
            id: item.id,
            comment: said.comment,
            element: said.element,
            element_path: said.element_path,
            selected_text: said.selected_text,
            page_url: said.page_url,
            intent: said.intent.map(Intent::as_str),
            severity: said.severity.map(Severity::as_str),
            created_at: item.created_at,
        }
    }
}

pub(super) async fn answer(request: &PageRequest<'_>, body: Incoming) -> Result<Response<OutBody>, Error> {
    if !request.page.site.takes_feedback() {
        return Err(nothing_here());
    }
    form::require_same_origin(request)?;
    admission::require_inside(request).await?;
    match request.head.method {
        Method::GET | Method::HEAD => list(request).await,
        Method::POST => leave(request, body).await,
        _ => Err(Error::plain(Code::MethodNotAllowed)),
    }
}

async fn list(request: &PageRequest<'_>) -> Result<Response<OutBody>, Error> {
    let found = request.dispatcher.app.list_open_feedback(&request.page.site).await?;
    let feedback = found.into_iter().map(ShownJson::new).collect();
    let mut response = json(StatusCode::OK, &ListJson { notice: feedback::NOTICE, feedback })?;
    if request.head.method == Method::HEAD {
        without_body(&mut response);
    }
    Ok(response)
}

async fn leave(request: &PageRequest<'_>, body: Incoming) -> Result<Response<OutBody>, Error> {
    // A form of another site can be posted without a CORS preflight; JSON cannot.
    if !media_type::is(&request.head.headers, media_type::JSON) {
        return Err(Error::new(Code::InvalidRequest, "Send the comment as `application/json`."));
    }
    let mut fields = Fields::new(json_object(&form::read(body).await?)?);
    let body: CommentBody = fields.take()?;
    let draft = FeedbackDraft {
        comment: body.comment.value(),
        element: body.element.value(),
        element_path: body.element_path.value(),
        selected_text: body.selected_text.value(),
        page_url: body.page_url.value(),
        intent: body.intent.value(),
        severity: body.severity.value(),
    };
    let said = draft.checked()?;
    let (item, standing) =
        request.dispatcher.app.create_feedback(&request.page.site, request.client_ip(), said).await?;
    let left = LeftJson {
        shown: ShownJson::new(item),
        resolved_at: None,
        resolved_note: None,
        warnings: fields.warnings(),
    };
    let mut response = json(StatusCode::CREATED, &left)?;
    if let Some(standing) = standing {
        error::rate_headers(response.headers_mut(), standing);
    }
    Ok(response)
}

fn json(status: StatusCode, body: &impl Serialize) -> Result<Response<OutBody>, Error> {
    let mut response = crate::http::empty(status);
    *response.body_mut() = serde_json::to_string(body).map_err(Error::internal)?.into();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers::private_data(headers);
    Ok(response)
}
