//! The JSON of a site: the fields of the interface, our additions, and those only sent on creation. Spec §2.

use crate::http::string_enum::words;
use dropleaf_app::{App, CreatedSite, EditedSite, UpdatedSite};
use dropleaf_core::feedback_thread::FeedbackVisible;
use dropleaf_core::iso;
use dropleaf_core::site::{Site, State, Visibility};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa::openapi::schema::Object;

/// Who can find a page.
pub(super) fn visibility() -> Object {
    let all = [Visibility::Unlisted, Visibility::Public, Visibility::Burn];
    let says =
        "`unlisted`: anyone with the link. `public`: at its slug. `burn`: deleted after its first view.";
    words(all.map(Visibility::as_str), Some(says))
}

/// Which viewers see replies and resolved comments.
pub(super) fn feedback_visible() -> Object {
    let says = "Which viewers see replies and resolved comments: only their author, or everyone who can open the page.";
    words(FeedbackVisible::ALL.iter().map(|it| it.as_str()), Some(says))
}

fn state() -> Object {
    words([State::Live, State::Expired].map(State::as_str), None)
}

/// One published page or archive.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "id": "site_k3v5q7x2m4n6p8r1t9w0", "slug": null, "visibility": "unlisted",
    "url": "http://localhost:8080/p/0Qm1Yv2nT3uW4xZ5aB6cD7/", "created_at": 1_794_706_860, "updated_at": 1_794_706_860,
    "expires_at": null, "expires_at_iso": null, "byte_size": 5120, "email_gate": null,
    "unlisted_token": "0Qm1Yv2nT3uW4xZ5aB6cD7", "title": "Weekly report", "version": 1, "state": "live",
    "agentation": false, "feedback_visible": "author", "live": false, "show_changes": false, "csp_strict": false, "e2e": false, "spa": false, "password_protected": false,
    "view_count": 0, "last_viewed_at": null, "warnings": []
}))]
pub(in crate::http) struct SiteJson {
    /// Stable identifier.
    id: String,
    /// The public name, while the site is public.
    slug: Option<String>,
    #[schema(schema_with = visibility)]
    visibility: String,
    /// Canonical view URL.
    #[schema(format = "uri")]
    url: String,
    /// Epoch seconds.
    created_at: i64,
    /// Epoch seconds; increases with every change.
    updated_at: i64,
    /// Epoch seconds; null means no expiry.
    expires_at: Option<i64>,
    /// The same in ISO 8601 format.
    expires_at_iso: Option<String>,
    /// Total content size in bytes.
    byte_size: i64,
    email_gate: Option<EmailGateJson>,
    /// The token inside the private link.
    unlisted_token: String,
    /// From the document, or set by the owner.
    title: String,
    /// Starts at 1; every replacement creates a new version.
    version: i64,
    #[schema(schema_with = state)]
    state: String,
    agentation: bool,
    #[schema(schema_with = feedback_visible)]
    feedback_visible: String,
    /// Open pages update when a new version is published.
    live: bool,
    /// Viewers can see what changed between versions, at `_dropleaf/changes` below the page's URL.
    show_changes: bool,
    csp_strict: bool,
    e2e: bool,
    /// Unknown paths of the page are answered with its `index.html`: requested with `spa`, or detected from the
    /// content.
    spa: bool,
    password_protected: bool,
    view_count: i64,
    /// Epoch seconds of the last view.
    last_viewed_at: Option<i64>,
    /// What was ignored or changed, or looks like a mistake.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    warnings: Option<Vec<String>>,
    /// After an edit: what changed in the uploaded source, as a unified difference. Long ones are cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    diff: Option<String>,
    /// After an edit: true if nothing was changed because `dry_run` was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    dry_run: Option<bool>,
    /// One-time secret to claim the page for an account; only when a page without an owner is created.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    claim_token: Option<String>,
    /// Link for claiming the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = "uri")]
    claim_url: Option<String>,
    /// What to do next with a page that has no owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    next: Option<NextJson>,
}

