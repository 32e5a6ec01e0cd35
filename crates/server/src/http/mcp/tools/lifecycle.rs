//! Tools that delete, restore and claim a page.

use super::{Call, Hints, OneSite, REMOVES, SETTLES, Tool, schema};
use crate::http::api::{DeletedJson, SiteJson};
use crate::http::mcp::tool_result::ToolOutput;
use dropleaf_core::Result;
use dropleaf_core::scope::Scope;
use serde::Deserialize;
use utoipa::ToSchema;

/// Which page to delete.
#[derive(Debug, Deserialize, ToSchema)]
struct DeleteSite {
    /// ID, slug, token or URL.
    site: String,
    /// Erases the bytes now; this cannot be undone.
    #[schema(nullable = false)]
    purge: Option<bool>,
}

pub(super) static DELETE_SITE: Tool = Tool {
    name: "delete_site",
    title: "Delete a page",
    description: "Delete a page. restore_site brings it back until `restorable_until`, unless `purge` erased it. \
                  Ask the user first.",
    needs: Scope::Write,
    hints: REMOVES,
    input: schema::of::<DeleteSite>,
    output: schema::output::<DeletedJson>,
    run: |call| Box::pin(delete_site(call)),
};

async fn delete_site(mut call: Call) -> Result<ToolOutput> {
    let DeleteSite { site: name, purge } = call.fields.take()?;
    let deleted = call.state.app.delete_site(call.account(), &name, purge.unwrap_or_default()).await?;
    Ok(ToolOutput::json(DeletedJson::new(deleted)).warned(call.fields.warnings()))
}

pub(super) static RESTORE_SITE: Tool = Tool {
    name: "restore_site",
    title: "Restore a deleted page",
    description: "Restore a deleted page at the same link. Identify it by its ID or token.",
    needs: Scope::Write,
    hints: Hints { open_world: true, ..SETTLES },
    input: schema::of::<OneSite>,
    output: schema::output::<SiteJson>,
    run: |call| Box::pin(restore_site(call)),
};

async fn restore_site(mut call: Call) -> Result<ToolOutput> {
    let name = call.site()?;
    let warnings = call.fields.unknown()?;
    let app = &call.state.app;
    let updated = app.restore_site(call.account(), &name).await?;
    Ok(ToolOutput::json(SiteJson::updated(app, updated)).page().warned(warnings))
}

/// Which page to claim.
#[derive(Debug, Deserialize, ToSchema)]
struct ClaimSite {
    /// ID, token or URL.
    site: String,
    /// `clm_…`, from the response to the upload.
    claim_token: String,
}

pub(super) static CLAIM_SITE: Tool = Tool {
    name: "claim_site",
    title: "Claim a page",
    description: "Move a page that was published without an account to your account; it no longer expires. The \
                  token works once.",
    needs: Scope::Write,
    hints: SETTLES,
    input: schema::of::<ClaimSite>,
    output: schema::output::<SiteJson>,
    run: |call| Box::pin(claim_site(call)),
};

async fn claim_site(mut call: Call) -> Result<ToolOutput> {
    let ClaimSite { site: name, claim_token } = call.fields.take()?;
    let warnings = call.fields.unknown()?;
    let app = &call.state.app;
    let site = app.claim_site(call.account(), &name, &claim_token).await?;
    Ok(ToolOutput::json(SiteJson::new(app, site)).page().warned(warnings))
}
