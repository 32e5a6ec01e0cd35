//! The one inline stylesheet of a page, with the CSP source that allows exactly its text.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

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
            $crate::style::Style::new(concat!(
                include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/base.css")),
                $(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/", $file))),+
            ))
        })
    };
}
pub(super) use style;

#[cfg(test)]
mod tests {
    use super::Style;

    #[test]
    fn the_source_is_the_sha256_of_the_text_in_base64() {
        // The digest of the empty text is well known.
        assert_eq!(Style::new("").source, "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='");
    }
}
