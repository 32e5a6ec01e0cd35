//! Fields that a request may not ignore: an unknown field that looks like a protection is refused, because a page whose
//! `passcode` was ignored would be open to everybody with the link. Any other unknown field is a warning.

use crate::{Error, Result};

/// More unknown fields than this are refused together, so that none is ignored unseen.
pub const MOST_UNKNOWN: usize = 100;
/// Longer names are nobody's spelling of a protection.
const LONGEST_NAME: usize = 40;

/// Something that keeps people or programs out, with the fields that set it in order of preference.
struct Protection {
    fields: &'static [&'static str],
    /// Other spellings, in small letters without separators.
    spellings: &'static [&'static str],
    /// A name that contains one of these is about this protection.
    stems: &'static [&'static str],
}

const PROTECTIONS: [Protection; 10] = [
    Protection {
        fields: &["password"],
        spellings: &[
            "pass",
            "pwd",
            "psw",
            "pw",
            "pin",
            "pincode",
            "secret",
            "passkey",
            "accesscode",
            "accesskey",
            "lock",
            "locked",
            "protect",
            "protected",
            "protection",
            "kennwort",
        ],
        stems: &["passw", "passcode", "passphrase"],
    },
    Protection {
        fields: &["burn_after_read", "visibility", "max_uses"],
        spellings: &[
            "once",
            "onetime",
            "onetimeview",
            "viewonce",
            "readonce",
            "singleuse",
            "singleview",
            "ephemeral",
            "deleteafterread",
            "deleteafterreading",
            "deleteafterview",
            "deleteafterviewing",
            "deleteonread",
        ],
        stems: &["burn", "selfdestruct", "destroyafter"],
    },
    Protection {
        fields: &["max_uses", "burn_after_read", "visibility"],
        spellings: &[
            "uses",
            "maxviews",
            "maxreads",
            "maxopens",
            "maxdownloads",
            "maxclicks",
            "viewlimit",
            "uselimit",
            "usagelimit",
            "limituses",
            "usesleft",
        ],
        stems: &[],
    },
    Protection {
        fields: &["expires_in_hours", "expires_at", "expires_in"],
        spellings: &[
            "ttl",
            "ttlhours",
            "ttlseconds",
            "life",
            "lifetime",
            "lifetimehours",
            "maxage",
            "hours",
            "days",
            "duration",
            "deleteafter",
            "deleteat",
            "deletein",
            "autodelete",
            "removeafter",
            "until",
            "validuntil",
            "validfor",
            "availableuntil",
            "keepfor",
            "retention",
            "timetolive",
        ],
        stems: &["expire", "expiry", "expiration"],
    },
    Protection {
        fields: &["email_gate_domain", "bypass_email_gate"],
        spellings: &[
            "gate",
            "domain",
            "domains",
            "gatedomain",
            "alloweddomain",
            "alloweddomains",
            "allowdomain",
            "domainrestriction",
            "restrictdomain",
            "restrictto",
            "allowlist",
            "whitelist",
            "viewers",
            "alloweduser",
            "allowedusers",
        ],
        stems: &["emailgate", "emaildomain", "allowedemail", "allowemail", "maildomain"],
    },
    Protection {
        fields: &["visibility"],
        spellings: &[
            "private",
            "isprivate",
            "privacy",
            "public",
            "ispublic",
            "unlisted",
            "isunlisted",
            "hidden",
            "access",
            "accesslevel",
            "listed",
        ],
        stems: &[],
    },
    Protection { fields: &["e2e"], spellings: &["e2ee", "endtoend", "ciphertext"], stems: &["encrypt"] },
    Protection {
        fields: &["csp_strict"],
        spellings: &[
            "csp",
            "strict",
            "strictcsp",
            "strictpolicy",
            "contentsecuritypolicy",
            "sandbox",
            "sandboxed",
        ],
        stems: &[],
    },
    Protection { fields: &["slug", "public_slug"], spellings: &["subdomain"], stems: &[] },
    Protection {
        fields: &["pii_check"],
        spellings: &["pii", "piiscan", "piimode", "checkpii", "scanpii", "secretscan", "checksecrets", "dlp"],
        stems: &[],
    },
];

