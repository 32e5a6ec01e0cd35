//! Prepares a single file that is not a page, such as a text, a picture or a table: stored verbatim under its own name, with a
//! generated page that displays it. Its content must match its name. An interactive SVG is a document itself and gets no page.

mod svg;

use crate::bundle::{Bundle, BundleKind};
use crate::file_name;
use crate::input::Input;
use crate::mime::HTML;
use crate::pack::Packer;
use crate::paths::INDEX;
use crate::readable::{self, DataFormat};
use crate::refusal::{Refusal, RefusalCode};
use crate::text::charset;
use crate::text::check::TextCheck;
use crate::title;
use svg::{is_picture, is_svg};

/// How far into an SVG its first element is searched for; comments and a document type may precede it.
const HEAD_BYTES: usize = 64 * 1024;

/// A type of file that is hosted on its own.
#[derive(Debug, PartialEq)]
pub(crate) struct FileType {
    /// Where the file is stored; the extension determines the media type.
    path: &'static str,
    mime: &'static str,
    extensions: &'static [&'static str],
    content: Content,
}

/// What the content must be.
#[derive(Debug, PartialEq)]
enum Content {
    /// Text that is displayed in a page.
    Data(DataFormat),
    Svg,
    /// All of these byte strings, each at its offset.
    Signature(&'static [(usize, &'static [u8])]),
    /// Any of these at the beginning, for a format whose signature has more than one form.
    AnyOf(&'static [&'static [u8]]),
}

static TYPES: [FileType; 11] = [
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
        content: Content::Data(DataFormat::Text),
    },
    FileType {
        path: "file.csv",
        mime: "text/csv; charset=utf-8",
        extensions: &["csv"],
        content: Content::Data(DataFormat::Csv),
    },
    FileType {
        path: "file.tsv",
        mime: "text/tab-separated-values; charset=utf-8",
        extensions: &["tsv"],
        content: Content::Data(DataFormat::Tsv),
    },
    FileType {
        path: "file.json",
        mime: "application/json; charset=utf-8",
        extensions: &["json"],
        content: Content::Data(DataFormat::Json),
    },
    FileType {
        path: "notebook.ipynb",
        mime: "application/json; charset=utf-8",
        extensions: &["ipynb"],
        content: Content::Data(DataFormat::Notebook),
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

/// The type with this lower-case extension.
pub(crate) fn by_extension(extension: &str) -> Option<&'static FileType> {
    TYPES.iter().find(|file| file.extensions.contains(&extension))
}

/// The picture type with this media type. `text/plain` and JSON decide nothing: programs use the one for everything and the
/// other to send other things.
pub(crate) fn by_content_type(essence: &str) -> Option<&'static FileType> {
    let of = |file: &&FileType| file.mime.split(';').next() == Some(essence);
    TYPES.iter().filter(|file| !matches!(file.content, Content::Data(_))).find(of)
}

pub(crate) fn prepare(
    file_type: &FileType,
    input: &mut Input,
    filename: Option<&str>,
    packer: &mut Packer<'_>,
) -> Result<Bundle, Refusal> {
    let head = input.head(HEAD_BYTES)?;
    let fits = match file_type.content {
        Content::Data(_) => true,
        Content::Svg => is_svg(&head),
        Content::Signature(parts) => {
            parts.iter().all(|(at, bytes)| head.get(*at..).is_some_and(|rest| rest.starts_with(bytes)))
        }
        Content::AnyOf(starts) => starts.iter().any(|start| head.starts_with(start)),
    };
    if !fits {
        let detail = format!(
            "The file name indicates {}, but the content does not match. Export it again or rename it.",
            extension_of(file_type, filename)
        );
        return Err(Refusal::new(RefusalCode::UnsupportedType, detail));
    }
    let mut text_check = matches!(file_type.content, Content::Data(_) | Content::Svg).then(TextCheck::new);
    let own_name = own_name(file_type, filename);
    let path = own_name.as_deref().unwrap_or(file_type.path);
    let mut sink = packer.begin(path, file_type.mime, input.len())?;
    input.for_each_chunk(|chunk| {
        if let Some(text_check) = &mut text_check {
            text_check.update(chunk);
        }
        sink.write(chunk)
    })?;
    let is_utf8 = text_check.as_ref().is_none_or(TextCheck::is_utf8);
    if matches!(file_type.content, Content::Data(DataFormat::Json | DataFormat::Notebook)) && !is_utf8 {
        let detail = "The JSON in this file is not UTF-8. Save it as UTF-8 text.";
        return Err(Refusal::new(RefusalCode::NotText, detail));
    }
    if let Some(text_check) = text_check {
        text_check.check()?;
        sink.set_mime(text_check.media_type(file_type.mime));
    }
    let file = packer.finish(sink)?;
    let title = title::from_filename(filename);
    let is_whole = input.len() <= readable::MOST_BYTES as u64;
    let page = match file_type.content {
        Content::Data(data) => {
            let start = input.head(readable::MOST_BYTES)?;
            // Spreadsheets still export tables in regional charsets; windows-1252, the most common one, is better than none.
            let (text, _, _) = charset::of_page(&start, is_utf8).decode(&start);
            Some(readable::page(data, &text, is_whole, &title, path))
        }
        Content::Svg if !is_whole => None,
        Content::Svg => {
            let drawing = input.head(readable::MOST_BYTES)?;
            let text = std::str::from_utf8(&drawing).ok().filter(|text| is_picture(text));
            text.map(|_| readable::picture_page(&title, path, input.len()))
        }
        Content::Signature(_) | Content::AnyOf(_) => Some(readable::picture_page(&title, path, input.len())),
    };
    let Some(page) = page else {
        return Ok(Bundle::assemble(BundleKind::File, title, path.to_owned(), vec![file], Vec::new()));
    };
    let files = vec![packer.pack(INDEX, HTML, page.as_bytes())?, file];
    Ok(Bundle::assemble(BundleKind::File, title, INDEX.to_owned(), files, Vec::new()))
}

/// The uploaded file name, if its extension fits: the file is served and saved under it.
fn own_name(file_type: &FileType, filename: Option<&str>) -> Option<String> {
    // The server answers `robots.txt` itself where a page is at the root of a host.
    let name = filename.and_then(file_name::clean).filter(|name| !name.eq_ignore_ascii_case("robots.txt"))?;
    name.rsplit_once('.')
        .is_some_and(|(_, end)| file_type.extensions.contains(&end.to_ascii_lowercase().as_str()))
        .then_some(name)
}

/// The extension of the uploaded name, if it belongs to this type; otherwise the type's first extension.
fn extension_of(file_type: &FileType, filename: Option<&str>) -> String {
    let named = filename.and_then(|name| name.trim_end_matches(['.', ' ']).rsplit_once('.'));
    let named = named.map(|(_, extension)| extension.to_ascii_lowercase());
    let named = named.filter(|named| file_type.extensions.contains(&named.as_str()));
    format!(".{}", named.as_deref().or(file_type.extensions.first().copied()).unwrap_or_default())
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
    fn a_refusal_names_the_extension_that_the_file_has() {
        let jpeg = by_extension("jpg").unwrap();
        for (name, extension) in
            [(Some("a.jpeg"), ".jpeg"), (Some("a.JFIF"), ".jfif"), (Some("a"), ".jpg"), (None, ".jpg")]
        {
            assert_eq!(extension_of(jpeg, name), extension);
        }
    }
}
