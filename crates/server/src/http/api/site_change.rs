//! Serves `PATCH /sites/{idOrSlug}`: changes the settings of a page. Spec §4 Sites.

use super::site_json::{feedback_visible, visibility};
use crate::http::api_error::ApiError;
use crate::http::extract::{Hours, Incoming, Owner, agreed, nullable};
use crate::http::state::ApiState;
use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};
use dropleaf_app::PatchRequest;
use dropleaf_core::expiry::Lifetime;
use dropleaf_core::feedback_thread::FeedbackVisible;
use dropleaf_core::options;
use dropleaf_core::site::Visibility;
use dropleaf_core::site_change::{self, Field};
use dropleaf_core::slug::Slug;
use dropleaf_core::{Error, email};
use http::HeaderMap;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Settings to change; fields that are not sent keep their value.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[schema(example = json!({"visibility": "public", "slug": "weekly-report", "expires_at": null}))]
pub(in crate::http) struct PatchBody {
    /// Makes an unlisted page public, unless `visibility` is sent too; null clears it.
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<String>)]
    pub slug: Field<String>,
    #[serde(deserialize_with = "nullable")]
    #[schema(ignore)]
    pub public_slug: Field<String>,
    #[schema(schema_with = visibility, required = false)]
    pub visibility: Option<String>,
    /// Null clears it.
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<String>)]
    pub password: Field<String>,
    /// Epoch seconds; null removes the expiry.
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<i64>)]
    pub expires_at: Field<i64>,
    /// A number of hours from now; null (or the text `never`) removes the expiry.
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<f64>)]
    pub expires_in_hours: Field<Hours>,
    /// Null clears it.
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<String>)]
    pub email_gate_domain: Field<String>,
    #[serde(deserialize_with = "nullable")]
    #[schema(ignore)]
    pub allowed_email_domain: Field<String>,
    #[schema(nullable = false)]
    pub agentation: Option<bool>,
    /// Open pages update when a new version is published.
    #[schema(nullable = false)]
    pub live: Option<bool>,
    /// Viewers can see what changes from the current version on, including text that is removed.
    #[schema(nullable = false)]
    pub show_changes: Option<bool>,
    #[schema(nullable = false)]
    pub csp_strict: Option<bool>,
    /// Which viewers see replies and resolved comments: only their `author`, or `everyone` who can open the page.
    #[schema(schema_with = feedback_visible, required = false)]
    pub feedback_visible: Option<String>,
    /// Stays when the content is replaced. Null: it follows the content again, from the next update.
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<String>)]
    pub title: Field<String>,
    /// Only null is accepted: the wallet that paid for the page can then no longer replace it.
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<String>)]
    pub wallet: Field<String>,
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
/// Only the fields that you send change. Unknown fields are ignored with a warning, but one that looks like a protection
/// setting is refused. Only null clears a setting: an empty string is refused.
#[utoipa::path(
    patch, path = "/sites/{idOrSlug}", tag = "Sites", operation_id = "changeSite",
    params(("idOrSlug" = String, Path, description = "The ID, the slug or the token.")),
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
    let mut fields = Incoming { state: &state, headers: &headers, body }.fields(64 * 1024).await?;
    let request = fields.take::<PatchBody>()?.request(state.app.now())?;
    let mut warnings = fields.unknown()?;
    let updated = state.app.change_site(&account, &name, request).await?;
    warnings.extend(updated.warnings);
    Ok(Json(ChangedJson { ok: true, updated_at: updated.site.updated_at, warnings }))
}

impl PatchBody {
    /// The requested changes.
    pub(in crate::http) fn request(self, now: i64) -> Result<PatchRequest, Error> {
        let slug = agreed(("slug", self.slug), ("public_slug", self.public_slug))?;
        let slug = slug.try_map(|text| Slug::parse(&text))?;
        let visibility = match self.visibility {
            Some(text) => Some(
                Visibility::parse(&text)
                    .ok_or_else(|| Error::field("visibility", "must be unlisted, public or burn"))?,
            ),
            None => None,
        };
        let password = self.password.try_map(|text| options::password(&text).map(str::to_owned))?;
        let lifetime = match (self.expires_at, self.expires_in_hours.try_map(Hours::lifetime)?) {
            (Field::Absent, Field::Absent) => None,
            (Field::Value(at), Field::Absent) => Some(Lifetime::from_epoch(at, now)?),
            (Field::Absent, Field::Value(lifetime)) => Some(lifetime),
            (Field::Null, Field::Absent | Field::Null) | (Field::Absent, Field::Null) => {
                Some(Lifetime::Never)
            }
            (Field::Value(_), Field::Value(_) | Field::Null) | (Field::Null, Field::Value(_)) => {
                let both = "cannot be combined with `expires_in_hours`: send only one of them";
                return Err(Error::field("expires_at", both));
            }
        };
        let email_gate_domain = agreed(
            ("email_gate_domain", self.email_gate_domain),
            ("allowed_email_domain", self.allowed_email_domain),
        )?;
        let email_gate_domain = email_gate_domain.try_map(|text| email::gate_domain(&text))?;
        let title = self.title.try_map(|text| site_change::title(&text))?;
        let ends_wallet = match self.wallet {
            Field::Absent => false,
            Field::Null => true,
            Field::Value(_) => {
                return Err(Error::field(
                    "wallet",
                    "can only be null, which removes the access of the wallet that paid",
                ));
            }
        };
        Ok(PatchRequest {
            slug,
            visibility,
            password,
            lifetime,
            email_gate_domain,
            agentation: self.agentation,
            live: self.live,
            show_changes: self.show_changes,
            csp_strict: self.csp_strict,
            feedback_visible: self.feedback_visible.as_deref().map(FeedbackVisible::read).transpose()?,
            title,
            ends_wallet,
            expected_updated_at: None,
        })
    }
}
