//! Builds the result of a tool call: the API's JSON, as structured content and as text, and a link to the page. A
//! refusal is also a result, so that the model reads it and can correct the call.

use super::next_step::next_step;
use crate::http::api::IdempotentResponse;
use crate::http::error;
use dropleaf_app::App;
use dropleaf_core::site::Site;
use dropleaf_core::{Error, Result};
use rmcp::model::{CallToolResult, ContentBlock, Resource};
use serde::Serialize;
use serde_json::Value;

/// Field in the result of a tool about one page, present if the page has unread comments.
pub(super) const UNREAD: &str = "unread_feedback";

/// The result of a tool.
#[derive(Debug)]
pub(super) struct ToolOutput {
    value: Value,
    link: Option<Resource>,
    /// The page it concerns; its unread comments are mentioned.
    pub site_id: Option<String>,
    /// Text instead of the JSON, where it is easier to read for a model.
    text: Option<String>,
    /// A further text block with something the model should not miss.
    note: Option<String>,
}

impl ToolOutput {
    pub(super) fn json(value: impl Serialize) -> Self {
        let value = serde_json::to_value(value).unwrap_or_default();
        Self { value, link: None, site_id: None, text: None, note: None }
    }

    /// The API's response body, unchanged.
    pub(super) fn of_response(written: &IdempotentResponse) -> Result<Self> {
        Ok(Self::json(serde_json::from_slice::<Value>(&written.body).map_err(Error::internal)?))
    }

    /// For a value that is a site: links to the page and sets it as the page concerned.
    pub(super) fn page(self) -> Self {
        let (id, url, title) = (self.text_of("id"), self.text_of("url"), self.text_of("title"));
        self.of_site(id).linked(url, title)
    }

    /// A string field of the value; empty if absent.
    pub(super) fn text_of(&self, name: &str) -> String {
        self.value[name].as_str().unwrap_or_default().to_owned()
    }

    /// The value as JSON text.
    pub(super) fn to_text(&self) -> String {
        self.value.to_string()
    }

    /// The same for a value that is not the site itself.
    pub(super) fn about(self, app: &App, site: Site) -> Self {
        let url = app.canonical_url(&site);
        self.of_site(site.id).linked(url, site.title)
    }

    /// Sets the page that the result concerns.
    pub(super) fn of_site(mut self, id: String) -> Self {
        self.site_id = Some(id);
        self
    }

    /// Adds a link to the page for people.
    pub(super) fn linked(mut self, url: String, name: String) -> Self {
        let name = if name.is_empty() { url.clone() } else { name };
        self.link = Some(Resource::new(url, name).with_mime_type("text/html"));
        self
    }

    pub(super) fn worded(mut self, text: String) -> Self {
        self.text = Some(text);
        self
    }

    pub(super) fn noted(mut self, note: Option<String>) -> Self {
        self.note = note;
        self
    }

    /// Appends to the warnings of the value.
    pub(super) fn warned(mut self, warnings: Vec<String>) -> Self {
        if let Value::Object(object) = &mut self.value
            && !warnings.is_empty()
        {
            let known = object.entry("warnings").or_insert_with(|| Value::Array(Vec::new()));
            if let Value::Array(known) = known {
                known.extend(warnings.into_iter().map(Value::from));
            }
        }
        self
    }
}

/// The result of a successful call; `unread` counts the comments on its page that no program has read.
pub(super) fn success(mut output: ToolOutput, unread: i64) -> CallToolResult {
    if let (1.., Value::Object(value)) = (unread, &mut output.value) {
        value.insert(UNREAD.into(), unread.into());
    }
    let text = output.text.unwrap_or_else(|| output.value.to_string());
    let mut content = vec![ContentBlock::text(text)];
    content.extend(output.note.map(ContentBlock::text));
    content.extend(output.link.map(ContentBlock::resource_link));
    if let (1.., Some(id)) = (unread, &output.site_id) {
        let text = format!("Unread viewer comments on {id}: {unread}. Call list_feedback to read them.");
        content.push(ContentBlock::text(text));
    }
    let mut result = CallToolResult::success(content);
    result.structured_content = Some(output.value);
    result
}

/// The error code, the description and the next step. Clients validate structured content against the schema of a
/// success, so it is left out.
pub(super) fn refused(error: &Error) -> CallToolResult {
    if error::status(error.code).is_server_error() {
        let source = error.source.as_deref().map(ToString::to_string).unwrap_or_default();
        tracing::error!(code = error.code.as_str(), source, "MCP tool failed");
    }
    let mut text = error::json_body(error);
    if let Some(next) = next_step(error.code) {
        text = format!("{text}\n{next}");
    }
    if let Some(seconds) = error.retry_after {
        text = format!("{text}\nWait {seconds} s before you try again.");
    }
    CallToolResult::error(vec![ContentBlock::text(text)])
}
