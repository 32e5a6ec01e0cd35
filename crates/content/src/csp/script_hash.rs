//! Inline scripts that a Content-Security-Policy controls: which they are, and the hash of their text as the browser's DOM will
//! hold it.

use dropleaf_core::base64;
use dropleaf_core::html::character_references::{Context, decode};
use dropleaf_core::mime::is_javascript;
use sha2::{Digest, Sha256};

/// Scripts in SVG are buffered before they are decoded; anything beyond this is ignored.
const SVG_TEXT_BYTES: usize = 1 << 20;

#[derive(Debug)]
pub(crate) struct ScriptHasher {
    hasher: Sha256,
    len: usize,
    after_return: bool,
    /// The buffered text of a script in SVG, where character references are decoded.
    svg_text: Option<String>,
}

impl ScriptHasher {
    pub(crate) fn new(in_svg: bool) -> Self {
        Self { hasher: Sha256::new(), len: 0, after_return: false, svg_text: in_svg.then(String::new) }
    }

    pub(crate) fn add(&mut self, text: &str, verbatim: bool) {
        match &mut self.svg_text {
            Some(_) if verbatim => {
                self.hash_svg_text();
                self.hash(text);
            }
            Some(gathered) if gathered.len() < SVG_TEXT_BYTES => gathered.push_str(text),
            Some(_) => {}
            None => self.hash(text),
        }
    }

    /// Decodes and hashes the text buffered so far.
    fn hash_svg_text(&mut self) {
        let gathered = self.svg_text.as_mut().map(std::mem::take).unwrap_or_default();
        let text = decode(&gathered, Context::Text);
        self.hash(&text);
    }

    /// Hashes a text as the DOM holds it: with `\n` line ends, and U+FFFD for NUL.
    fn hash(&mut self, text: &str) {
        self.len += text.len();
        let mut from = 0;
        for (at, byte) in text.bytes().enumerate() {
            let replacement: &[u8] = match byte {
                b'\r' => b"\n",
                b'\n' if self.after_return => b"",
                0 => "\u{fffd}".as_bytes(),
                _ => {
                    self.after_return = false;
                    continue;
                }
            };
            self.hasher.update(&text.as_bytes()[from..at]);
            self.hasher.update(replacement);
            self.after_return = byte == b'\r';
            from = at + 1;
        }
        self.hasher.update(&text.as_bytes()[from..]);
    }

    /// The SHA-256 in base64, or `None` for an empty script.
    pub(crate) fn finish(mut self) -> Option<String> {
        if self.svg_text.is_some() {
            self.hash_svg_text();
        }
        (self.len > 0).then(|| base64::encode(&self.hasher.finalize()))
    }
}

/// Whether the policy applies to a script of this type: everything a browser runs, including import maps and speculation
/// rules. Data blocks such as JSON are exempt.
pub(crate) fn is_controlled_by_policy(kind: Option<String>, language: Option<String>) -> bool {
    let kind = match (kind, language) {
        (Some(kind), _) if kind.is_empty() => return true,
        (Some(kind), _) => decode(&kind, Context::Attribute).trim_ascii().to_ascii_lowercase(),
        (None, Some(language)) if !language.is_empty() => format!("text/{}", language.to_ascii_lowercase()),
        (None, _) => return true,
    };
    matches!(kind.as_str(), "module" | "importmap" | "speculationrules") || is_javascript(&kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(parts: &[&str]) -> Option<String> {
        let mut text = ScriptHasher::new(false);
        for part in parts {
            text.add(part, false);
        }
        text.finish()
    }

    #[test]
    fn base64_is_padded_as_browsers_write_it() {
        for (plain, coded) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            assert_eq!(base64::encode(plain.as_bytes()), coded);
        }
    }

    #[test]
    fn line_ends_are_one_however_they_come() {
        let plain = hash(&["a\nb\n\nc"]);
        for parts in [&["a\r\nb\r\rc"][..], &["a\r", "\nb\r", "\r\nc"], &["a\rb\n\nc"]] {
            assert_eq!(hash(parts), plain, "{parts:?}");
        }
        assert_eq!(hash(&[""]), None);
    }
}