/// Restricts the page to addresses of one email domain.
#[derive(Debug, Serialize, ToSchema)]
pub(in crate::http) struct EmailGateJson {
    domain: String,
    required: bool,
}

#[derive(Debug, Serialize, ToSchema)]
pub(in crate::http) struct NextJson {
    update_in_place: UpdateInPlaceJson,
}

/// How to replace the content at the same address without an account.
#[derive(Debug, Serialize, ToSchema)]
pub(in crate::http) struct UpdateInPlaceJson {
    method: String,
    #[schema(format = "uri")]
    url: String,
    credentials: Vec<UpdateCredentialJson>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(in crate::http) struct UpdateCredentialJson {
    scheme: String,
    header: String,
}

impl SiteJson {
    pub(in crate::http) fn new(app: &App, site: Site) -> Self {
        let public = site.visibility == Visibility::Public;
        let url = app.canonical_url(&site);
        Self {
            state: site.state_at(app.now()).as_str().to_owned(),
            visibility: site.visibility.as_str().to_owned(),
            slug: site.slug.filter(|_| public),
            url,
            expires_at_iso: site.expires_at.map(iso::format),
            email_gate: site.email_gate_domain.map(|domain| EmailGateJson { domain, required: true }),
            password_protected: site.password_hash.is_some(),
            id: site.id,
            created_at: site.created_at,
            updated_at: site.updated_at,
            expires_at: site.expires_at,
            byte_size: site.byte_size,
            unlisted_token: site.token,
            title: site.title,
            version: site.version,
            agentation: site.agentation,
            feedback_visible: site.feedback_visible.as_str().to_owned(),
            live: site.live,
            show_changes: site.changes_since.is_some(),
            csp_strict: site.csp_strict,
            e2e: site.e2e,
            spa: site.spa,
            view_count: site.view_count,
            last_viewed_at: site.last_viewed_at,
            warnings: None,
            diff: None,
            dry_run: None,
            claim_token: None,
            claim_url: None,
            next: None,
        }
    }

    pub(in crate::http) fn created(app: &App, created: &CreatedSite) -> Self {
        let base = app.hosts.base.url();
        let id = &created.site.id;
        let next = created.claim_token.is_some().then(|| NextJson {
            update_in_place: UpdateInPlaceJson {
                method: "PUT".into(),
                url: format!("{base}/sites/{id}"),
                credentials: vec![UpdateCredentialJson {
                    scheme: "Claim".into(),
                    header: "Authorization: Claim <claim_token>".into(),
                }],
            },
        });
        Self {
            warnings: Some(created.warnings.clone()),
            // The token is in the fragment, which browsers do not send to servers.
            claim_url: created.claim_token.as_ref().map(|token| format!("{base}/claim/{id}#{token}")),
            claim_token: created.claim_token.clone(),
            next,
            ..Self::new(app, created.site.clone())
        }
    }

    /// The claim link; empty for a page with an owner.
    pub(in crate::http) fn claim_url(&self) -> &str {
        self.claim_url.as_deref().unwrap_or_default()
    }

    pub(in crate::http) fn updated(app: &App, updated: UpdatedSite) -> Self {
        Self::changed(app, updated.site, updated.warnings)
    }

    pub(in crate::http) fn changed(app: &App, site: Site, warnings: Vec<String>) -> Self {
        Self { warnings: Some(warnings), ..Self::new(app, site) }
    }

    pub(in crate::http) fn edited(app: &App, edited: &EditedSite) -> Self {
        let UpdatedSite { site, warnings } = &edited.updated;
        Self {
            diff: Some(edited.diff.unified()),
            dry_run: Some(edited.dry_run),
            ..Self::changed(app, site.clone(), warnings.clone())
        }
    }

    pub(in crate::http) fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}
