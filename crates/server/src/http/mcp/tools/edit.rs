//! The tool that edits a page in place, so that a model does not send a whole document to change a word.

use super::{Call, REPLACES, Tool, schema};
use crate::http::api::{ContentEditBody, IdempotentResponse, SiteJson, parse_content_edit};
use crate::http::extract::idempotent_request;
use crate::http::mcp::tool_result::ToolOutput;
use dropleaf_app::EditedSite;
use dropleaf_core::Result;
use dropleaf_core::request_hash::RequestHash;
use dropleaf_core::scope::Scope;
use http::StatusCode;
use serde::Deserialize;
use utoipa::ToSchema;

/// Which page to edit.
#[derive(Debug, Deserialize, ToSchema)]
struct EditSite {
    /// ID, slug, token or URL.
    site: String,
    /// The same call with it within 24 hours returns the first result.
    #[schema(nullable = false, max_length = 255)]
    idempotency_key: Option<String>,
}

pub(super) static EDIT_SITE: Tool = Tool {
    name: "edit_site",
    title: "Edit a page",
    description: "Change parts of a page at the same link without sending the rest: literal find/replace in the \
                  uploaded source (read_site), or single files of an archive. Prefer it to update_site. All \
                  changes apply, or none. Returns the `diff`.",
    needs: Scope::Write,
    hints: REPLACES,
    input: schema::both::<EditSite, ContentEditBody>,
    output: schema::output::<SiteJson>,
    run: |call| Box::pin(edit_site(call)),
};

async fn edit_site(mut call: Call) -> Result<ToolOutput> {
    let EditSite { site: name, idempotency_key: key } = call.fields.take()?;
    let request_hash = key.is_some().then(|| {
        RequestHash::new("edit_site").field("site", &name).field("rest", call.fields.to_text()).finish()
    });
    let mut edit = parse_content_edit(&mut call.fields, call.state.resolved.config.limits.upload_bytes)?;
    edit.warnings.extend(call.fields.unknown()?);
    let app = &call.state.app;
    let (writer, caller) = (call.writer(), &call.sender.caller);
    let seen = app.check_writer(&writer, &name, caller.ip).await?;
    let once = idempotent_request(&call.state, key, caller, request_hash);
    let render = |edited: &EditedSite| SiteJson::edited(app, edited).to_bytes();
    let done = app.edit_content(&writer, &name, seen, edit, once.as_ref(), render).await?;
    let response = IdempotentResponse::of(done, StatusCode::OK, render);
    Ok(ToolOutput::of_response(&response)?.page())
}
