//! Serves `PATCH /sites/{idOrSlug}`: changes the settings of a page. Spec §4 Sites.

use super::site_json::visibility;
use super::{ApiError, ApiState};
use crate::http::extract::{Fields, Incoming, Owner};
use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};
use dropleaf_app::PatchRequest;
use dropleaf_core::expiry::Lifetime;
use dropleaf_core::options;
use dropleaf_core::site::Visibility;
use dropleaf_core::site_change::{self, Field};
use dropleaf_core::slug::Slug;
use dropleaf_core::{Error, email};
use http::HeaderMap;
use serde::Serialize;
use utoipa::ToSchema;

/// Accepted fields.
const SETTINGS: [&str; 10] = [
    "slug",
    "visibility",
    "password",
    "expires_in_hours",
    "expires_at",
    "email_gate_domain",
    "agentation",
    "csp_strict",
    "title",
    "wallet",
];

/// Settings to change; fields that are not sent keep their value.
#[derive(Debug, ToSchema)]
#[schema(example = json!({"visibility": "public", "slug": "weekly-report", "expires_at": null}))]
#[expect(dead_code, reason = "describes the body; it is read field by field")]
pub(super) struct PatchBody {
    /// Makes an unlisted page public, unless `visibility` is sent too; null clears it.
    slug: Option<String>,
    #[schema(schema_with = visibility, required = false)]
    visibility: Option<String>,
    /// Null clears it.
    password: Option<String>,
    /// Epoch seconds; null removes the expiry.
    expires_at: Option<i64>,
    /// A number of hours from now; null (or the text `never`) removes the expiry.
    expires_in_hours: Option<f64>,
    /// Null clears it.
    email_gate_domain: Option<String>,
    #[schema(nullable = false)]
    agentation: Option<bool>,
    #[schema(nullable = false)]
    csp_strict: Option<bool>,
    #[schema(nullable = false)]
    title: Option<String>,
    /// Only null is accepted: the wallet that paid for the page can then no longer replace it.
    wallet: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"ok": true, "updated_at": 1_794_706_861, "warnings": []}))]
pub(super) struct ChangedJson {
    ok: bool,
    updated_at: i64,
    warnings: Vec<String>,
}

/// Change a page's settings
///
/// Only sent fields change. Unknown fields are ignored with a warning, but one that looks like a protection is refused.
/// Only null clears a setting: an empty string is refused.
#[utoipa::path(
    patch, path = "/sites/{idOrSlug}", tag = "Sites", operation_id = "changeSite",
    params(("idOrSlug" = String, Path, description = "The id, the slug or the token.")),
    request_body(content = PatchBody, content_type = "application/json"),
    responses((status = 200, description = "Changed", body = ChangedJson)),
    security(("api_key" = [])),
)]
pub(super) async fn change(
    State(state): State<ApiState>,
    Owner(account): Owner,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<ChangedJson>, ApiError> {
    let fields = Fields::new(Incoming { state: &state, headers: &headers, body }.object(64 * 1024).await?);
    let (request, mut warnings) = patch_request(fields, state.app.now())?;
    let updated = state.app.change_site(&account, &name, request).await?;
    warnings.extend(updated.warnings);
    Ok(Json(ChangedJson { ok: true, updated_at: updated.site.updated_at, warnings }))
}

/// Parses the requested changes, and returns warnings about unknown fields.
pub(in crate::http) fn patch_request(
    mut fields: Fields,
    now: i64,
) -> Result<(PatchRequest, Vec<String>), Error> {
    let slug = match fields.text_of(&["slug", "public_slug"])? {
        Field::Value(text) => Field::Value(Slug::parse(&text)?),
        Field::Null => Field::Null,
        Field::Absent => Field::Absent,
    };
    let visibility = match fields.optional_text("visibility")? {
        Some(text) => Some(
            Visibility::parse(&text)
                .ok_or_else(|| Error::field("visibility", "must be unlisted, public or burn"))?,
        ),
        None => None,
    };
    let password = match fields.text("password")? {
        Field::Value(text) => Field::Value(options::password(&text)?.to_owned()),
        other => other,
    };
    let lifetime = match (fields.int("expires_at")?, fields.hours("expires_in_hours")?) {
        (Field::Absent, Field::Absent) => None,
        (Field::Value(at), Field::Absent) => Some(Lifetime::from_epoch(at, now)?),
        (Field::Absent, Field::Value(lifetime)) => Some(lifetime),
        (Field::Null, Field::Absent | Field::Null) | (Field::Absent, Field::Null) => Some(Lifetime::Never),
        (Field::Value(_), Field::Value(_) | Field::Null) | (Field::Null, Field::Value(_)) => {
            let both = "cannot be combined with `expires_in_hours`: send only one of them";
            return Err(Error::field("expires_at", both));
        }
    };
    let email_gate_domain = match fields.text_of(&["email_gate_domain", "allowed_email_domain"])? {
        Field::Value(text) => Field::Value(email::gate_domain(&text)?),
        other => other,
    };
    let title = fields.optional_text("title")?.map(|text| site_change::title(&text)).transpose()?;
    let (agentation, csp_strict) = (fields.flag("agentation")?, fields.flag("csp_strict")?);
    let ends_wallet = match fields.text("wallet")? {
        Field::Absent => false,
        Field::Null => true,
        Field::Value(_) => {
            return Err(Error::field(
                "wallet",
                "can only be null, which removes the access of the wallet that paid",
            ));
        }
    };
    let request = PatchRequest {
        slug,
        visibility,
        password,
        lifetime,
        email_gate_domain,
        agentation,
        csp_strict,
        title,
        ends_wallet,
        expected_updated_at: None,
    };
    Ok((request, fields.unknown(&SETTINGS)?))
}
