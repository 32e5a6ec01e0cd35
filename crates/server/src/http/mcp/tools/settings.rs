//! Tools that change the settings of a page, one each: the same change as PATCH, returning the changed page.

use super::{Call, Hints, Tool, schema};
use crate::http::api::{PatchBody, SiteJson};
use crate::http::extract::{Hours, hours_schema, nullable, visibility_schema};
use crate::http::mcp::tool_result::ToolOutput;
use dropleaf_core::scope::Scope;
use dropleaf_core::site_change::Field;
use dropleaf_core::{Code, Error, Result};
use serde::Deserialize;
use utoipa::ToSchema;

/// A setting can grant or remove access or content; repeating it changes nothing.
const SETS: Hints = Hints { read_only: false, destructive: true, idempotent: true, open_world: true };
/// Every call resets the gate, even with the same value: viewers who had passed it are asked again.
const GATES: Hints = Hints { idempotent: false, ..SETS };

/// Changes settings of a page.
async fn change(call: Call, name: String, settings: PatchBody) -> Result<ToolOutput> {
    let warnings = call.fields.unknown()?;
    let app = &call.state.app;
    let request = settings.request(app.now())?;
    let updated = app.change_site(call.account(), &name, request).await?;
    Ok(ToolOutput::json(SiteJson::updated(app, updated)).page().warned(warnings))
}

/// Refuses a setting that was not sent; null is a value.
fn require<T>(name: &str, setting: Field<T>) -> Result<Field<T>> {
    if setting.is_absent() { Err(Error::field(name, "is required")) } else { Ok(setting) }
}

/// Who can find the page.
#[derive(Debug, Deserialize, ToSchema)]
struct SetVisibility {
    /// ID, slug, token or URL.
    site: String,
    #[schema(schema_with = visibility_schema)]
    visibility: String,
    /// Required for `public` unless the page has one.
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<String>, nullable = false)]
    slug: Field<String>,
}

pub(super) static SET_VISIBILITY: Tool = Tool {
    name: "set_visibility",
    title: "Set visibility",
    description: "Set who can find a page. Ask the user before you make it public.",
    needs: Scope::Write,
    hints: SETS,
    input: schema::of::<SetVisibility>,
    output: schema::output::<SiteJson>,
    run: |call| Box::pin(set_visibility(call)),
};

async fn set_visibility(mut call: Call) -> Result<ToolOutput> {
    let SetVisibility { site, visibility, slug } = call.fields.take()?;
    change(call, site, PatchBody { slug, visibility: Some(visibility), ..PatchBody::default() }).await
}

/// The password for viewers.
#[derive(Debug, Deserialize, ToSchema)]
struct SetPassword {
    /// ID, slug, token or URL.
    site: String,
    /// The password; null removes the gate.
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<String>, required = true)]
    password: Field<String>,
}

pub(super) static SET_PASSWORD: Tool = Tool {
    name: "set_password",
    title: "Set or remove the password",
    description: "Set the password that viewers must enter. Everyone must enter it again, even the same one.",
    needs: Scope::Write,
    hints: GATES,
    input: schema::of::<SetPassword>,
    output: schema::output::<SiteJson>,
    run: |call| Box::pin(set_password(call)),
};

async fn set_password(mut call: Call) -> Result<ToolOutput> {
    let SetPassword { site, password } = call.fields.take()?;
    let password = require("password", password)?;
    change(call, site, PatchBody { password, ..PatchBody::default() }).await
}

/// When the page expires. Send one of the two.
#[derive(Debug, Deserialize, ToSchema)]
struct SetExpiry {
    /// ID, slug, token or URL.
    site: String,
    #[serde(deserialize_with = "nullable")]
    #[schema(schema_with = hours_schema, required = false)]
    expires_in_hours: Field<Hours>,
    /// Epoch seconds, instead of `expires_in_hours`.
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<i64>, nullable = false)]
    expires_at: Field<i64>,
}

