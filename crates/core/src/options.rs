//! The optional string-encoded fields of an upload. Spec §2 `SiteUpload`.

use crate::expiry::Lifetime;
use crate::safety::PiiCheck;
use crate::site::Visibility;
use crate::slug::Slug;
use crate::upload_option::{self, UploadOption};
use crate::{Code, Error, Result, email, lookalike, number, site_change};

/// The longest password: enough for any phrase, too short to burden the password hasher.
pub const PASSWORD_BYTES: usize = 1024;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UploadOptions {
    pub slug: Option<Slug>,
    pub password: Option<String>,
    pub lifetime: Option<Lifetime>,
    pub burn_after_read: Option<bool>,
    pub visibility: Option<Visibility>,
    pub e2e: bool,
    pub csp_strict: Option<bool>,
    pub agentation: Option<bool>,
    pub live: Option<bool>,
    pub show_changes: Option<bool>,
    /// Whether navigations to unknown paths get `index.html`; `None` decides by the content.
    pub spa: Option<bool>,
    pub email_gate_domain: Option<String>,
    pub title: Option<String>,
    /// What to do about secrets and personal data in the content.
    pub pii_check: Option<PiiCheck>,
    /// Only in JSON, or as a form field on PUT: refuse unless the page is unchanged since the caller read it.
    pub expected_updated_at: Option<i64>,
    pub warnings: Vec<String>,
}

impl UploadOptions {
    /// Parses form fields in the order sent. A known field with a bad value is an error. An unknown field is ignored with a
    /// warning, unless it looks like a protection. An empty protection is an error, because the page would be published without
    /// it.
    pub fn parse<'a>(fields: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self> {
        let (mut options, mut others) = (Self::default(), Self::default());
        let mut unknown = Vec::new();
        for (name, value) in fields {
            match upload_option::find(name) {
                Some(option) if option.name == name => options.set(option, value)?,
                Some(option) => others.set(option, value)?,
                None => unknown.push(name),
            }
        }
        options.warnings = lookalike::unknown_fields(unknown, &upload_option::NAMES)?;
        options.slug = agreed("slug", options.slug, others.slug)?;
        options.email_gate_domain =
            agreed("email_gate_domain", options.email_gate_domain, others.email_gate_domain)?;
        if options.requested_visibility() == Some(Visibility::Burn) && options.slug.is_some() {
            return Err(Error::field(
                "burn_after_read",
                "cannot be combined with a slug: a public page can be viewed more than once",
            ));
        }
        if options.requested_visibility() == Some(Visibility::Unlisted) && options.slug.is_some() {
            return Err(Error::field(
                "slug",
                "is for public pages only: make the page public, or omit the name",
            ));
        }
        Ok(options)
    }

    fn set(&mut self, option: &UploadOption, value: &str) -> Result<()> {
        let name = option.name;
        if value.trim().is_empty() {
            return if option.may_be_empty { Ok(()) } else { Err(Error::empty_field(name)) };
        }
        match name {
            "slug" => self.slug = Some(Slug::parse(value)?),
            "password" => self.password = Some(password(value)?.to_owned()),
            "expires_in_hours" => self.lifetime = Some(Lifetime::from_hours_text(value)?),
            "burn_after_read" => self.burn_after_read = Some(flag(name, value)?),
            "e2e" => self.e2e = flag(name, value)?,
            "csp_strict" => self.csp_strict = Some(flag(name, value)?),
            "agentation" => self.agentation = Some(flag(name, value)?),
            "live" => self.live = Some(flag(name, value)?),
            "show_changes" => self.show_changes = Some(flag(name, value)?),
            "spa" => self.spa = Some(flag(name, value)?),
            "email_gate_domain" => self.email_gate_domain = Some(email::gate_domain(value)?),
            "title" => self.title = Some(site_change::title(value)?),
            "pii_check" => self.pii_check = Some(PiiCheck::read(value)?),
            "expected_updated_at" => {
                let at = number::integer(value.trim())
                    .ok_or_else(|| Error::field(name, "must be epoch seconds"))?;
                self.expected_updated_at = Some(at);
            }
            "visibility" => match Visibility::parse(value.trim()) {
                Some(visibility) => self.visibility = Some(visibility),
                None => return Err(Error::field(name, "must be unlisted, public or burn")),
            },
            _ => return Err(Error::internal(format!("the upload option {name} has no meaning"))),
        }
        Ok(())
    }

    /// Whether anything other than the content would change.
    pub fn changes_settings(&self) -> bool {
        let Self {
            slug,
            password,
            lifetime,
            burn_after_read,
            visibility,
            csp_strict,
            agentation,
            live,
            show_changes,
            email_gate_domain,
            title,
            // Named one by one, so that a new option is not left out unnoticed.
            e2e: _,
            spa: _,
            pii_check: _,
            expected_updated_at: _,
            warnings: _,
        } = self;
        slug.is_some()
            || password.is_some()
            || lifetime.is_some()
            || burn_after_read.is_some()
            || visibility.is_some()
            || csp_strict.is_some()
            || agentation.is_some()
            || live.is_some()
            || show_changes.is_some()
            || email_gate_domain.is_some()
            || title.is_some()
    }

    /// The visibility that the fields request, if any.
    pub fn requested_visibility(&self) -> Option<Visibility> {
        match (self.burn_after_read, self.visibility, &self.slug) {
            (Some(true), _, _) => Some(Visibility::Burn),
            (_, Some(visibility), _) => Some(visibility),
            (_, None, Some(_)) => Some(Visibility::Public),
            (_, None, None) => None,
        }
    }

    /// Checks what a new page requires beyond valid fields.
    pub fn check_new(&self) -> Result<()> {
        if self.visibility == Some(Visibility::Public) && self.slug.is_none() {
            return Err(Error::plain(Code::SlugRequired));
        }
        Ok(())
    }

    /// The visibility of a new page.
    pub fn visibility(&self) -> Visibility {
        self.requested_visibility().unwrap_or(Visibility::Unlisted)
    }
}

