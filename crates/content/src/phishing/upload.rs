//! Reads the files of a bundle for the check: decompressed, decoded to text, one at a time in memory.

use std::io::{self, Read, Seek};

use super::Verdict;
use super::rules::Rules;
use super::site::{File, check};
use crate::bundle::{self, Body, Bundle, Encoding};

/// Judges a bundle that is about to be stored. Spooled files are left positioned at their start.
pub fn check_bundle(bundle: &Bundle, rules: &Rules) -> io::Result<Verdict> {
    let mut texts = Vec::new();
    for file in &bundle.files {
        let text = if is_read(&file.path) { text_of(file)? } else { String::new() };
        texts.push((file.path.as_str(), text));
    }
    let files: Vec<File<'_>> = texts.iter().map(|(path, text)| File { path, text }).collect();
    Ok(check(&files, rules))
}

fn is_read(path: &str) -> bool {
    let name = path.to_ascii_lowercase();
    [".html", ".htm", ".xhtml", ".xht", ".svg", ".xml", ".js", ".mjs", ".cjs"]
        .iter()
        .any(|end| name.ends_with(end))
}

fn text_of(file: &bundle::File) -> io::Result<String> {
    let mut bytes = Vec::new();
    match &file.body {
        Body::Packed { encoding, bytes: packed } => read_all(*encoding, &packed[..], &mut bytes)?,
        Body::Spooled { encoding, file: spooled, .. } => {
            read_all(*encoding, spooled, &mut bytes)?;
            { spooled }.rewind()?;
        }
    }
    Ok(decoded(bytes))
}

fn read_all(encoding: Encoding, stored: impl Read, bytes: &mut Vec<u8>) -> io::Result<()> {
    match encoding {
        Encoding::Identity => { stored }.read_to_end(bytes)?,
        Encoding::Zstd => zstd::Decoder::new(stored)?.read_to_end(bytes)?,
    };
    Ok(())
}

/// The text of a page in the charset that a browser would choose: byte order mark, UTF-8 if it is, the page's own
/// declaration, else what the web used before.
pub(crate) fn decoded(bytes: Vec<u8>) -> String {
    if let Some((encoding, _)) = encoding_rs::Encoding::for_bom(&bytes)
        && encoding != encoding_rs::UTF_8
    {
        return encoding.decode(&bytes).0.into_owned();
    }
    let bytes = match String::from_utf8(bytes) {
        Ok(text) => return text,
        Err(error) => error.into_bytes(),
    };
    let encoding = declared(&bytes[..bytes.len().min(1024)]).unwrap_or(encoding_rs::WINDOWS_1252);
    encoding.decode(&bytes).0.into_owned()
}

fn declared(head: &[u8]) -> Option<&'static encoding_rs::Encoding> {
    let at = head.to_ascii_lowercase().windows(8).position(|window| window == b"charset=")?;
    let label = head[at + 8..].trim_ascii_start();
    let label = label.strip_prefix(b"\"").or(label.strip_prefix(b"'")).unwrap_or(label);
    let len = label.iter().take_while(|b| b.is_ascii_alphanumeric() || b"-_".contains(b)).count();
    encoding_rs::Encoding::for_label(&label[..len])
}
