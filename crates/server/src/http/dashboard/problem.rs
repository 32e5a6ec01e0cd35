//! Turns refusals into messages for people, and picks the form field they are shown at.

use crate::http::web::{Fields, TOKEN_FIELD};
use dropleaf_core::error::FieldError;
use dropleaf_core::{Code, Error};
use dropleaf_pages::dashboard::{Attempt, RefusedForm};

/// Fields of operations: the API name, the name people read, and the form field that shows it.
const NAMES: [(&str, &str, &str); 21] = [
    ("title", "The title", "title"),
    ("slug", "The public name", "slug"),
    ("visibility", "The visibility", "visibility"),
    ("burn_after_read", "The view-once setting", "visibility"),
    ("password", "The password", "password"),
    ("email_gate_domain", "The email domain", "domain"),
    ("expires_at", "The expiry", "expires"),
    ("expires_in_hours", "The expiry", "expires"),
    ("expires_in", "The expiry", "expires"),
    ("note", "The note", "note"),
    ("max_uses", "The maximum number of uses", "max_uses"),
    ("file", "The file", "file"),
    ("comment", "The description", "comment"),
    ("contact", "The contact", "contact"),
    ("hostname", "The domain", "hostname"),
    ("site_id", "The page", "site"),
    ("text", "The reply", "text"),
    ("ids", "The selection", "ids"),
    ("url", "The address", "url"),
    ("events", "The events", "event"),
    ("description", "The description", "description"),
];

/// The form field that a refusal concerns; empty if it concerns the whole form.
fn field(error: &Error) -> &'static str {
    match error.code {
        Code::InvalidSlug | Code::SlugRequired | Code::SlugTaken => "slug",
        Code::PlanLifetimeLimit => "expires",
        Code::InvalidField => named(error).map_or("", |(_, field, _)| field),
        Code::DomainExists => "hostname",
        Code::InvalidClaimToken | Code::AlreadyClaimed => "claim_token",
        Code::MissingFile
        | Code::EmptyFile
        | Code::UnsupportedType
        | Code::NotText
        | Code::InvalidPdf
        | Code::InvalidArchive
        | Code::MissingIndex
        | Code::ForbiddenName
        | Code::InvalidCiphertext
        | Code::TooLarge
        | Code::TooManyFiles
        | Code::TooManyScripts
        | Code::ExecutableRefused
        | Code::PhishingBlocked
        | Code::ContentBlocked
        | Code::SecretsFound => "file",
        _ => "",
    }
}

/// The name people read for the field at fault, the form field, and what is wrong with it.
fn named(error: &Error) -> Option<(&'static str, &'static str, &str)> {
    let FieldError { name, why } = error.fault.as_deref()?;
    let (_, label, field) = NAMES.into_iter().find(|(known, _, _)| *known == name)?;
    Some((label, field, why))
}

pub(in crate::http) fn words(error: &Error) -> String {
    match error.code {
        Code::InvalidField => {
            named(error).map_or_else(|| error.detail.clone(), |(label, _, why)| format!("{label} {why}."))
        }
        Code::Conflict => {
            "The page was changed elsewhere since you opened this form. Your change was not saved. Review the current version, \
             then try again."
                .into()
        }
        // The detail also tells programs how to buy more.
        Code::PlanLifetimeLimit | Code::PlanPageLimit | Code::PlanDomainLimit => {
            error.fault.as_ref().map_or_else(|| error.detail.clone(), |fault| fault.why.clone())
        }
        Code::SlugRequired => "A public page needs a name.".into(),
        Code::SlugTaken => "This name is already taken. Choose another one.".into(),
        Code::DomainExists => "You have already added this domain.".into(),
        Code::MissingFile => "Choose a file first.".into(),
        // The address is refused, not the content.
        Code::PhishingBlocked if !may_appeal(error) => error.detail.clone(),
        Code::PhishingBlocked => {
            "This page looks like phishing and was not published. Why it was refused and how to fix it:"
                .into()
        }
        Code::ContentBlocked => "This content was not published. Why it was refused:".into(),
        Code::SecretsFound => {
            "The page appears to contain secrets or personal data and was not published. Where they are:".into()
        }
        Code::NotFound => "This no longer exists.".into(),
        _ => error.detail.clone(),
    }
}

/// What a publisher can do if the refusal is a mistake.
pub(super) const APPEAL: &str = "Was it refused by mistake?";

/// Whether the operator can overrule it.
pub(in crate::http) fn may_appeal(error: &Error) -> bool {
    error.facts.iter().any(|(name, _)| *name == "appeal_url")
}

/// The refusal of one form, with the typed values except secrets, which must be typed again.
pub(super) fn refused(form: &'static str, error: &Error, typed: Vec<(String, String)>) -> Attempt {
    let mut typed = typed;
    typed.retain(|(name, _)| name != "password" && name != TOKEN_FIELD);
    let (reasons, appeal) = (error.reasons().to_vec(), may_appeal(error).then_some(APPEAL));
    Attempt(Some(RefusedForm { form, field: field(error), message: words(error), reasons, appeal, typed }))
}

/// The same, but shown at a given field.
pub(super) fn refused_at(form: &'static str, field: &'static str, error: &Error, fields: &Fields) -> Attempt {
    let mut attempt = refused(form, error, fields.typed());
    if let Attempt(Some(refused)) = &mut attempt {
        refused.field = field;
    }
    attempt
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_called_what_people_call_them() {
        let error = Error::field_hinted("expires_at", "is in the past", "it is epoch seconds");
        assert_eq!((field(&error), words(&error).as_str()), ("expires", "The expiry is in the past."));
        let error = Error::field("title", "must be 1 to 200 characters on one line");
        assert_eq!(words(&error), "The title must be 1 to 200 characters on one line.");
        let error = Error::field("unheard", "is odd");
        assert_eq!((field(&error), words(&error).as_str()), ("", "`unheard` is odd."));
        let limit = Error::limit(Code::PlanPageLimit, "The plan holds 3.".into(), "Delete one, or buy more.");
        assert_eq!((field(&limit), words(&limit).as_str()), ("", "The plan holds 3."));
    }

    #[test]
    fn secrets_are_not_shown_again() {
        let typed = [("password", "pw"), ("form_token", "t"), ("slug", "a")];
        let typed = typed.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let Attempt(Some(refused)) = refused("upload", &Error::plain(Code::SlugTaken), typed) else {
            panic!("a refusal")
        };
        assert_eq!(refused.typed, [("slug".to_owned(), "a".to_owned())]);
        assert_eq!(refused.field, "slug");
    }
}
