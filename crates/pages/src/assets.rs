//! Stylesheets and scripts: as files of the pages that load them, and as the one inline stylesheet of the others. The name of a
//! file contains a hash of its content, so a changed file has another URL.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dropleaf_core::secret;
use sha2::{Digest as _, Sha256};
use std::sync::LazyLock;

#[derive(Debug)]
pub struct Asset {
    pub name: String,
    pub kind: &'static str,
    pub text: &'static str,
}

macro_rules! assets {
    ($($name:ident = $stem:literal . $ending:literal : $($file:literal)+;)*) => {
        $(pub(super) static $name: LazyLock<Asset> = LazyLock::new(|| {
            Asset::new($stem, $ending, concat!(
                $(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/", $file))),+
            ))
        });)*

        fn all() -> [&'static Asset; [$($stem),*].len()] { [$(&$name),*] }
    };
}

assets! {
    APP_CSS = "app"."css": "base.css" "app.css";
    OPERATOR_CSS = "operator"."css": "operator.css";
    DEVICE_CSS = "device"."css": "device.css";
    APP_JS = "app"."js": "copy.js" "app.js";
    PASSKEY_JS = "passkey"."js": "passkey.js";
    PAGES_CSS = "pages"."css": "drop.css" "pages.css";
    UPLOAD_JS = "upload"."js": "upload.js" "kept_pages.js";
    FRONT_PAGE_JS = "front-page"."js": "copy.js" "upload.js" "kept_pages.js" "front_page.js";
    CLAIM_JS = "claim"."js": "claim.js";
    PAY_CSS = "pay"."css": "pay.css";
    BILLING_CSS = "billing"."css": "billing.css";
    CHANGES_CSS = "changes"."css": "changes.css";
    FEEDBACK_CSS = "feedback"."css": "feedback.css";
    FEEDBACK_JS = "feedback"."js": "feedback.js";
    DOMAINS_CSS = "domains"."css": "domains.css";
    REFRESH_JS = "refresh"."js": "refresh.js";
    CARD_JS = "card"."js": "card.js";
}

impl Asset {
    fn new(stem: &str, ending: &str, text: &'static str) -> Self {
        let mark = secret::text(&Sha256::digest(text)[..6]);
        let kind = if ending == "css" { "text/css; charset=utf-8" } else { "text/javascript; charset=utf-8" };
        Self { name: format!("{stem}.{mark}.{ending}"), kind, text }
    }

    /// The path at which it is served.
    pub fn path(&self) -> String {
        format!("/assets/{}", self.name)
    }
}

/// The asset of this name, if it is the current version.
pub fn asset(name: &str) -> Option<&'static Asset> {
    all().into_iter().find(|asset| asset.name == name)
}

/// The one inline stylesheet of a page, with the CSP source that allows exactly its text.
#[derive(Debug)]
pub(super) struct Style {
    pub(super) text: &'static str,
    pub(super) source: String,
}

impl Style {
    pub(super) fn new(text: &'static str) -> Self {
        Self { text, source: format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text))) }
    }
}

/// A page's stylesheet: the shared one, then its own.
macro_rules! style {
    ($($file:literal),+) => {
        std::sync::LazyLock::new(|| {
            $crate::assets::Style::new(concat!(
                include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/base.css")),
                $(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/", $file))),+
            ))
        })
    };
}
pub(super) use style;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_asset_is_found_by_its_marked_name_alone() {
        assert!(asset(&APP_CSS.name).is_some());
        assert!(asset("app.css").is_none());
        assert_eq!(APP_JS.path(), format!("/assets/{}", APP_JS.name));
    }

    #[test]
    fn the_source_is_the_sha256_of_the_text_in_base64() {
        // The digest of the empty text is well known.
        assert_eq!(Style::new("").source, "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='");
    }
}
