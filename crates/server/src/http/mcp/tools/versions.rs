//! Tools that list a page's versions and roll back to one.

use super::{Call, OneSite, READS, REPLACES, Tool, schema};
use crate::http::api::{SiteJson, VersionsJson};
use crate::http::mcp::tool_result::ToolOutput;
use dropleaf_core::Result;
use dropleaf_core::scope::Scope;
use serde::Deserialize;
use utoipa::ToSchema;

pub(super) static LIST_VERSIONS: Tool = Tool {
    name: "list_versions",
    title: "List a page's versions",
    description: "List the versions of a page, newest first.",
    needs: Scope::Read,
    hints: READS,
    input: schema::of::<OneSite>,
    output: schema::output::<VersionsJson>,
    run: |call| Box::pin(list_versions(call)),
};

async fn list_versions(mut call: Call) -> Result<ToolOutput> {
    let name = call.site()?;
    let app = &call.state.app;
    let (site, versions) = app.list_versions(call.account(), &name).await?;
    let answer = ToolOutput::json(VersionsJson::new(&site, versions, call.sender.who.grant_id.as_deref()));
    Ok(answer.about(app, site).warned(call.fields.warnings()))
}

/// Which version to restore.
#[derive(Debug, Deserialize, ToSchema)]
struct RollbackSite {
    /// ID, slug, token or URL.
    site: String,
    /// A version number from `list_versions`.
    #[schema(minimum = 1)]
    version: i64,
}

pub(super) static ROLLBACK_SITE: Tool = Tool {
    name: "rollback_site",
    title: "Restore an older version",
    description: "Restore the content of an older version as a new version; nothing is lost.",
    needs: Scope::Write,
    hints: REPLACES,
    input: schema::of::<RollbackSite>,
    output: schema::output::<SiteJson>,
    run: |call| Box::pin(rollback_site(call)),
};

async fn rollback_site(mut call: Call) -> Result<ToolOutput> {
    let RollbackSite { site: name, version } = call.fields.take()?;
    let warnings = call.fields.unknown()?;
    let app = &call.state.app;
    let updated = app.rollback_site(call.account(), &name, version, call.sender.who.maker.clone()).await?;
    Ok(ToolOutput::json(SiteJson::updated(app, updated)).page().warned(warnings))
}
