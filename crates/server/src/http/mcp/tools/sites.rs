//! Pages: publish, read.

use super::{Call, Hints, READS, Tool, schema};
use crate::http::api::SiteJson;
use crate::http::extract::{check_size, once};
use crate::http::mcp::answer::Answer;
use dropleaf_app::{Done, Upload};
use dropleaf_core::options::UploadOptions;
use dropleaf_core::scope::Scope;
use dropleaf_core::{Error, Result};
use utoipa::ToSchema;

/// A page to publish.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the arguments; they are read field by field")]
struct PublishHtml {
    /// Full HTML document.
    html: String,
    /// Overrules the document's own title.
    #[schema(nullable = false)]
    title: Option<String>,
}

/// One of your pages.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the arguments; they are read field by field")]
struct OneSite {
    /// The id, the slug or the token of the page.
    site: String,
}

pub(super) static PUBLISH_HTML: Tool = Tool {
    name: "publish_html",
    title: "Publish HTML",
    description: "Publish one HTML document as a private page. Returns the page with its unguessable link.",
    needs: Scope::Write,
    hints: Hints { read_only: false, destructive: false, idempotent: false, open_world: true },
    input: schema::of::<PublishHtml>,
    output: schema::of::<SiteJson>,
    run: |call| Box::pin(publish_html(call)),
};

async fn publish_html(mut call: Call) -> Result<Answer> {
    let state = &call.state;
    let html = call.fields.required_text("html")?;
    check_size(html.len() as u64, state.resolved.config.limits.upload_bytes)?;
    let options = UploadOptions { warnings: call.fields.warnings(), ..UploadOptions::default() };
    let once = once(state, None, &call.sender.caller, None);
    let render = |created: &dropleaf_app::Created| SiteJson::created(&state.app, created).to_bytes();
    let done = state
        .app
        .create_site(&call.sender.caller, Upload::html(html), options, once.as_ref(), render)
        .await?;
    let created = match done {
        Done::Fresh(created) => created,
        Done::Again { .. } => return Err(Error::internal("not yet")),
    };
    let (id, url, title) =
        (created.site.id.clone(), state.app.canonical_url(&created.site), created.site.title.clone());
    Ok(Answer::json(SiteJson::created(&state.app, &created)).about(&id, &url, &title))
}

pub(super) static GET_SITE: Tool = Tool {
    name: "get_site",
    title: "Get a page",
    description: "Read one of your pages: its link, settings, version and views.",
    needs: Scope::Read,
    hints: READS,
    input: schema::of::<OneSite>,
    output: schema::of::<SiteJson>,
    run: |call| Box::pin(get_site(call)),
};

async fn get_site(mut call: Call) -> Result<Answer> {
    let name = call.fields.required_text("site")?;
    let app = &call.state.app;
    let site = app.get_site(&call.sender.who.account, &name).await?;
    let (id, url, title) = (site.id.clone(), app.canonical_url(&site), site.title.clone());
    Ok(Answer::json(SiteJson::new(app, site)).about(&id, &url, &title))
}
