//! Determines the format of an upload: by file name, then by content type, then by its first bytes. A name that says the file
//! is something other than a page is trusted: the file is served with its own type, or refused.

use crate::input::Input;
use crate::mime::{BINARY, mime_of};
use crate::refusal::{Refusal, RefusalCode, shown_name};
use crate::single_file::{self, FileType};

pub(crate) const ACCEPTED: &str = ".html, .htm, .md, .markdown, .zip, .pdf, .svg, .txt, .csv, .tsv, .json, .ipynb, .png, .jpg, \
                                   .jpeg, .gif, .webp or \
     .avif";

/// The format of an upload.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Format {
    Html,
    Markdown,
    Pdf,
    Zip,
    /// One file that browsers show on its own.
    File(&'static FileType),
    /// Ciphertext, as declared by its publisher; never detected here.
    Encrypted,
}

/// What the extension of a file name says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum NameHint {
    Format(Format),
    /// A type of file that is not hosted on its own.
    Unsupported,
    /// No extension, or an unknown one.
    Unknown,
}

/// Well-known extensions that belong to no page and are not in the table of media types. Many such files begin like HTML or
/// like an archive, and would be mistaken for one.
const UNSUPPORTED: [&str; 8] = [
    // Pages that a server has to run first, and templates.
    "php php3 php4 php5 phtml phar asp aspx ascx ashx asmx jsp jspx cfm cgi shtml cshtml razor erb ejs hbs mustache twig \
     liquid pug haml njk vue svelte astro jsx tsx ts",
    // Saved pages and mail.
    "mht mhtml eml webarchive webloc url",
    // Office documents.
    "doc docx docm dot dotx xls xlsx xlsm ppt pptx pptm odt ods odp odg rtf epub mobi vsdx tex",
    // Archives and packages.
    "jar war apk ipa xpi crx whl nupkg rar 7z tar tgz bz2 xz zst iso dmg deb rpm msi msix appx",
    // Programs and scripts.
    "exe dll scr bat cmd ps1 vbs hta lnk sys class",
    // Source code.
    "py pyw pyc rb pl pm sh bash zsh fish go rs java kt kts swift c h cc cpp hpp cs fs vb lua jl hs ex exs erl clj scala \
     dart groovy sql asm pas tcl awk sed",
    // Binary data and compressed files.
    "img so dylib pdb dump pak svgz br lz4 lzma",
    // Other formats, many of which begin with `<`.
    "plist xaml kml kmz gpx drawio dtd xsd wsdl resx psd ai eps sqlite db",
];

fn unsupported_extensions() -> impl Iterator<Item = &'static str> {
    UNSUPPORTED.into_iter().flat_map(|group| group.split(' '))
}

pub(crate) fn format(
    filename: Option<&str>,
    content_type: Option<&str>,
    input: &mut Input,
) -> Result<Format, Refusal> {
    let named = filename.map_or(NameHint::Unknown, hint_by_name);
    match (named, filename) {
        (NameHint::Format(format), _) => return Ok(format),
        (NameHint::Unsupported, Some(name)) => return Err(unsupported(name)),
        _ => {}
    }
    if let Some(format) = content_type.and_then(by_content_type) {
        return Ok(format);
    }
    let head = input.head(1024)?;
    format_by_magic(&head).ok_or_else(|| {
        let name = match filename {
            Some(name) if !name.is_empty() => format!("\"{}\"", shown_name(name.as_bytes())),
            _ => "an upload without a file name".to_owned(),
        };
        let detail = format!(
            "Could not detect the file type of {name}. Send {ACCEPTED}. Put multiple files into one .zip."
        );
        Refusal::new(RefusalCode::UnsupportedType, detail)
    })
}

fn unsupported(name: &str) -> Refusal {
    let detail = format!(
        "\"{}\" is not a supported file type. Send {ACCEPTED}. Put other files into a .zip together with the page that uses \
         them. The name of an HTML page must end in .html.",
        shown_name(name.as_bytes())
    );
    Refusal::new(RefusalCode::UnsupportedType, detail)
}

pub(crate) fn hint_by_name(name: &str) -> NameHint {
    // Some systems drop trailing dots and spaces.
    let name = name.trim_end_matches(|c: char| c == '.' || c.is_whitespace());
    let Some((_, extension)) = name.rsplit_once('.') else { return NameHint::Unknown };
    let extension = extension.to_ascii_lowercase();
    let format = match extension.as_str() {
        "html" | "htm" => Format::Html,
        "md" | "markdown" => Format::Markdown,
        "zip" => Format::Zip,
        "pdf" => Format::Pdf,
        // Pages too, if their content says so.
        "xhtml" | "xht" => return NameHint::Unknown,
        other => {
            if let Some(file) = single_file::by_extension(other) {
                return NameHint::Format(Format::File(file));
            }
            let known =
                mime_of(name) != BINARY || unsupported_extensions().any(|extension| extension == other);
            return if known { NameHint::Unsupported } else { NameHint::Unknown };
        }
    };
    NameHint::Format(format)
}

/// Whether an HTML page may have this name: it does not say that the file is anything other than a page or Markdown.
pub fn can_name_a_page(name: &str) -> bool {
    match hint_by_name(name) {
        NameHint::Unknown => true,
        NameHint::Format(format) => matches!(format, Format::Html | Format::Markdown),
        NameHint::Unsupported => false,
    }
}

