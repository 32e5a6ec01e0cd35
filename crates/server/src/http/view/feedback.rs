//! Viewers' comments on a page: posts them and lists them for other viewers. Decisions §6.1.
//! Only on pages with feedback enabled, only for viewers who passed the gates, and only from the page's own origin.

pub(super) use super::toolbar::script as toolbar;

use super::scene::Scene;
use super::{OutBody, form, headers, without_body};
use crate::http::extract::{Fields, json_object};
use crate::http::{error, media_type};
use dropleaf_core::feedback::{self, Feedback, FeedbackDraft, Intent, Severity};
use dropleaf_core::site_change::Field;
use dropleaf_core::{Code, Error};
use http::{HeaderValue, Method, Response, StatusCode, header};
use hyper::body::Incoming;
use serde::Serialize;

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

pub(super) async fn answer(scene: &Scene<'_>, body: Incoming) -> Result<Response<OutBody>, Error> {
    if !scene.page.site.takes_feedback() {
        return Err(super::ours::missing());
    }
    form::require_same_origin(scene)?;
    scene.require_inside().await?;
    match scene.head.method {
        Method::GET | Method::HEAD => list(scene).await,
        Method::POST => leave(scene, body).await,
        _ => Err(Error::plain(Code::MethodNotAllowed)),
    }
}

async fn list(scene: &Scene<'_>) -> Result<Response<OutBody>, Error> {
    let found = scene.door.app.list_open_feedback(&scene.page.site).await?;
    let feedback = found.into_iter().map(ShownJson::new).collect();
    let mut response = json(StatusCode::OK, &ListJson { notice: feedback::NOTICE, feedback })?;
    if scene.head.method == Method::HEAD {
        without_body(&mut response);
    }
    Ok(response)
}

async fn leave(scene: &Scene<'_>, body: Incoming) -> Result<Response<OutBody>, Error> {
    // A form of another site can be posted without a CORS preflight; JSON cannot.
    if !media_type::is(&scene.head.headers, media_type::JSON) {
        return Err(Error::new(Code::InvalidRequest, "Send the comment as `application/json`."));
    }
    let mut fields = Fields::new(json_object(&form::read(body).await?)?);
    let mut text = |name: &str| -> Result<Option<String>, Error> {
        Ok(match fields.text(name)? {
            Field::Value(text) => Some(text),
            Field::Null | Field::Absent => None,
        })
    };
    let draft = FeedbackDraft {
        comment: text("comment")?,
        element: text("element")?,
        element_path: text("element_path")?,
        selected_text: text("selected_text")?,
        page_url: text("page_url")?,
        intent: text("intent")?,
        severity: text("severity")?,
    };
    let said = draft.checked()?;
    let (item, standing) = scene.door.app.create_feedback(&scene.page.site, scene.client_ip(), said).await?;
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
