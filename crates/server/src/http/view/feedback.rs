//! Viewers' comments and replies on a page: posts them and lists them for other viewers.
//! Only on pages with feedback enabled, only for viewers who passed the gates, and only from the page's own origin.
//! A browser proves that it wrote a comment with the secret from the response, in the header `Feedback-Tokens`.

pub(super) use super::toolbar::script as toolbar;

use super::page_request::PageRequest;
use super::{OutBody, admission, form, headers, nothing_here, without_body};
use crate::http::extract::{Fields, json_object, nullable};
use crate::http::{error, media_type};
use dropleaf_app::{ShownThread, ViewerReply};
use dropleaf_core::feedback::{self, FeedbackDraft, Intent, Severity};
use dropleaf_core::feedback_thread::{Reply, ReplyContent, Thread, ViewerTokens};
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

/// A reply to a comment.
#[derive(Debug, Deserialize)]
struct ReplyBody {
    #[serde(deserialize_with = "nullable")]
    text: Field<String>,
    #[serde(deserialize_with = "nullable")]
    name: Field<String>,
    /// Reopens a resolved comment.
    still_a_problem: Option<bool>,
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
    state: &'static str,
    resolved_at: Option<i64>,
    /// Whether this browser wrote it.
    is_own: bool,
    can_reply: bool,
    reply_count: i64,
    replies: Vec<ReplyJson>,
}

#[derive(Debug, Serialize)]
struct ReplyJson {
    id: String,
    author: &'static str,
    name: Option<String>,
    text: String,
    reopens: bool,
    created_at: i64,
}

#[derive(Debug, Serialize)]
struct LeftJson {
    #[serde(flatten)]
    shown: ShownJson,
    resolved_note: Option<String>,
    /// Proves later that this browser wrote the comment.
    viewer_token: String,
    warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
struct RepliedJson {
    /// The comment.
    id: String,
    state: &'static str,
    reply: ReplyJson,
    warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
struct ListJson {
    notice: &'static str,
    feedback: Vec<ShownJson>,
}

impl ShownJson {
    fn new(ShownThread { feedback: item, is_own, thread }: ShownThread) -> Self {
        let (state, can_reply) = (item.state().as_str(), thread.is_some());
        let thread = thread.unwrap_or_default();
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
            state,
            resolved_at: item.resolved_at,
            is_own,
            can_reply,
            reply_count: thread.count,
            replies: thread.replies.into_iter().map(ReplyJson::new).collect(),
        }
    }
}

impl ReplyJson {
    fn new(reply: Reply) -> Self {
        Self {
            id: reply.id,
            author: reply.author.as_str(),
            name: reply.name,
            text: reply.text,
            reopens: reply.reopens,
            created_at: reply.created_at,
        }
    }
}

/// Answers `feedback`, and with the ID of a comment `feedback/ID/replies`.
pub(super) async fn answer(
    request: &PageRequest<'_>,
    comment: Option<&str>,
    body: Incoming,
) -> Result<Response<OutBody>, Error> {
    if !request.page.site.takes_feedback() {
        return Err(nothing_here());
    }
    form::require_same_origin(request)?;
    admission::require_inside(request).await?;
    match (&request.head.method, comment) {
        (&Method::GET | &Method::HEAD, None) => list(request).await,
        (&Method::POST, None) => leave(request, body).await,
        (&Method::POST, Some(id)) => reply(request, id, body).await,
        _ => Err(Error::plain(Code::MethodNotAllowed)),
    }
}

/// The secrets of comments that the browser sent.
fn viewer(request: &PageRequest<'_>) -> ViewerTokens {
    request.header("feedback-tokens").map(ViewerTokens::parse).unwrap_or_default()
}

async fn list(request: &PageRequest<'_>) -> Result<Response<OutBody>, Error> {
    let found = request.dispatcher.app.list_shown_feedback(&request.page.site, &viewer(request)).await?;
    let feedback = found.into_iter().map(ShownJson::new).collect();
    let mut response = json(StatusCode::OK, &ListJson { notice: feedback::NOTICE, feedback })?;
    if request.head.method == Method::HEAD {
        without_body(&mut response);
    }
    Ok(response)
}

/// Reads the fields of a JSON body. A form of another site can be posted without a CORS preflight; JSON cannot.
async fn read_fields(request: &PageRequest<'_>, body: Incoming) -> Result<Fields, Error> {
    if !media_type::is(&request.head.headers, media_type::JSON) {
        return Err(Error::new(Code::InvalidRequest, "Send the comment as `application/json`."));
    }
    Ok(Fields::new(json_object(&form::read(body).await?)?))
}

async fn reply(request: &PageRequest<'_>, id: &str, body: Incoming) -> Result<Response<OutBody>, Error> {
    let mut fields = read_fields(request, body).await?;
    let body: ReplyBody = fields.take()?;
    let sent = ViewerReply {
        feedback_id: id,
        viewer: &viewer(request),
        content: ReplyContent::checked(body.text.value(), body.name.value())?,
        reopens: body.still_a_problem == Some(true),
    };
    let app = &request.dispatcher.app;
    let (item, reply, standing) = app.reply_as_viewer(&request.page.site, request.client_ip(), sent).await?;
    let state = item.state().as_str();
    let replied =
        RepliedJson { id: item.id, state, reply: ReplyJson::new(reply), warnings: fields.warnings() };
    let mut response = json(StatusCode::CREATED, &replied)?;
    if let Some(standing) = standing {
        error::rate_headers(response.headers_mut(), standing);
    }
    Ok(response)
}

async fn leave(request: &PageRequest<'_>, body: Incoming) -> Result<Response<OutBody>, Error> {
    let mut fields = read_fields(request, body).await?;
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
    let (item, viewer_token, standing) =
        request.dispatcher.app.create_feedback(&request.page.site, request.client_ip(), said).await?;
    let left = LeftJson {
        shown: ShownJson::new(ShownThread { feedback: item, is_own: true, thread: Some(Thread::default()) }),
        resolved_note: None,
        viewer_token,
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
