//! The types of `<script>`: which are code, and which a Content-Security-Policy controls.

use dropleaf_core::html::character_references::{Context, decode};

/// Whether the policy applies to a script of this type: everything a browser runs, including import maps and speculation
/// rules. Data blocks such as JSON are exempt.
pub(crate) fn is_governed(kind: Option<String>, language: Option<String>) -> bool {
    let kind = match (kind, language) {
        (Some(kind), _) if kind.is_empty() => return true,
        (Some(kind), _) => decode(&kind, Context::Attribute).trim_ascii().to_ascii_lowercase(),
        (None, Some(language)) if !language.is_empty() => format!("text/{}", language.to_ascii_lowercase()),
        (None, _) => return true,
    };
    matches!(kind.as_str(), "module" | "importmap" | "speculationrules") || is_javascript(&kind)
}

/// The MIME types that browsers treat as JavaScript.
pub(crate) fn is_javascript(kind: &str) -> bool {
    let Some((family, name)) = kind.split_once('/') else { return false };
    match family {
        "application" => matches!(name, "javascript" | "ecmascript" | "x-javascript" | "x-ecmascript"),
        "text" => {
            matches!(
                name,
                "javascript" | "ecmascript" | "x-javascript" | "x-ecmascript" | "jscript" | "livescript"
            ) || matches!(name.strip_prefix("javascript1."), Some("0" | "1" | "2" | "3" | "4" | "5"))
        }
        _ => false,
    }
}