fn by_content_type(content_type: &str) -> Option<Format> {
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    Some(match essence.as_str() {
        "text/html" | "application/xhtml+xml" => Format::Html,
        "text/markdown" | "text/x-markdown" => Format::Markdown,
        "application/zip" | "application/x-zip-compressed" | "application/x-zip" => Format::Zip,
        "application/pdf" => Format::Pdf,
        other => Format::File(single_file::by_content_type(other)?),
    })
}

pub(crate) fn format_by_magic(head: &[u8]) -> Option<Format> {
    if head.starts_with(b"PK\x03\x04") {
        return Some(Format::Zip);
    }
    if head.starts_with(b"%PDF-") {
        return Some(Format::Pdf);
    }
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    text.starts_with(b"<").then_some(Format::Html)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Source;

    fn detect(
        name: Option<&str>,
        content_type: Option<&str>,
        bytes: &'static [u8],
    ) -> Result<Format, Refusal> {
        format(name, content_type, &mut Input::open(Source::Memory(bytes.into())).unwrap())
    }

    fn file(extension: &str) -> Format {
        Format::File(single_file::by_extension(extension).unwrap())
    }

    #[test]
    fn the_name_wins_over_content_type_and_bytes() {
        assert_eq!(detect(Some("A.MD"), Some("text/html"), b"<p>").unwrap(), Format::Markdown);
        assert_eq!(detect(Some("a.b.htm"), None, b"PK\x03\x04").unwrap(), Format::Html);
        assert_eq!(detect(Some("a.html.svg"), Some("text/html"), b"<svg>").unwrap(), file("svg"));
        assert_eq!(detect(Some("a.TXT"), Some("text/html"), b"<p>").unwrap(), file("txt"));
    }

    #[test]
    fn without_a_known_extension_the_content_type_decides() {
        for name in [None, Some("page"), Some("page.unheard"), Some("v1.2"), Some("www.example.com")] {
            assert_eq!(detect(name, Some("Text/HTML; charset=x"), b"hi").unwrap(), Format::Html);
            assert_eq!(detect(name, Some("application/zip"), b"hi").unwrap(), Format::Zip);
            assert_eq!(detect(name, Some("image/svg+xml"), b"<svg>").unwrap(), file("svg"));
            assert_eq!(detect(name, Some("image/png"), b"\x89PNG").unwrap(), file("png"));
        }
    }

    #[test]
    fn then_the_first_bytes() {
        let other = Some("application/octet-stream");
        assert_eq!(detect(None, other, b"PK\x03\x04").unwrap(), Format::Zip);
        assert_eq!(detect(None, other, b"%PDF-1.7").unwrap(), Format::Pdf);
        assert_eq!(detect(Some("x"), None, b"\xef\xbb\xbf \n<!doctype html>").unwrap(), Format::Html);
        assert_eq!(detect(Some("x.xhtml"), None, b"<?xml version='1.0'?>").unwrap(), Format::Html);
    }

    #[test]
    fn anything_else_is_refused_with_the_list_of_accepted_names() {
        let refusal = detect(Some("a.unheard"), None, b"hello").unwrap_err();
        assert_eq!(refusal.code, RefusalCode::UnsupportedType);
        assert!(refusal.to_string().contains("a.unheard") && refusal.to_string().contains(ACCEPTED));
    }

    #[test]
    fn known_extensions_that_are_no_page_are_refused_whatever_is_in_the_file() {
        for name in [
            "a.php", "a.PHP ", "a.php.", "a.php. .", "a.exe", "a.docx", "a.js", "a.css", "feed.xml",
            "a.yaml", "a.mp4", "a.tar.gz", "a.py", "a.sh", "a.c", "a.svgz",
        ] {
            for bytes in [&b"<html>"[..], b"PK\x03\x04", b"%PDF-1.7", b"hello"] {
                for content_type in [None, Some("text/html"), Some("application/zip")] {
                    let refusal = detect(Some(name), content_type, bytes).unwrap_err();
                    assert_eq!(refusal.code, RefusalCode::UnsupportedType, "{name}");
                    let said = refusal.to_string();
                    assert!(said.contains(name.trim_end()) && said.contains(ACCEPTED), "{said}");
                }
            }
        }
    }

    #[test]
    fn no_extension_is_in_two_lists() {
        for extension in unsupported_extensions() {
            let name = format!("a.{extension}");
            assert_eq!(mime_of(&name), BINARY, "{extension} is in the table of media types");
            assert_eq!(hint_by_name(&name), NameHint::Unsupported, "{extension}");
        }
    }

    #[test]
    fn every_accepted_extension_is_accepted() {
        for extension in ACCEPTED.split([',', ' ']).filter(|word| word.starts_with('.')) {
            assert!(matches!(hint_by_name(&format!("a{extension}")), NameHint::Format(_)), "{extension}");
        }
    }

    #[test]
    fn a_page_may_have_a_name_of_a_page_or_of_nothing_known() {
        for name in ["a.html", "a.HTM", "notes.md", "a", "v1.2", "a.xhtml"] {
            assert!(can_name_a_page(name), "{name}");
        }
        for name in ["a.php", "a.svg", "a.txt", "a.pdf", "a.zip", "a.js", "a.exe"] {
            assert!(!can_name_a_page(name), "{name}");
        }
    }
}
