//! Tools that publish a page and replace its content.

use super::{ADDS, Call, REPLACES, Tool, schema};
use crate::http::api::{SiteJson, publish};
use crate::http::extract::{check_size, once};
use crate::http::mcp::answer::Answer;
use dropleaf_app::{Upload, Writer};
use dropleaf_core::options::{FIELDS, UploadOptions};
use dropleaf_core::safety::PiiCheck;
use dropleaf_core::scope::Scope;
use dropleaf_core::{Code, Error, Result, secret};
use utoipa::ToSchema;

/// A document to publish.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the arguments; they are read field by field")]
struct PublishHtml {
    /// Full HTML document with its styles and scripts inside. Send exactly one of `html` and `markdown`.
    #[schema(nullable = false)]
    html: Option<String>,
    /// Markdown instead of HTML; it is rendered to a page.
    #[schema(nullable = false)]
    markdown: Option<String>,
    /// Any text of up to 255 characters: the same call with the same key within 24 hours returns the first result
    /// instead of creating a second page.
    #[schema(nullable = false, max_length = 255)]
    idempotency_key: Option<String>,
}

/// Options of an upload.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the arguments; they are read field by field")]
pub(super) struct UploadArguments {
    /// Makes the page public under this name; leave it out for a private page with an unguessable link.
    #[schema(nullable = false)]
    slug: Option<String>,
    #[schema(schema_with = schema::visibility, required = false)]
    visibility: Option<String>,
    /// Viewers must enter it.
    #[schema(nullable = false)]
    password: Option<String>,
    #[schema(schema_with = schema::hours, required = false)]
    expires_in_hours: Option<f64>,
    /// Deletes the page after its first view.
    #[schema(nullable = false)]
    burn_after_read: Option<bool>,
    /// Allows only the page's own scripts; nothing is loaded from other hosts. Navigation and WebRTC are not blocked.
    #[schema(nullable = false)]
    csp_strict: Option<bool>,
    /// Gives viewers a toolbar to leave feedback.
    #[schema(nullable = false)]
    agentation: Option<bool>,
    /// Answers navigations to unknown paths with `index.html`, for apps with client-side routes; usually detected.
    #[schema(nullable = false)]
    spa: Option<bool>,
    /// Restricts the page to e-mail addresses of this domain.
    #[schema(nullable = false)]
    email_gate_domain: Option<String>,
    /// Overrides the document's own title.
    #[schema(nullable = false)]
    title: Option<String>,
    #[schema(schema_with = schema::pii_check, required = false)]
    pii_check: Option<String>,
}

/// New content for one of your pages.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the arguments; they are read field by field")]
struct UpdateSite {
    /// The id, the slug or the token of the page.
    site: String,
    /// Full HTML document. Send exactly one of `html` and `markdown`.
    #[schema(nullable = false)]
    html: Option<String>,
    /// Markdown instead of HTML.
    #[schema(nullable = false)]
    markdown: Option<String>,
    /// The `updated_at` you saw: refuses with `conflict` if the page has changed since.
    #[schema(nullable = false)]
    expected_updated_at: Option<i64>,
    /// Answers navigations to unknown paths with the page, for apps with client-side routes.
    #[schema(nullable = false)]
    spa: Option<bool>,
    #[schema(schema_with = schema::pii_check, required = false)]
    pii_check: Option<String>,
}

pub(super) static PUBLISH_HTML: Tool = Tool {
    name: "publish_html",
    title: "Publish HTML",
    description: "Publish one HTML or Markdown document as a page and get its link. Without a slug the page is private: only \
                  people with the unguessable link can see it, and it is not listed anywhere. Read get_design_guide before you \
                  create a page. For a file on disk, a .zip, a PDF or a large page, use create_upload.",
    needs: Scope::Write,
    hints: ADDS,
    input: schema::both::<PublishHtml, UploadArguments>,
    output: schema::given::<SiteJson>,
    run: |call| Box::pin(publish_html(call)),
};

async fn publish_html(mut call: Call) -> Result<Answer> {
    let document = Document::take(&mut call)?;
    let key = call.fields.optional_text("idempotency_key")?;
    let chosen = call.fields.upload_options()?;
    // Hashed only if there is an idempotency key.
    let asked =
        key.is_some().then(|| secret::hash(&format!("publish_html\0{:?}\0{chosen:?}", document.hash())));
    let mut options =
        UploadOptions::parse(chosen.iter().map(|(name, value)| (name.as_str(), value.as_str())))?;
    options.warnings.extend(call.fields.unknown(&FIELDS)?);
    let caller = &call.sender.caller;
    let once = once(&call.state, key, caller, asked);
    let written = publish(&call.state, caller, document.upload(), options, once.as_ref()).await?;
    Ok(Answer::written(&written)?.page())
}

pub(super) static UPDATE_SITE: Tool = Tool {
    name: "update_site",
    title: "Update a page",
    description: "Replace the content of a page with new HTML or Markdown at the same link. Settings do not change; the \
                  previous content is kept as an older version (list_versions, rollback_site).",
    needs: Scope::Write,
    hints: REPLACES,
    input: schema::of::<UpdateSite>,
    output: schema::given::<SiteJson>,
    run: |call| Box::pin(update_site(call)),
};

async fn update_site(mut call: Call) -> Result<Answer> {
    let name = call.site()?;
    let document = Document::take(&mut call)?;
    let expected_updated_at = call.fields.optional_int("expected_updated_at")?;
    let pii_check = call.fields.optional_text("pii_check")?.as_deref().map(PiiCheck::read).transpose()?;
    let spa = call.fields.flag("spa")?;
    let app = &call.state.app;
    let writer = Writer::Account(call.account().clone());
    let seen = app.check_writer(&writer, &name, call.sender.caller.ip).await?;
    let warnings = call.fields.unknown(&["html", "markdown", "expected_updated_at", "pii_check", "spa"])?;
    let options = UploadOptions { expected_updated_at, pii_check, spa, warnings, ..UploadOptions::default() };
    let updated = app.replace_site(&writer, &name, seen, document.upload(), options).await?;
    Ok(Answer::json(SiteJson::updated(app, updated)).page())
}

/// A document passed as an argument.
pub(super) enum Document {
    Html(String),
    Markdown(String),
}

impl Document {
    pub(super) fn take(call: &mut Call) -> Result<Self> {
        let html = call.fields.optional_text("html")?;
        let (document, size) = match (html, call.fields.optional_text("markdown")?) {
            (Some(text), None) => {
                let size = text.len();
                (Self::Html(text), size)
            }
            (None, Some(text)) => {
                let size = text.len();
                (Self::Markdown(text), size)
            }
            (Some(_), Some(_)) | (None, None) => {
                return Err(Error::new(Code::InvalidField, "Send exactly one of `html` and `markdown`."));
            }
        };
        check_size(size as u64, call.state.resolved.config.limits.upload_bytes)?;
        Ok(document)
    }

    fn hash(&self) -> (&'static str, [u8; 32]) {
        match self {
            Self::Html(text) => ("html", secret::hash(text)),
            Self::Markdown(text) => ("markdown", secret::hash(text)),
        }
    }

    pub(super) fn upload(self) -> Upload {
        match self {
            Self::Html(text) => Upload::html(text),
            Self::Markdown(text) => Upload::markdown(text),
        }
    }
}
