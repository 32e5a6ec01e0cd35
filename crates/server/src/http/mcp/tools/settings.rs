//! Tools that change the settings of a page, one each: the same change as PATCH, returning the changed page.

use super::{Call, Hints, Tool, schema};
use crate::http::api::{SiteJson, patch_request};
use crate::http::mcp::answer::Answer;
use dropleaf_core::scope::Scope;
use dropleaf_core::{Code, Error, Result};
use utoipa::ToSchema;

/// A setting can grant or remove access or content; repeating it changes nothing.
const SETS: Hints = Hints { read_only: false, destructive: true, idempotent: true, open_world: true };
/// Every call resets the gate, even with the same value: viewers who had passed it are asked again.
const GATES: Hints = Hints { idempotent: false, ..SETS };

/// Changes settings of a page: one of `needed` must be present, `allowed` may be.
async fn change(mut call: Call, needed: &[&str], allowed: &[&str]) -> Result<Answer> {
    let name = call.site()?;
    if !needed.iter().any(|needed| call.fields.has(needed)) {
        return Err(missing(needed));
    }
    let taken = [needed, allowed].concat();
    let settings = call.fields.split(&taken);
    let warnings = call.fields.unknown(&taken)?;
    let app = &call.state.app;
    let (request, _) = patch_request(settings, app.now())?;
    let updated = app.change_site(call.account(), &name, request).await?;
    Ok(Answer::json(SiteJson::updated(app, updated)).page().warned(warnings))
}

fn missing(needed: &[&str]) -> Error {
    match needed {
        [name] => Error::field(name, "is required"),
        _ => Error::new(Code::InvalidField, format!("Send `{}`.", needed.join("` or `"))),
    }
}

/// Who can find the page.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the arguments; they are read field by field")]
struct SetVisibility {
    /// The id, the slug or the token of the page.
    site: String,
    #[schema(schema_with = schema::visibility)]
    visibility: String,
    /// The public name; required for `public` unless the page has one.
    #[schema(nullable = false)]
    slug: Option<String>,
}

pub(super) static SET_VISIBILITY: Tool = Tool {
    name: "set_visibility",
    title: "Set visibility",
    description: "Make a page unlisted (private link), public (at a slug) or burn (deleted after its first view). Ask the user \
                  before you make a page public.",
    needs: Scope::Write,
    hints: SETS,
    input: schema::of::<SetVisibility>,
    output: schema::given::<SiteJson>,
    run: |call| Box::pin(change(call, &["visibility"], &["slug"])),
};

/// The password for viewers.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the arguments; they are read field by field")]
struct SetPassword {
    /// The id, the slug or the token of the page.
    site: String,
    /// The password; null removes the gate.
    #[schema(required = true)]
    password: Option<String>,
}

pub(super) static SET_PASSWORD: Tool = Tool {
    name: "set_password",
    title: "Set or remove the password",
    description: "Set the password that viewers must enter, or remove it with null. Viewers who already entered a password must \
                  enter it again, even if it is the same.",
    needs: Scope::Write,
    hints: GATES,
    input: schema::of::<SetPassword>,
    output: schema::given::<SiteJson>,
    run: |call| Box::pin(change(call, &["password"], &[])),
};

/// When the page expires. Send one of the two.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the arguments; they are read field by field")]
struct SetExpiry {
    /// The id, the slug or the token of the page.
    site: String,
    #[schema(schema_with = schema::hours, required = false)]
    expires_in_hours: Option<f64>,
    /// Epoch seconds, instead of `expires_in_hours`.
    #[schema(nullable = false)]
    expires_at: Option<i64>,
}

pub(super) static SET_EXPIRY: Tool = Tool {
    name: "set_expiry",
    title: "Set the expiry of a page",
    description: "Set when a page expires, or remove the expiry. Send `expires_in_hours` (from now) or `expires_at`. A later \
                  time restores an expired page.",
    needs: Scope::Write,
    // Hours count from the time of the call.
    hints: Hints { idempotent: false, ..SETS },
    input: schema::of::<SetExpiry>,
    output: schema::given::<SiteJson>,
    run: |call| Box::pin(change(call, &["expires_in_hours", "expires_at"], &[])),
};

/// Which e-mail domain opens the page.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the arguments; they are read field by field")]
struct SetEmailGate {
    /// The id, the slug or the token of the page.
    site: String,
    /// A domain such as example.com; null removes the gate.
    #[schema(required = true)]
    email_gate_domain: Option<String>,
}

pub(super) static SET_EMAIL_GATE: Tool = Tool {
    name: "set_email_gate",
    title: "Set or remove the email gate",
    description: "Restrict a page to people with an email address at one domain, who get an emailed code; null removes the \
                  restriction. Viewers who already confirmed an address must confirm it again, even if the domain is the same.",
    needs: Scope::Write,
    hints: GATES,
    input: schema::of::<SetEmailGate>,
    output: schema::given::<SiteJson>,
    run: |call| Box::pin(change(call, &["email_gate_domain"], &[])),
};

/// Whether viewers can comment.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "describes the arguments; they are read field by field")]
struct SetAgentation {
    /// The id, the slug or the token of the page.
    site: String,
    /// Whether the page shows the toolbar.
    agentation: bool,
}

pub(super) static SET_AGENTATION: Tool = Tool {
    name: "set_agentation",
    title: "Turn the feedback toolbar on or off",
    description: "Turn the feedback toolbar for viewers on or off. Read their comments with list_feedback.",
    needs: Scope::Write,
    hints: SETS,
    input: schema::of::<SetAgentation>,
    output: schema::given::<SiteJson>,
    run: |call| Box::pin(change(call, &["agentation"], &[])),
};
