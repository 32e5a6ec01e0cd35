//! Tools that create, list and revoke share links.

use super::{ADDS, Call, OneSite, READS, REMOVES, Tool, schema};
use crate::http::api::{OkJson, ShareTokenBody, ShareTokenJson, ShareTokensJson, make_share_token};
use crate::http::extract::{Hours, nullable};
use crate::http::mcp::tool_result::ToolOutput;
use dropleaf_core::Result;
use dropleaf_core::scope::Scope;
use dropleaf_core::site_change::Field;
use serde::Deserialize;
use utoipa::ToSchema;

/// A link to create.
#[derive(Debug, Deserialize, ToSchema)]
struct CreateShareLink {
    /// ID, slug, token or URL.
    site: String,
    /// For the owner; viewers do not see it.
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<String>, nullable = false)]
    note: Field<String>,
    #[serde(deserialize_with = "nullable")]
    #[schema(ignore)]
    label: Field<String>,
    /// Seconds from now.
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<i64>, nullable = false, minimum = 1)]
    expires_in: Field<i64>,
    #[serde(deserialize_with = "nullable")]
    #[schema(ignore)]
    expires_in_hours: Field<Hours>,
    /// How many times it may be opened.
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<i64>, nullable = false, minimum = 1)]
    max_uses: Field<i64>,
    /// Whether it also opens the email gate.
    #[schema(nullable = false)]
    bypass_email_gate: Option<bool>,
    /// The same call with it within 24 hours returns the first result.
    #[schema(nullable = false, max_length = 255)]
    idempotency_key: Option<String>,
}

pub(super) static CREATE_SHARE_LINK: Tool = Tool {
    name: "create_share_link",
    title: "Create a share link",
    description: "Create a link that opens a page without its password. It can expire, have a maximum number of \
                  uses, and be revoked.",
    needs: Scope::Write,
    hints: ADDS,
    input: schema::of::<CreateShareLink>,
    output: schema::output::<ShareTokenJson>,
    run: |call| Box::pin(create_share_link(call)),
};

async fn create_share_link(mut call: Call) -> Result<ToolOutput> {
    let CreateShareLink {
        site,
        note,
        label,
        expires_in,
        expires_in_hours,
        max_uses,
        bypass_email_gate,
        idempotency_key,
    } = call.fields.take()?;
    let body = ShareTokenBody { note, label, expires_in, expires_in_hours, max_uses, bypass_email_gate };
    let (request, warnings) = (body.request()?, call.fields.unknown()?);
    let caller = &call.sender.caller;
    let response = make_share_token(&call.state, caller, &site, request, warnings, idempotency_key).await?;
    let answer = ToolOutput::of_response(&response)?;
    let (site_id, url) = (answer.text_of("site_id"), answer.text_of("url"));
    Ok(answer.of_site(site_id).linked(url, "Share link".into()))
}

pub(super) static LIST_SHARE_LINKS: Tool = Tool {
    name: "list_share_links",
    title: "List share links",
    description: "List the share links of a page with their number of uses, newest first.",
    needs: Scope::Read,
    hints: READS,
    input: schema::of::<OneSite>,
    output: schema::output::<ShareTokensJson>,
    run: |call| Box::pin(list_share_links(call)),
};

async fn list_share_links(mut call: Call) -> Result<ToolOutput> {
    let name = call.site()?;
    let site = call.state.app.get_site(call.account(), &name).await?;
    let list = ShareTokensJson::of(&call.state, call.account(), &site.id).await?;
    Ok(ToolOutput::json(list).about(&call.state.app, site).warned(call.fields.warnings()))
}

/// Which link to revoke.
#[derive(Debug, Deserialize, ToSchema)]
struct RevokeShareLink {
    /// The ID of the link (`share_…`), or its token (`shr_…`).
    token: String,
}

pub(super) static REVOKE_SHARE_LINK: Tool = Tool {
    name: "revoke_share_link",
    title: "Revoke a share link",
    description: "Revoke a share link; everyone who used it is signed out.",
    needs: Scope::Write,
    hints: REMOVES,
    input: schema::of::<RevokeShareLink>,
    output: schema::output::<OkJson>,
    run: |call| Box::pin(revoke_share_link(call)),
};

async fn revoke_share_link(mut call: Call) -> Result<ToolOutput> {
    let RevokeShareLink { token } = call.fields.take()?;
    call.state.app.revoke_share_token(call.account(), &token).await?;
    Ok(ToolOutput::json(OkJson::yes()).warned(call.fields.warnings()))
}
