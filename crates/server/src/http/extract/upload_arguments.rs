//! The options of an upload as typed JSON: arguments of the MCP tools, and part of the body of `POST /check`. The form of
//! `POST /sites` sends the same options as text; `UploadOptions` parses both.

use super::fields::nullable;
use super::hours::Hours;
use dropleaf_core::Result;
use dropleaf_core::options::UploadOptions;
use dropleaf_core::safety::PiiCheck;
use dropleaf_core::site_change::Field;
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa::openapi::schema::{AnyOfBuilder, Object, ObjectBuilder, Schema, Type};

/// Options of an upload.
#[derive(Debug, Deserialize, ToSchema)]
pub(in crate::http) struct UploadArguments {
    /// Public name; without it the page is private.
    #[schema(nullable = false)]
    slug: Option<String>,
    #[schema(ignore)]
    public_slug: Option<String>,
    /// Viewers must enter it.
    #[schema(nullable = false)]
    password: Option<String>,
    #[schema(schema_with = visibility, required = false)]
    visibility: Option<String>,
    /// Only for email addresses of this domain.
    #[schema(nullable = false)]
    email_gate_domain: Option<String>,
    #[schema(ignore)]
    allowed_email_domain: Option<String>,
    /// Instead of the document's title; stays on updates.
    #[schema(nullable = false)]
    title: Option<String>,
    #[schema(schema_with = pii_check, required = false)]
    pii_check: Option<String>,
    /// Deletes the page after its first view.
    #[schema(nullable = false)]
    burn_after_read: Option<bool>,
    /// Only the page's own scripts; nothing from other hosts.
    #[schema(nullable = false)]
    csp_strict: Option<bool>,
    /// Feedback toolbar for viewers.
    #[schema(nullable = false)]
    agentation: Option<bool>,
    /// Open pages follow new versions.
    #[schema(nullable = false)]
    live: Option<bool>,
    /// Viewers can see what changes; only `set_live` describes it.
    #[schema(ignore)]
    show_changes: Option<bool>,
    /// Unknown paths get `index.html`; usually detected.
    #[schema(nullable = false)]
    spa: Option<bool>,
    /// The content is already ciphertext; only `create_upload` describes it.
    #[schema(ignore)]
    e2e: Option<bool>,
    #[serde(deserialize_with = "nullable")]
    #[schema(schema_with = hours, required = false)]
    expires_in_hours: Field<Hours>,
}

impl UploadArguments {
    /// The options as form fields, so that the same rules parse them.
    pub(in crate::http) fn into_form_fields(self) -> Vec<(String, String)> {
        let flag = |flag: Option<bool>| flag.map(|flag| flag.to_string());
        let hours = match self.expires_in_hours {
            Field::Value(hours) => Some(hours.into_text()),
            Field::Null => Some("never".to_owned()),
            Field::Absent => None,
        };
        let fields = [
            ("slug", self.slug),
            ("public_slug", self.public_slug),
            ("password", self.password),
            ("visibility", self.visibility),
            ("email_gate_domain", self.email_gate_domain),
            ("allowed_email_domain", self.allowed_email_domain),
            ("title", self.title),
            ("pii_check", self.pii_check),
            ("burn_after_read", flag(self.burn_after_read)),
            ("csp_strict", flag(self.csp_strict)),
            ("agentation", flag(self.agentation)),
            ("live", flag(self.live)),
            ("show_changes", flag(self.show_changes)),
            ("spa", flag(self.spa)),
            ("e2e", flag(self.e2e)),
            ("expires_in_hours", hours),
        ];
        fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }
}

/// Parses options that are form fields.
pub(in crate::http) fn parse_options(fields: &[(String, String)]) -> Result<UploadOptions> {
    UploadOptions::parse(fields.iter().map(|(name, value)| (name.as_str(), value.as_str())))
}

/// Parses the field `pii_check`.
pub(in crate::http) fn parse_pii_check(text: Option<&str>) -> Result<Option<PiiCheck>> {
    text.map(PiiCheck::read).transpose()
}

/// Schema of who can find a page.
pub(in crate::http) fn visibility() -> Object {
    let says = "unlisted: by link. public: at its slug. burn: deleted after one view.";
    words(&["unlisted", "public", "burn"], says)
}

/// Schema of `pii_check`.
pub(in crate::http) fn pii_check() -> Object {
    let says = "Secrets and personal data: ignore, warn or refuse.";
    words(&["off", "warn", "block"], says)
}

/// Schema of a number of hours from now, `never`, or null with the same meaning.
pub(in crate::http) fn hours() -> Schema {
    let number = ObjectBuilder::new().schema_type(Type::Number);
    let never = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(["never"]));
    AnyOfBuilder::new()
        .item(number)
        .item(never)
        .item(Object::with_type(Type::Null))
        .description(Some("Hours from now; \"never\" or null: no expiry."))
        .build()
        .into()
}

/// An enum of strings. Inlined, because a type would become a reference or a composition.
pub(in crate::http) fn words(words: &[&str], description: &str) -> Object {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .enum_values(Some(words.iter().copied()))
        .description(Some(description))
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::extract::Fields;
    use dropleaf_core::upload_option::{EXPECTED_UPDATED_AT, OptionKind, UPLOAD_OPTIONS};
    use serde_json::{Value, json};

    /// A value of the kind, and one of another.
    fn samples(kind: OptionKind) -> (Value, Value) {
        match kind {
            OptionKind::Text => (json!("24"), json!(true)),
            OptionKind::Flag => (json!(true), json!("true")),
            OptionKind::Hours | OptionKind::EpochSeconds => (json!(24), json!(true)),
        }
    }

    #[test]
    fn every_upload_option_is_an_argument_of_its_kind() {
        let parse = |name: &str, value: Value| {
            let object = json!({name: value}).as_object().cloned().unwrap_or_default();
            let mut fields = Fields::new(object);
            let arguments: Result<UploadArguments> = fields.take();
            arguments.map(|arguments| (arguments.into_form_fields(), fields.warnings()))
        };
        for option in UPLOAD_OPTIONS.iter().filter(|option| option.name != EXPECTED_UPDATED_AT) {
            let (good, bad) = samples(option.kind);
            let text = if option.kind == OptionKind::Flag { "true" } else { "24" };
            for name in [Some(option.name), option.alias].into_iter().flatten() {
                let (form_fields, unknown) = parse(name, good.clone()).unwrap();
                assert_eq!(form_fields, [(name.to_owned(), text.to_owned())]);
                assert!(unknown.is_empty(), "{name} is not an argument");
                assert!(parse(name, bad.clone()).is_err(), "{name} takes {bad}");
            }
        }
        let count =
            UPLOAD_OPTIONS.iter().map(|option| 1 + usize::from(option.alias.is_some())).sum::<usize>();
        let mut fields = Fields::new(serde_json::Map::new());
        fields.take::<UploadArguments>().unwrap();
        assert_eq!(fields.known().len(), count - 1, "an argument is not an upload option");
    }
}