/// Second names, which are as much a protection as the first.
const SECOND_NAMES: [(&str, &str); 2] =
    [("public_slug", "slug"), ("allowed_email_domain", "email_gate_domain")];

/// A field that a request does not take: a warning, or a refusal when it looks like a protection. `taken` are the fields
/// that the request does take.
pub fn unknown_field(name: &str, taken: &[&str]) -> Result<String> {
    let shown: String = name.chars().filter(|c| !c.is_control()).take(60).collect();
    let Some(protection) = protection(name) else {
        return Ok(format!("The field `{shown}` is not known and was ignored."));
    };
    if let Some(field) = protection.fields.iter().find(|field| taken.contains(field)) {
        return Err(Error::unknown_field(&shown, &format!("did you mean `{field}`?")));
    }
    let why = "it would have no effect here. Protections are never ignored: leave it out, or set it where the page is created \
               or its settings are changed.";
    Err(Error::unknown_field(&shown, why))
}

/// Every field that a request does not take; see [`unknown_field`].
pub fn unknown_fields<'a>(names: impl IntoIterator<Item = &'a str>, taken: &[&str]) -> Result<Vec<String>> {
    let mut warnings = Vec::new();
    for (count, name) in names.into_iter().enumerate() {
        if count >= MOST_UNKNOWN {
            return Err(Error::unknown_field(
                name,
                &format!("and more than {MOST_UNKNOWN} others are not either."),
            ));
        }
        warnings.push(unknown_field(name, taken)?);
    }
    warnings.truncate(32);
    Ok(warnings)
}

/// The protection that a name stands for or is a misspelling of.
fn protection(name: &str) -> Option<&'static Protection> {
    let letters: Vec<char> = name
        .chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .take(LONGEST_NAME + 1)
        .collect();
    let plain: String = letters.iter().collect();
    let exact = |protection: &&Protection| {
        let is_field = protection.fields.first().is_some_and(|field| same(field, &plain));
        is_field || protection.spellings.contains(&plain.as_str())
    };
    let stem = |protection: &&Protection| protection.stems.iter().any(|stem| plain.contains(stem));
    let near = |protection: &&Protection| {
        let is_near = |known: &str| {
            let known: Vec<char> = known.chars().filter(|c| *c != '_').collect();
            let allowed = match known.len() {
                0..4 => 0,
                4..7 => 1,
                _ => 2,
            };
            is_within(&letters, &known, allowed)
        };
        let second = SECOND_NAMES.iter().filter(|(_, first)| protection.fields.first() == Some(first));
        let mut fields = protection.fields.iter().take(1).copied().chain(second.map(|(second, _)| *second));
        // Spellings are often short words: only one letter may be wrong, and only in the longer ones.
        let mut spellings = protection.spellings.iter().filter(|spelling| spelling.len() > 7);
        fields.any(is_near)
            || spellings.any(|spelling| is_within(&letters, &spelling.chars().collect::<Vec<_>>(), 1))
    };
    let other_fields = |protection: &&Protection| protection.fields.iter().any(|field| same(field, &plain));
    if letters.len() > LONGEST_NAME {
        return PROTECTIONS.iter().find(stem);
    }
    PROTECTIONS
        .iter()
        .find(exact)
        .or_else(|| PROTECTIONS.iter().find(other_fields))
        .or_else(|| PROTECTIONS.iter().find(stem))
        .or_else(|| PROTECTIONS.iter().find(near))
}

fn same(field: &str, plain: &str) -> bool {
    field.chars().filter(|c| *c != '_').eq(plain.chars())
}

/// Whether one text becomes the other by at most `most` letters added, left out, replaced or swapped with their neighbour.
fn is_within(a: &[char], b: &[char], most: usize) -> bool {
    if a.len().abs_diff(b.len()) > most {
        return false;
    }
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let replaced = last[j] + usize::from(x != y);
            let mut distance = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                distance = distance.min(before_last[j - 1] + 1);
            }
            row.push(distance);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last.last().is_some_and(|distance| *distance <= most)
}

#[cfg(test)]
mod tests {
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
        for name in ["password", "passcode", "visibility", "expires_at", "burn_after_read", "max_uses", "e2e"]
        {
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
}