/// The value of a field with an alias. If both are sent, they must be equal.
fn agreed<T: PartialEq>(name: &str, value: Option<T>, other: Option<T>) -> Result<Option<T>> {
    match (value, other) {
        (Some(value), Some(other)) if value != other => {
            let alias = upload_option::find(name).and_then(|option| option.alias).unwrap_or(name);
            Err(Error::field(alias, format!("conflicts with `{name}`: send only one of them")))
        }
        (value, other) => Ok(value.or(other)),
    }
}

pub fn password(text: &str) -> Result<&str> {
    if text.trim().is_empty() || text.len() > PASSWORD_BYTES {
        let why = format!("must be 1 to {PASSWORD_BYTES} bytes and not only whitespace");
        return Err(Error::field("password", why));
    }
    Ok(text)
}

fn flag(name: &str, value: &str) -> Result<bool> {
    match value.trim().to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => Ok(true),
        "false" | "0" | "no" | "off" => Ok(false),
        _ => Err(Error::field(name, "must be true or false")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::upload_option::OptionKind;

    #[test]
    fn the_fields_of_the_contract_and_their_other_names_are_read() {
        let options = UploadOptions::parse([
            ("public_slug", "Report-1"),
            ("password", "pw"),
            ("expires_in_hours", "24"),
            ("csp_strict", "true"),
            ("agentation", "TRUE"),
            ("e2e", "false"),
            ("allowed_email_domain", "Example.com"),
        ])
        .unwrap();
        assert_eq!(options.slug.as_ref().unwrap().as_str(), "report-1");
        assert_eq!(options.lifetime, Some(Lifetime::Seconds(86_400)));
        assert_eq!(options.email_gate_domain.as_deref(), Some("example.com"));
        assert_eq!((options.csp_strict, options.agentation, options.e2e), (Some(true), Some(true), false));
        assert_eq!(options.visibility(), Visibility::Public);
    }

    #[test]
    fn two_names_of_one_field_must_agree() {
        for (fields, bad) in [
            ([("slug", "one"), ("public_slug", "two")], "public_slug"),
            ([("public_slug", "two"), ("slug", "one")], "public_slug"),
            (
                [("email_gate_domain", "a.example"), ("allowed_email_domain", "b.example")],
                "allowed_email_domain",
            ),
        ] {
            let error = UploadOptions::parse(fields).unwrap_err();
            assert_eq!(error.code, Code::InvalidField);
            assert!(error.detail.contains(bad) && error.detail.contains("conflicts"), "{}", error.detail);
        }
        let same = UploadOptions::parse([("slug", "One"), ("public_slug", "one")]).unwrap();
        assert_eq!(same.slug.unwrap().as_str(), "one");
    }

    #[test]
    fn unknown_fields_warn_and_bad_values_are_refused() {
        assert_eq!(UploadOptions::parse([("colour", "red")]).unwrap().warnings.len(), 1);
        for (name, value) in [
            ("e2e", "maybe"),
            ("expires_in_hours", "x"),
            ("slug", "!"),
            ("title", "\u{7}"),
            ("visibility", "x"),
        ] {
            assert!(UploadOptions::parse([(name, value)]).is_err(), "{name}");
        }
    }

    #[test]
    fn an_empty_protection_is_refused_and_an_empty_title_counts_as_not_sent() {
        for name in upload_option::NAMES.into_iter().chain(upload_option::aliases().map(|(alias, _)| alias)) {
            for value in ["", " ", "\t\n", "\u{a0}"] {
                let parsed = UploadOptions::parse([(name, value)]);
                if ["agentation", "live", "show_changes", "spa", "title"].contains(&name) {
                    assert_eq!(parsed.unwrap(), UploadOptions::default(), "{name}");
                } else {
                    let error = parsed.expect_err(name);
                    assert_eq!(error.code, Code::InvalidField, "{name}");
                    assert!(error.detail.contains("is empty"), "{name}: {}", error.detail);
                }
            }
        }
    }

    #[test]
    fn every_option_of_the_table_has_a_meaning() {
        for option in upload_option::UPLOAD_OPTIONS {
            let value = match (option.kind, option.name) {
                (OptionKind::Flag, _) => "true",
                (OptionKind::Hours | OptionKind::EpochSeconds, _) => "24",
                (OptionKind::Text, "visibility") => "burn",
                (OptionKind::Text, "pii_check") => "warn",
                (OptionKind::Text, "email_gate_domain") => "example.com",
                (OptionKind::Text, _) => "report",
            };
            for name in [Some(option.name), option.alias].into_iter().flatten() {
                let options = UploadOptions::parse([(name, value)]).expect(name);
                assert_ne!(options, UploadOptions::default(), "{name}");
            }
        }
    }

    #[test]
    fn an_unknown_field_that_looks_like_a_protection_is_refused() {
        for name in
            ["passcode", "Password", "expires_at", "ttl", "burn", "private", "encrypted", "allowed_domain"]
        {
            let error = UploadOptions::parse([("title", "A"), (name, "x")]).expect_err(name);
            assert!(error.detail.contains("did you mean"), "{name}: {}", error.detail);
        }
    }

    #[test]
    fn a_public_page_cannot_burn() {
        let error = UploadOptions::parse([("slug", "abc"), ("visibility", "unlisted")]).unwrap_err();
        assert!(error.detail.contains("public pages only"), "{}", error.detail);
        assert!(UploadOptions::parse([("visibility", "unlisted")]).is_ok());
        let error = UploadOptions::parse([("slug", "abc"), ("burn_after_read", "true")]).unwrap_err();
        assert_eq!(error.code, Code::InvalidField);
    }
}
