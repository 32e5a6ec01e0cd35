//! A single file that browsers show by itself, such as a drawing, a text or a picture: stored verbatim and served as
//! what it is. Its bytes have to be what its name says.

use memchr::memmem;

use crate::bundle::{Bundle, Kind};
use crate::input::Input;
use crate::pack::Packer;
use crate::refusal::{Refusal, RefusalCode};
use crate::text::TextWatch;
use crate::title;

/// As far into a drawing as its first element is looked for; comments and a document type may come before it.
const HEAD_BYTES: usize = 64 * 1024;

/// A type of file that is hosted by itself.
#[derive(Debug, PartialEq)]
pub(crate) struct FileType {
    /// Where the file is stored; its extension says the media type.
    path: &'static str,
    mime: &'static str,
    extensions: &'static [&'static str],
    content: Content,
}

/// What its bytes have to be.
#[derive(Debug, PartialEq)]
enum Content {
    Text,
    Svg,
    /// Bytes at a position, every one of them.
    Signature(&'static [(usize, &'static [u8])]),
    /// A JPEG, PNG or other picture whose signature has more than one form: any of these at the beginning.
    AnyOf(&'static [&'static [u8]]),
}

static TYPES: [FileType; 7] = [
    FileType {
        path: "file.svg",
        mime: "image/svg+xml; charset=utf-8",
        extensions: &["svg"],
        content: Content::Svg,
    },
    FileType {
        path: "file.txt",
        mime: "text/plain; charset=utf-8",
        extensions: &["txt", "text"],
        content: Content::Text,
    },
    FileType {
        path: "file.png",
        mime: "image/png",
        extensions: &["png"],
        content: Content::Signature(&[(0, b"\x89PNG\r\n\x1a\n")]),
    },
    FileType {
        path: "file.jpg",
        mime: "image/jpeg",
        extensions: &["jpg", "jpeg", "jfif"],
        content: Content::Signature(&[(0, b"\xff\xd8\xff")]),
    },
    FileType {
        path: "file.gif",
        mime: "image/gif",
        extensions: &["gif"],
        content: Content::AnyOf(&[b"GIF87a", b"GIF89a"]),
    },
    FileType {
        path: "file.webp",
        mime: "image/webp",
        extensions: &["webp"],
        content: Content::Signature(&[(0, b"RIFF"), (8, b"WEBP")]),
    },
    FileType {
        path: "file.avif",
        mime: "image/avif",
        extensions: &["avif"],
        content: Content::Signature(&[(4, b"ftypavi")]),
    },
];

/// The type of an extension in small letters.
pub(crate) fn by_extension(extension: &str) -> Option<&'static FileType> {
    TYPES.iter().find(|file| file.extensions.contains(&extension))
}

/// The picture of a media type. Plain text is what programs call everything, so it says nothing.
pub(crate) fn by_content_type(essence: &str) -> Option<&'static FileType> {
    let of = |file: &&FileType| file.mime.split(';').next() == Some(essence);
    TYPES.iter().filter(|file| file.content != Content::Text).find(of)
}

pub(crate) fn prepare(
    file_type: &FileType,
    input: &mut Input,
    filename: Option<&str>,
    packer: &mut Packer<'_>,
) -> Result<Bundle, Refusal> {
    let head = input.head(HEAD_BYTES)?;
    let fits = match file_type.content {
        Content::Text => true,
        Content::Svg => is_svg(&head),
        Content::Signature(parts) => {
            parts.iter().all(|(at, bytes)| head.get(*at..).is_some_and(|rest| rest.starts_with(bytes)))
        }
        Content::AnyOf(starts) => starts.iter().any(|start| head.starts_with(start)),
    };
    if !fits {
        let detail = format!(
            "The file name says it is a {} file, but its content is not. Export it again or rename it.",
            extension_of(file_type, filename)
        );
        return Err(Refusal::new(RefusalCode::UnsupportedType, detail));
    }
    let mut watch = matches!(file_type.content, Content::Text | Content::Svg).then(TextWatch::new);
    let mut sink = packer.begin(file_type.path, file_type.mime, input.len())?;
    input.for_each_chunk(|chunk| {
        if let Some(watch) = &mut watch {
            watch.watch(chunk);
        }
        sink.write(chunk)
    })?;
    if let Some(watch) = watch {
        watch.check()?;
        // It is sent as UTF-8, so that is what was read; a byte order mark overrules that in every browser.
        if !watch.is_utf8() && !watch.is_utf16() {
            let detail = "The text is not UTF-8. Save it as UTF-8 and send it again.";
            return Err(Refusal::new(RefusalCode::NotText, detail));
        }
    }
    let file = packer.finish(sink)?;
    let title = title::from_filename(filename);
    Ok(Bundle::assemble(Kind::File, title, file_type.path.to_owned(), vec![file], Vec::new()))
}

