//! Which field names count as a protection, and which do not.

use super::*;
use crate::Code;

const UPLOAD: [&str; 9] = [
    "slug",
    "password",
    "expires_in_hours",
    "burn_after_read",
    "visibility",
    "e2e",
    "csp_strict",
    "email_gate_domain",
    "pii_check",
];

#[test]
fn protections_in_an_address_are_refused_and_other_names_are_not() {
    for name in ["password", "Passcode", "expires_in_hours", "ttl", "burn", "slug", "csp_strict"] {
        let error = refuse_in_address(["purge", name]).unwrap_err();
        assert!(
            error.code == Code::InvalidField && error.detail.contains("in the request body"),
            "{}",
            error.detail
        );
    }
    assert!(refuse_in_address(["purge", "expected_updated_at", "utm_source", "v", ""]).is_ok());
}

#[test]
fn an_unknown_field_that_looks_like_a_protection_is_refused_with_the_name_that_was_meant() {
    for (name, meant) in [
        ("passcode", "password"),
        ("passwd", "password"),
        ("pass", "password"),
        ("pwd", "password"),
        ("PIN", "password"),
        ("Password", "password"),
        ("pass-word", "password"),
        ("pasword", "password"),
        ("passwrod", "password"),
        ("pássword", "password"),
        ("viewer_password", "password"),
        ("passphrase", "password"),
        ("expires", "expires_in_hours"),
        ("expiry", "expires_in_hours"),
        ("expiresInHours", "expires_in_hours"),
        ("expires_at", "expires_in_hours"),
        ("expires-in", "expires_in_hours"),
        ("expire_after_days", "expires_in_hours"),
        ("ttl", "expires_in_hours"),
        ("expirse_in_hours", "expires_in_hours"),
        ("burn", "burn_after_read"),
        ("burnAfterReading", "burn_after_read"),
        ("view_once", "burn_after_read"),
        ("max_views", "burn_after_read"),
        ("private", "visibility"),
        ("visiblity", "visibility"),
        ("is_public", "visibility"),
        ("encrypted", "e2e"),
        ("E2E", "e2e"),
        ("allowed_domain", "email_gate_domain"),
        ("email_domain", "email_gate_domain"),
        ("email-gate-domain", "email_gate_domain"),
        ("allowed_emails", "email_gate_domain"),
        ("alowed_email_domian", "email_gate_domain"),
        ("strict_csp", "csp_strict"),
        ("slugs", "slug"),
        ("pii", "pii_check"),
    ] {
        let error = unknown_field(name, &UPLOAD).expect_err(name);
        assert_eq!(error.code, Code::InvalidField, "{name}");
        assert!(error.detail.contains(&format!("did you mean `{meant}`?")), "{name}: {}", error.detail);
    }
}

#[test]
fn a_protection_that_a_request_does_not_take_is_refused_and_never_ignored() {
    for name in ["password", "passcode", "visibility", "expires_at", "burn_after_read", "max_uses", "e2e"] {
        let error = unknown_field(name, &["html", "filename"]).expect_err(name);
        assert!(error.detail.contains("no effect here"), "{}", error.detail);
    }
    let error = unknown_field("burn_after_read", &["visibility"]).unwrap_err();
    assert!(error.detail.contains("did you mean `visibility`?"), "{}", error.detail);
    let error = unknown_field("max_views", &["expires_in", "max_uses"]).unwrap_err();
    assert!(error.detail.contains("did you mean `max_uses`?"), "{}", error.detail);
}

#[test]
fn harmless_fields_are_warnings() {
    for name in [
        "colour",
        "description",
        "author",
        "tags",
        "keywords",
        "language",
        "theme",
        "folder",
        "html",
        "content",
        "filename",
        "file_name",
        "metadata",
        "source",
        "client",
        "version",
        "note",
        "comment",
        "",
        "é",
        "x",
        "name",
        "project",
        "category",
        "summary",
        "template",
        "favicon",
        "url",
        "id",
        "lang",
    ] {
        assert!(unknown_field(name, &UPLOAD).is_ok(), "{name}");
    }
    let long = "x".repeat(10_000);
    let warning = unknown_field(&long, &UPLOAD).unwrap();
    assert!(warning.len() < 120);
    assert!(unknown_field(&format!("{long}_password"), &UPLOAD).is_ok());
    assert!(unknown_field(&format!("password_{long}"), &UPLOAD).is_err());
}

#[test]
fn so_many_unknown_fields_that_they_cannot_be_named_are_refused() {
    let names: Vec<String> = (0..=MOST_UNKNOWN).map(|n| format!("field {n}")).collect();
    assert!(unknown_fields(names.iter().map(String::as_str), &UPLOAD).is_err());
    let few = unknown_fields(names.iter().take(MOST_UNKNOWN).map(String::as_str), &UPLOAD).unwrap();
    assert_eq!(few.len(), 32);
}
