//! Unknown request fields: refuses a field that looks like a protection, because a page whose `passcode` was ignored would be
//! open to everyone with the link. Any other unknown field is a warning.

use crate::{Error, Result, upload_option};

/// A request with more unknown fields than this is refused, so that none is ignored without a check.
pub const MOST_UNKNOWN: usize = 100;
/// Longer names are only searched for stems, within their first 41 letters and digits.
const LONGEST_NAME: usize = 40;

/// A setting that restricts access, with the fields that set it in order of preference.
struct Protection {
    fields: &'static [&'static str],
    /// Other spellings, in lower case without separators.
    spellings: &'static [&'static str],
    /// A name that contains one of these refers to this protection.
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

/// Checks a field that a request does not support: returns a warning, or an error when it looks like a protection. `taken`
/// lists the supported fields.
pub fn unknown_field(name: &str, taken: &[&str]) -> Result<String> {
    let shown: String = name.chars().filter(|c| !c.is_control()).take(60).collect();
    let Some(protection) = protection(name) else {
        return Ok(format!("The unknown field `{shown}` was ignored."));
    };
    if let Some(field) = protection.fields.iter().find(|field| taken.contains(field)) {
        return Err(Error::unknown_field(&shown, &format!("did you mean `{field}`?")));
    }
    let why = "it has no effect here. Security options are never silently ignored: remove it, or set it when you create the \
               page or change its settings.";
    Err(Error::unknown_field(&shown, why))
}

/// Checks all fields that a request does not support; see [`unknown_field`].
pub fn unknown_fields<'a>(names: impl IntoIterator<Item = &'a str>, taken: &[&str]) -> Result<Vec<String>> {
    let mut warnings = Vec::new();
    for (count, name) in names.into_iter().enumerate() {
        if count >= MOST_UNKNOWN {
            return Err(Error::unknown_field(
                name,
                &format!("there are more than {MOST_UNKNOWN} unknown fields."),
            ));
        }
        warnings.push(unknown_field(name, taken)?);
    }
    warnings.truncate(32);
    Ok(warnings)
}

/// Refuses a protection in the query string of a write request: fields are read only from the body, so it would be ignored, and
/// URLs end up in logs.
pub fn refuse_in_address<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<()> {
    match names.into_iter().take(MOST_UNKNOWN).find(|name| protection(name).is_some()) {
        Some(name) => {
            let shown: String = name.chars().filter(|c| !c.is_control()).take(60).collect();
            Err(Error::field(&shown, "has no effect in the address: send it in the request body"))
        }
        None => Ok(()),
    }
}

/// The protection that a name denotes or is a misspelling of.
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
        // Aliases of protection fields count as protections too.
        let aliases = upload_option::aliases().filter(|(_, name)| protection.fields.first() == Some(name));
        let mut fields = protection.fields.iter().take(1).copied().chain(aliases.map(|(alias, _)| alias));
        // Spellings are often short words: allow one wrong letter, and only in the longer ones.
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

/// Whether the edit distance (insertions, deletions, substitutions and swaps of neighbors) is at most `most`.
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
#[path = "lookalike_tests.rs"]
mod tests;