pub(super) static SET_EXPIRY: Tool = Tool {
    name: "set_expiry",
    title: "Set the expiry of a page",
    description: "Set or remove the expiry: `expires_in_hours` or `expires_at`. A later time restores an expired \
                  page.",
    needs: Scope::Write,
    // Hours count from the time of the call.
    hints: Hints { idempotent: false, ..SETS },
    input: schema::of::<SetExpiry>,
    output: schema::output::<SiteJson>,
    run: |call| Box::pin(set_expiry(call)),
};

async fn set_expiry(mut call: Call) -> Result<ToolOutput> {
    let SetExpiry { site, expires_in_hours, expires_at } = call.fields.take()?;
    if expires_in_hours.is_absent() && expires_at.is_absent() {
        return Err(Error::new(Code::InvalidField, "Send `expires_in_hours` or `expires_at`."));
    }
    change(call, site, PatchBody { expires_at, expires_in_hours, ..PatchBody::default() }).await
}

/// Which email domain opens the page.
#[derive(Debug, Deserialize, ToSchema)]
struct SetEmailGate {
    /// ID, slug, token or URL.
    site: String,
    /// Such as example.com; null removes the gate.
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<String>, required = true)]
    email_gate_domain: Field<String>,
}

pub(super) static SET_EMAIL_GATE: Tool = Tool {
    name: "set_email_gate",
    title: "Set or remove the email gate",
    description: "Restrict a page to email addresses of one domain, confirmed by a code. Everyone must confirm \
                  again.",
    needs: Scope::Write,
    hints: GATES,
    input: schema::of::<SetEmailGate>,
    output: schema::output::<SiteJson>,
    run: |call| Box::pin(set_email_gate(call)),
};

async fn set_email_gate(mut call: Call) -> Result<ToolOutput> {
    let SetEmailGate { site, email_gate_domain } = call.fields.take()?;
    let email_gate_domain = require("email_gate_domain", email_gate_domain)?;
    change(call, site, PatchBody { email_gate_domain, ..PatchBody::default() }).await
}

/// Whether viewers can comment.
#[derive(Debug, Deserialize, ToSchema)]
struct SetAgentation {
    /// ID, slug, token or URL.
    site: String,
    /// Whether the page shows the toolbar.
    agentation: bool,
    /// Who sees replies: author (of the comment) or everyone.
    #[schema(nullable = false)]
    feedback_visible: Option<String>,
}

pub(super) static SET_AGENTATION: Tool = Tool {
    name: "set_agentation",
    title: "Turn the feedback toolbar on or off",
    description: "Turn the feedback toolbar for viewers on or off; list_feedback reads their comments.",
    needs: Scope::Write,
    hints: SETS,
    input: schema::of::<SetAgentation>,
    output: schema::output::<SiteJson>,
    run: |call| Box::pin(set_agentation(call)),
};

async fn set_agentation(mut call: Call) -> Result<ToolOutput> {
    let SetAgentation { site, agentation, feedback_visible } = call.fields.take()?;
    let body = PatchBody { agentation: Some(agentation), feedback_visible, ..PatchBody::default() };
    change(call, site, body).await
}

/// Whether open pages follow new versions.
#[derive(Debug, Deserialize, ToSchema)]
struct SetLive {
    /// ID, slug, token or URL.
    site: String,
    /// Whether open pages update.
    live: bool,
    /// Whether viewers see what changes, also removed text.
    #[schema(nullable = false)]
    show_changes: Option<bool>,
}

pub(super) static SET_LIVE: Tool = Tool {
    name: "set_live",
    title: "Turn live updates on or off",
    description: "Choose whether the page updates in open browsers when you publish a new version.",
    needs: Scope::Write,
    hints: SETS,
    input: schema::of::<SetLive>,
    output: schema::output::<SiteJson>,
    run: |call| Box::pin(set_live(call)),
};

async fn set_live(mut call: Call) -> Result<ToolOutput> {
    let SetLive { site, live, show_changes } = call.fields.take()?;
    change(call, site, PatchBody { live: Some(live), show_changes, ..PatchBody::default() }).await
}
