//! Tools that add, list, change, check and delete custom domains.

use super::{ADDS, Call, Hints, READS, REMOVES, Tool, schema};
use crate::http::api::{CustomDomainJson, CustomDomainsJson, OkJson, add_domain};
use crate::http::mcp::tool_result::ToolOutput;
use dropleaf_app::{DomainChange, DomainView, NewDomain};
use dropleaf_core::Result;
use dropleaf_core::scope::Scope;
use serde::Deserialize;
use utoipa::ToSchema;

/// A check asks DNS servers; repeating it changes nothing more.
const CHECKS: Hints = Hints { read_only: false, destructive: false, idempotent: true, open_world: true };
/// Another page may be shown at the name.
const CHANGES: Hints = Hints { read_only: false, destructive: true, idempotent: true, open_world: true };

pub(super) static LIST_CUSTOM_DOMAINS: Tool = Tool {
    name: "list_custom_domains",
    title: "List custom domains",
    description: "List your custom domains with status, DNS records to enter and the last check.",
    needs: Scope::Read,
    hints: READS,
    input: schema::nothing,
    output: schema::output::<CustomDomainsJson>,
    run: |call| Box::pin(list_custom_domains(call)),
};

async fn list_custom_domains(call: Call) -> Result<ToolOutput> {
    let list = CustomDomainsJson::of(&call.state, call.account()).await?;
    Ok(ToolOutput::json(list).warned(call.fields.warnings()))
}

/// A domain to add.
#[derive(Debug, Deserialize, ToSchema)]
struct AddCustomDomain {
    /// Such as reports.example.com.
    hostname: String,
    /// Page it shows: ID, slug, token or URL.
    site: String,
    /// Show it in the page's `url` once verified.
    #[schema(nullable = false)]
    primary: Option<bool>,
    /// The same call with it within 24 hours returns the first result.
    #[schema(nullable = false, max_length = 255)]
    idempotency_key: Option<String>,
}

pub(super) static ADD_CUSTOM_DOMAIN: Tool = Tool {
    name: "add_custom_domain",
    title: "Add a custom domain",
    description: "Show a page at a host name of the user. Tell them which of the returned `records` to enter at \
                  their DNS provider, then call verify_custom_domain.",
    needs: Scope::Write,
    hints: ADDS,
    input: schema::of::<AddCustomDomain>,
    output: schema::output::<CustomDomainJson>,
    run: |call| Box::pin(add_custom_domain(call)),
};

async fn add_custom_domain(mut call: Call) -> Result<ToolOutput> {
    let AddCustomDomain { hostname, site, primary, idempotency_key } = call.fields.take()?;
    let warnings = call.fields.unknown()?;
    let new_domain = NewDomain { hostname, site, primary: primary.unwrap_or_default() };
    let response =
        add_domain(&call.state, &call.sender.caller, new_domain, warnings, idempotency_key).await?;
    let answer = ToolOutput::of_response(&response)?;
    let (site_id, url, name) = (answer.text_of("site_id"), answer.text_of("url"), answer.text_of("unicode"));
    Ok(answer.of_site(site_id).linked(url, name))
}

/// What to change.
#[derive(Debug, Deserialize, ToSchema)]
struct UpdateCustomDomain {
    /// The name of the domain.
    hostname: String,
    /// Page it shows: ID, slug, token or URL.
    #[schema(nullable = false)]
    site: Option<String>,
    /// Show it in the page's `url`.
    #[schema(nullable = false)]
    primary: Option<bool>,
}

pub(super) static UPDATE_CUSTOM_DOMAIN: Tool = Tool {
    name: "update_custom_domain",
    title: "Change a custom domain",
    description: "Show another page at a custom domain, or make it the page's primary name.",
    needs: Scope::Write,
    hints: CHANGES,
    input: schema::of::<UpdateCustomDomain>,
    output: schema::output::<CustomDomainJson>,
    run: |call| Box::pin(update_custom_domain(call)),
};

async fn update_custom_domain(mut call: Call) -> Result<ToolOutput> {
    let UpdateCustomDomain { hostname, site, primary } = call.fields.take()?;
    let warnings = call.fields.unknown()?;
    let change = DomainChange { site, primary };
    let view = call.state.app.change_domain(call.account(), &hostname, change).await?;
    Ok(shown(&view).warned(warnings))
}

/// One of your domains.
#[derive(Debug, Deserialize, ToSchema)]
struct OneDomain {
    /// The name of the domain.
    hostname: String,
}

pub(super) static VERIFY_CUSTOM_DOMAIN: Tool = Tool {
    name: "verify_custom_domain",
    title: "Check a custom domain",
    description: "Check the DNS records of a custom domain now. If they are not found, `last_error` says what to \
                  change.",
    needs: Scope::Write,
    hints: CHECKS,
    input: schema::of::<OneDomain>,
    output: schema::output::<CustomDomainJson>,
    run: |call| Box::pin(verify_custom_domain(call)),
};

async fn verify_custom_domain(mut call: Call) -> Result<ToolOutput> {
    let OneDomain { hostname } = call.fields.take()?;
    let view = call.state.app.verify_domain(call.account(), &hostname).await?;
    Ok(shown(&view).warned(call.fields.warnings()))
}

pub(super) static DELETE_CUSTOM_DOMAIN: Tool = Tool {
    name: "delete_custom_domain",
    title: "Delete a custom domain",
    description: "Delete a custom domain; the page keeps its other addresses.",
    needs: Scope::Write,
    hints: REMOVES,
    input: schema::of::<OneDomain>,
    output: schema::output::<OkJson>,
    run: |call| Box::pin(delete_custom_domain(call)),
};

async fn delete_custom_domain(mut call: Call) -> Result<ToolOutput> {
    let OneDomain { hostname } = call.fields.take()?;
    call.state.app.delete_domain(call.account(), &hostname).await?;
    Ok(ToolOutput::json(OkJson::yes()).warned(call.fields.warnings()))
}

/// The domain, with its address.
fn shown(view: &DomainView) -> ToolOutput {
    let output = ToolOutput::json(CustomDomainJson::new(view)).of_site(view.domain.site_id.clone());
    output.linked(view.url.clone(), view.domain.hostname.unicode())
}
