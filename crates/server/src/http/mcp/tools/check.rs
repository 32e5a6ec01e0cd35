//! The tool that checks a document without publishing it.

use super::{Call, READS, Tool, schema};
use crate::http::api::CheckJson;
use crate::http::extract::{Document, parse_pii_check, pii_check_schema};
use crate::http::mcp::tool_result::ToolOutput;
use dropleaf_core::Result;
use dropleaf_core::options::UploadOptions;
use dropleaf_core::scope::Scope;
use serde::Deserialize;
use utoipa::ToSchema;

/// A document to check.
#[derive(Debug, Deserialize, ToSchema)]
struct CheckPage {
    /// Full HTML document. Send either `html` or `markdown`.
    #[schema(nullable = false)]
    html: Option<String>,
    /// Markdown text.
    #[schema(nullable = false)]
    markdown: Option<String>,
    #[schema(schema_with = pii_check_schema, required = false)]
    pii_check: Option<String>,
}

pub(super) static CHECK_PAGE: Tool = Tool {
    name: "check_page",
    title: "Check a page",
    description: "Check whether a document would be refused (phishing, content taken down before, secrets) \
                  without publishing it; returns each reason with its line. Use it before you publish a sign-in, \
                  payment or wallet form.",
    needs: Scope::Read,
    hints: READS,
    input: schema::of::<CheckPage>,
    output: schema::output::<CheckJson>,
    run: |call| Box::pin(check_page(call)),
};

async fn check_page(mut call: Call) -> Result<ToolOutput> {
    let CheckPage { html, markdown, pii_check } = call.fields.take()?;
    let document = Document::new(html, markdown, call.state.resolved.config.limits.upload_bytes)?;
    let pii_check = parse_pii_check(pii_check.as_deref())?;
    let app = &call.state.app;
    app.take_check(call.sender.caller.ip)?;
    let warnings = call.fields.warnings();
    let options = UploadOptions { pii_check, warnings, ..UploadOptions::default() };
    let run = app.check_upload(call.sender.caller.ip, document.upload(), options).await?;
    Ok(ToolOutput::json(CheckJson::from(run)))
}