/// The extension that the file has, if it is one of its type.
fn extension_of(file_type: &FileType, filename: Option<&str>) -> String {
    let named = filename.and_then(|name| name.trim_end_matches(['.', ' ']).rsplit_once('.'));
    let named = named.map(|(_, extension)| extension.to_ascii_lowercase());
    let named = named.filter(|named| file_type.extensions.contains(&named.as_str()));
    format!(".{}", named.as_deref().or(file_type.extensions.first().copied()).unwrap_or_default())
}

/// Whether XML begins here whose first element is a drawing, in UTF-8 or, with a byte order mark, in UTF-16.
fn is_svg(head: &[u8]) -> bool {
    let read: Option<fn([u8; 2]) -> u16> = match head {
        [0xff, 0xfe, ..] => Some(u16::from_le_bytes),
        [0xfe, 0xff, ..] => Some(u16::from_be_bytes),
        _ => None,
    };
    let Some(read) = read else { return begins_svg(head) };
    let units = head[2..].chunks_exact(2).map(|pair| read([pair[0], pair[1]]));
    let text: String = char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
    begins_svg(text.as_bytes())
}

fn begins_svg(head: &[u8]) -> bool {
    let mut rest = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    loop {
        let end: &[u8] = if rest.starts_with(b"<!--") {
            b"-->"
        } else if rest.starts_with(b"<?") {
            b"?>"
        } else if rest.get(..9).is_some_and(|start| start.eq_ignore_ascii_case(b"<!doctype")) {
            // An internal subset has declarations of its own.
            let plain = memchr::memchr(b'>', rest);
            let subset = memchr::memchr(b'[', rest).filter(|at| plain.is_none_or(|plain| *at < plain));
            if subset.is_some() { b"]>" } else { b">" }
        } else {
            break;
        };
        match memmem::find(rest, end) {
            Some(at) => rest = rest[at + end.len()..].trim_ascii_start(),
            None => return false,
        }
    }
    let Some(name) = rest.strip_prefix(b"<") else { return false };
    let stop =
        name.iter().position(|b| b.is_ascii_whitespace() || matches!(b, b'>' | b'/')).unwrap_or(name.len());
    name[..stop].rsplit(|b| *b == b':').next() == Some(b"svg")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mime::mime_of;

    #[test]
    fn stored_names_say_the_media_type() {
        for file in &TYPES {
            assert_eq!(mime_of(file.path), file.mime);
            for extension in file.extensions {
                assert_eq!(mime_of(&format!("a.{extension}")), file.mime);
            }
        }
    }

    #[test]
    fn drawings_begin_with_their_element() {
        for good in [
            "<svg/>",
            "<svg xmlns='http://www.w3.org/2000/svg'>",
            "\u{feff}<?xml version='1.0'?>\n<!-- made > by hand --> <!DOCTYPE svg PUBLIC 'a' 'b'>\n<svg>",
            "<!DOCTYPE svg [ <!ENTITY a '>'> ]><svg:svg xmlns:svg='x'>",
        ] {
            assert!(is_svg(good.as_bytes()), "{good}");
            assert!(utf16(good).iter().all(|bytes| is_svg(bytes)), "{good}");
        }
        for bad in [
            "",
            "<",
            "<html><svg>",
            "<!doctype html><p>",
            "text",
            "<!-- ",
            "<svgx>",
            "<?xml",
            "<!DOCTYPE svg [",
        ] {
            assert!(!is_svg(bad.as_bytes()), "{bad}");
            assert!(!utf16(bad).iter().any(|bytes| is_svg(bytes)), "{bad}");
        }
    }

    /// The text in UTF-16 with a byte order mark, in both orders of bytes.
    fn utf16(text: &str) -> [Vec<u8>; 2] {
        let units: Vec<u16> =
            "\u{feff}".encode_utf16().chain(text.trim_start_matches('\u{feff}').encode_utf16()).collect();
        [u16::to_le_bytes, u16::to_be_bytes].map(|bytes| units.iter().copied().flat_map(bytes).collect())
    }

    #[test]
    fn a_refusal_names_the_extension_that_the_file_has() {
        let jpeg = by_extension("jpg").unwrap();
        for (name, extension) in
            [(Some("a.jpeg"), ".jpeg"), (Some("a.JFIF"), ".jfif"), (Some("a"), ".jpg"), (None, ".jpg")]
        {
            assert_eq!(extension_of(jpeg, name), extension);
        }
    }
}
