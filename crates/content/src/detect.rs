//! Which kind of page an upload is: by file name, then by content type, then by its first bytes.

use crate::bundle::Kind;
use crate::input::Input;
use crate::refusal::{Refusal, RefusalCode, shown_name};

pub(crate) const ACCEPTED: &str = ".html, .htm, .md, .markdown, .zip or .pdf";

pub(crate) fn kind(
    filename: Option<&str>,
    content_type: Option<&str>,
    input: &mut Input,
) -> Result<Kind, Refusal> {
    if let Some(kind) = filename.and_then(by_name).or_else(|| content_type.and_then(by_content_type)) {
        return Ok(kind);
    }
    let head = input.head(1024)?;
    by_magic(&head).ok_or_else(|| {
        let name = match filename {
            Some(name) if !name.is_empty() => format!("\"{}\"", shown_name(name.as_bytes())),
            _ => "an upload without a file name".to_owned(),
        };
        let detail = format!(
            "Could not tell what kind of page {name} is. Send {ACCEPTED}; several files go together in one .zip."
        );
        Refusal::new(RefusalCode::UnsupportedType, detail)
    })
}

pub(crate) fn by_name(name: &str) -> Option<Kind> {
    let (_, extension) = name.trim_end().rsplit_once('.')?;
    match extension.to_ascii_lowercase().as_str() {
        "html" | "htm" => Some(Kind::Html),
        "md" | "markdown" => Some(Kind::Markdown),
        "zip" => Some(Kind::Zip),
        "pdf" => Some(Kind::Pdf),
        _ => None,
    }
}

fn by_content_type(content_type: &str) -> Option<Kind> {
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match essence.as_str() {
        "text/html" | "application/xhtml+xml" => Some(Kind::Html),
        "text/markdown" | "text/x-markdown" => Some(Kind::Markdown),
        "application/zip" | "application/x-zip-compressed" | "application/x-zip" => Some(Kind::Zip),
        "application/pdf" => Some(Kind::Pdf),
        _ => None,
    }
}

pub(crate) fn by_magic(head: &[u8]) -> Option<Kind> {
    if head.starts_with(b"PK\x03\x04") {
        return Some(Kind::Zip);
    }
    if head.starts_with(b"%PDF-") {
        return Some(Kind::Pdf);
    }
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    text.starts_with(b"<").then_some(Kind::Html)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Source;

    fn detect(name: Option<&str>, content_type: Option<&str>, bytes: &'static [u8]) -> Result<Kind, Refusal> {
        kind(name, content_type, &mut Input::open(Source::Memory(bytes.into())).unwrap())
    }

    #[test]
    fn the_name_wins_over_content_type_and_bytes() {
        assert_eq!(detect(Some("A.MD"), Some("text/html"), b"<p>").unwrap(), Kind::Markdown);
        assert_eq!(detect(Some("a.b.htm"), None, b"PK\x03\x04").unwrap(), Kind::Html);
    }

    #[test]
    fn without_a_known_extension_the_content_type_decides() {
        for name in [None, Some("page"), Some("page.bin")] {
            assert_eq!(detect(name, Some("Text/HTML; charset=x"), b"hi").unwrap(), Kind::Html);
            assert_eq!(detect(name, Some("application/zip"), b"hi").unwrap(), Kind::Zip);
        }
    }

    #[test]
    fn then_the_first_bytes() {
        let other = Some("application/octet-stream");
        assert_eq!(detect(None, other, b"PK\x03\x04").unwrap(), Kind::Zip);
        assert_eq!(detect(None, other, b"%PDF-1.7").unwrap(), Kind::Pdf);
        assert_eq!(detect(Some("x"), None, b"\xef\xbb\xbf \n<!doctype html>").unwrap(), Kind::Html);
    }

    #[test]
    fn anything_else_is_refused_with_the_list_of_accepted_names() {
        let refusal = detect(Some("a.docx"), Some("image/png"), b"hello").unwrap_err();
        assert_eq!(refusal.code, RefusalCode::UnsupportedType);
        assert!(refusal.to_string().contains("a.docx") && refusal.to_string().contains(ACCEPTED));
    }
}
