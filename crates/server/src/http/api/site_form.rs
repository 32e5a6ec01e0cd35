//! Describes the bodies of an upload and of a replacement for the OpenAPI document. `UploadOptions` parses the fields.

use super::site_json::visibility;
use crate::http::extract::nullable;
use dropleaf_core::site_change::Field;
use dropleaf_core::upload_option::EXPECTED_UPDATED_AT;
use serde::Deserialize;
use std::borrow::Cow;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

/// The multipart form of an upload. All fields but `file` are optional and string-encoded.
#[derive(Debug, ToSchema)]
#[schema(example = json!({
    "file": "<!doctype html>\n<title>Weekly report</title>\n<p>All is well.</p>\n", "expires_in_hours": "24", "title": "Weekly report"
}))]
#[expect(dead_code, reason = "describes the form; it is read as a stream")]
pub(super) struct SiteUpload {
    /// One .html, .htm, .md, .pdf, .svg, .txt, .csv, .tsv, .json, .ipynb, .png, .jpg, .gif, .webp or .avif file, or a .zip with an `index.html`, a `README.md` or a single HTML file.
    #[schema(format = Binary, content_media_type = "application/octet-stream")]
    file: String,
    /// Requested public subdomain; makes the site public.
    #[schema(nullable = false, example = "weekly-report")]
    slug: Option<String>,
    /// Alias of `slug`.
    #[schema(nullable = false)]
    public_slug: Option<String>,
    #[schema(schema_with = visibility, required = false)]
    visibility: Option<String>,
    /// Viewers must enter this password.
    #[schema(nullable = false, example = "correct horse")]
    password: Option<String>,
    /// Lifetime in hours, or `never`; anonymous uploads are capped at 24.
    #[schema(nullable = false, example = "24")]
    expires_in_hours: Option<String>,
    /// `true` deletes the site after its first view.
    #[schema(nullable = false, pattern = "^(true|false)$", example = "true")]
    burn_after_read: Option<String>,
    /// `true` if the payload is already AES-GCM ciphertext.
    #[schema(nullable = false, pattern = "^(true|false)$", example = "true")]
    e2e: Option<String>,
    /// `true` applies a strict Content-Security-Policy.
    #[schema(nullable = false, pattern = "^(true|false)$", example = "true")]
    csp_strict: Option<String>,
    /// `true` enables the feedback toolbar on the published page.
    #[schema(nullable = false, pattern = "^(true|false)$", example = "true")]
    agentation: Option<String>,
    /// `true` updates open pages within a second of a new version.
    #[schema(nullable = false, pattern = "^(true|false)$", example = "true")]
    live: Option<String>,
    /// `true` lets viewers see what changes from this version on, including text that is removed.
    #[schema(nullable = false, pattern = "^(true|false)$", example = "true")]
    show_changes: Option<String>,
    /// `true` answers navigations to unknown paths with `index.html`, as apps with client-side routes need, and shows
    /// the page at the root of its host; `false` answers them with 404. If not sent, it is detected from the content.
    #[schema(nullable = false, pattern = "^(true|false)$", example = "true")]
    spa: Option<String>,
    /// Restricts the page to email addresses of this domain.
    #[schema(nullable = false, example = "example.com")]
    email_gate_domain: Option<String>,
    /// Alias of `email_gate_domain`.
    #[schema(nullable = false)]
    allowed_email_domain: Option<String>,
    /// Overrides the document's own title.
    title: Option<String>,
    /// What to do about secrets and personal data in the content: `off`, `warn` (the response names kind and line) or
    /// `block` (422). If not sent, the operator's setting applies; an operator's `block` applies to everyone.
    #[schema(nullable = false, pattern = "^(off|warn|block)$", example = "block")]
    pii_check: Option<String>,
}

/// The form of a request that replaces a page.
#[derive(Debug)]
pub(super) struct SiteReplacement;

impl PartialSchema for SiteReplacement {
    fn schema() -> RefOr<Schema> {
        let mut schema = SiteUpload::schema();
        if let RefOr::T(Schema::Object(form)) = &mut schema {
            let says = "Epoch seconds: reject the change if the page was updated since then.";
            let field = ObjectBuilder::new().schema_type(Type::String).description(Some(says));
            form.properties.insert(EXPECTED_UPDATED_AT.to_owned(), field.into());
        }
        schema
    }
}

impl ToSchema for SiteReplacement {
    fn name() -> Cow<'static, str> {
        "SiteReplacement".into()
    }
}

/// New HTML for an existing page.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({"html": "<!doctype html>\n<title>Weekly report</title>\n<p>All is well again.</p>\n", "pii_check": "warn"}))]
pub(super) struct ReplaceBody {
    /// Full HTML document.
    pub html: String,
    /// Refuse the request if the page has changed since then.
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<i64>)]
    pub expected_updated_at: Field<i64>,
    /// `true` answers navigations to unknown paths with the page, as apps with client-side routes need.
    #[schema(nullable = false)]
    pub spa: Option<bool>,
    /// What to do about secrets and personal data in it: `off`, `warn` or `block` (422).
    #[schema(nullable = false, pattern = "^(off|warn|block)$", example = "block")]
    pub pii_check: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropleaf_core::upload_option::{NAMES, aliases};
    use std::collections::BTreeSet;

    /// The names of the fields that a schema describes.
    fn described(schema: RefOr<Schema>) -> BTreeSet<String> {
        match schema {
            RefOr::T(Schema::Object(object)) => object.properties.into_keys().collect(),
            _ => BTreeSet::new(),
        }
    }

    #[test]
    fn the_forms_describe_every_upload_option() {
        let names = NAMES.into_iter().chain(aliases().map(|(alias, _)| alias)).chain(["file"]);
        let mut all: BTreeSet<String> = names.map(str::to_owned).collect();
        assert_eq!(described(SiteReplacement::schema()), all);
        all.remove(EXPECTED_UPDATED_AT);
        assert_eq!(described(SiteUpload::schema()), all);
    }
}
