//! Tools that publish a page and replace its content.

use super::{ADDS, Call, REPLACES, Tool, schema};
use crate::http::api::{SiteJson, publish};
use crate::http::extract::{
    Document, UploadArguments, idempotent_request, nullable, parse_options, parse_pii_check, pii_check_schema,
};
use crate::http::mcp::tool_result::ToolOutput;
use dropleaf_core::Result;
use dropleaf_core::options::UploadOptions;
use dropleaf_core::request_hash::RequestHash;
use dropleaf_core::scope::Scope;
use dropleaf_core::site_change::Field;
use serde::Deserialize;
use utoipa::ToSchema;

/// A document to publish.
#[derive(Debug, Deserialize, ToSchema)]
struct PublishHtml {
    /// Full HTML document, styles and scripts inside. Send either `html` or `markdown`.
    #[schema(nullable = false)]
    html: Option<String>,
    /// Rendered to a page.
    #[schema(nullable = false)]
    markdown: Option<String>,
    /// The same call with it within 24 hours returns the first result.
    #[schema(nullable = false, max_length = 255)]
    idempotency_key: Option<String>,
}

/// New content for one of your pages.
#[derive(Debug, Deserialize, ToSchema)]
struct UpdateSite {
    /// ID, slug, token or URL.
    site: String,
    /// Full HTML document. Send either `html` or `markdown`.
    #[schema(nullable = false)]
    html: Option<String>,
    /// Rendered to a page.
    #[schema(nullable = false)]
    markdown: Option<String>,
    /// The `updated_at` you saw: a page changed since is a `conflict`.
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<i64>, nullable = false)]
    expected_updated_at: Field<i64>,
    /// Unknown paths get the page, for client-side routes.
    #[schema(nullable = false)]
    spa: Option<bool>,
    #[schema(schema_with = pii_check_schema, required = false)]
    pii_check: Option<String>,
}

pub(super) static PUBLISH_HTML: Tool = Tool {
    name: "publish_html",
    title: "Publish HTML",
    description: "Publish one HTML or Markdown document and get its link. Without a slug the page is private: \
                  only people with the unguessable link see it. For files on disk, archives, PDFs and large \
                  pages use create_upload.",
    needs: Scope::Write,
    hints: ADDS,
    input: schema::both::<PublishHtml, UploadArguments>,
    output: schema::output::<SiteJson>,
    run: |call| Box::pin(publish_html(call)),
};

async fn publish_html(mut call: Call) -> Result<ToolOutput> {
    let PublishHtml { html, markdown, idempotency_key: key } = call.fields.take()?;
    let document = Document::new(html, markdown, call.state.resolved.config.limits.upload_bytes)?;
    let chosen = call.fields.take::<UploadArguments>()?.into_form_fields();
    // Hashed only if there is an idempotency key.
    let request_hash = key.is_some().then(|| {
        let hash = RequestHash::new("publish_html").field(document.field(), document.text());
        chosen.iter().fold(hash, |hash, (name, value)| hash.field(name, value)).finish()
    });
    let mut options = parse_options(&chosen)?;
    options.warnings.extend(call.fields.unknown()?);
    let caller = &call.sender.caller;
    let once = idempotent_request(&call.state, key, caller, request_hash);
    let response = publish(&call.state, caller, document.upload(), options, once.as_ref()).await?;
    Ok(ToolOutput::of_response(&response)?.page())
}

pub(super) static UPDATE_SITE: Tool = Tool {
    name: "update_site",
    title: "Update a page",
    description: "Replace the content of a page at the same link. Settings and a title that was set stay; older \
                  versions are kept (rollback_site).",
    needs: Scope::Write,
    hints: REPLACES,
    input: schema::of::<UpdateSite>,
    output: schema::output::<SiteJson>,
    run: |call| Box::pin(update_site(call)),
};

async fn update_site(mut call: Call) -> Result<ToolOutput> {
    let arguments: UpdateSite = call.fields.take()?;
    let UpdateSite { site: name, html, markdown, expected_updated_at, spa, pii_check } = arguments;
    let document = Document::new(html, markdown, call.state.resolved.config.limits.upload_bytes)?;
    let pii_check = parse_pii_check(pii_check.as_deref())?;
    let app = &call.state.app;
    let writer = call.writer();
    let seen = app.check_writer(&writer, &name, call.sender.caller.ip).await?;
    let warnings = call.fields.unknown()?;
    let expected_updated_at = expected_updated_at.value();
    let options = UploadOptions { expected_updated_at, pii_check, spa, warnings, ..UploadOptions::default() };
    let updated = app.replace_site(&writer, &name, seen, document.upload(), options).await?;
    Ok(ToolOutput::json(SiteJson::updated(app, updated)).page())
}
