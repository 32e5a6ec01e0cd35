//! Turns uploaded bytes into a checked [`Bundle`] of files, or a [`Refusal`] with a reason. It does not know who uploads or
//! where bundles are stored. Everything here blocks and uses one core: call [`prepare`] from a thread that may block.

mod bundle;
mod csp;
mod detect;
mod e2e;
pub mod external_urls;
mod file_name;
#[cfg(feature = "hostile-corpus")]
pub mod hostile;
mod html;
mod input;
mod markdown;
mod mime;
mod name_list;
mod pack;
mod paths;
mod pdf;
mod readable;
mod references;
mod refusal;
mod sanitize;
mod single_file;
mod text;
pub mod thumbnail;
mod title;
mod zip;

use std::path::Path;

use detect::Format;

pub use bundle::{Body, Bundle, BundleKind, Encoding, File};
pub use csp::{MOST_SCRIPTS, StrictCsp};
pub use detect::can_name_a_page;
pub use dropleaf_core::program::{PROGRAM, is_program_name};
pub use file_name::clean as clean_file_name;
pub use input::Source;
pub use markdown::{
    GENERATED_HEAD_BYTES, GeneratedPage, MARKDOWN_SCRIPT, MARKDOWN_STYLE, MarkdownPage, generated_candidates,
    generated_pages, is_generated_page, markdown_page, render_fragment, source_lines,
};
pub use mime::{is_active, is_compressible, mime_of};
pub use references::address_warnings::{AddressWarnings, ServedAt};
pub use references::addressing::Addressing;
pub use refusal::{Refusal, RefusalCode};
pub use text::bundle_texts::{BundleTexts, TextFile};
pub use text::dry_run::{
    DecodedText, StandaloneFile, classify_standalone_file, decode_for_check, is_page_name, is_text_name,
};
pub use text::file_text::decode_text;
pub use zip::{find_archive_root, is_excluded};

/// An upload: its bytes and what the client declared about them.
#[derive(Debug)]
pub struct Upload<'a> {
    pub filename: Option<&'a str>,
    pub content_type: Option<&'a str>,
    /// The bytes are end-to-end ciphertext: they are kept verbatim and never parsed.
    pub e2e: bool,
    pub source: Source,
}

/// The limits of a bundle once unpacked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    pub unpacked_bytes: u64,
    pub files: usize,
    /// Unpacked bytes per packed byte of an archive; checked only above 1 MiB unpacked.
    pub ratio: u64,
    pub name_bytes: usize,
    pub depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { unpacked_bytes: 100 << 20, files: 2000, ratio: 200, name_bytes: 240, depth: 16 }
    }
}

/// Checks an upload and packs its files. Files too large for memory are spooled to unlinked
/// temporary files in `spool_dir`.
pub fn prepare(upload: Upload<'_>, limits: &Limits, spool_dir: &Path) -> Result<Bundle, Refusal> {
    let mut input = input::Input::open(upload.source)?;
    if input.len() == 0 {
        return Err(Refusal::new(RefusalCode::EmptyFile, "The upload is empty. Send a file with content."));
    }
    let format = if upload.e2e {
        Format::Encrypted
    } else {
        detect::format(upload.filename, upload.content_type, &mut input)?
    };
    if format != Format::Zip && input.len() > limits.unpacked_bytes {
        return Err(Refusal::too_large(input.len(), limits.unpacked_bytes));
    }
    let mut packer = pack::Packer::new(spool_dir);
    let mut bundle = match format {
        Format::Html => html::prepare(&mut input, upload.filename, &mut packer),
        Format::Markdown => markdown::prepare(&mut input, upload.filename, limits, &mut packer),
        Format::Pdf => pdf::prepare(&mut input, upload.filename, &mut packer),
        Format::Zip => zip::prepare(&mut input, upload.filename, limits, &mut packer),
        Format::File(file_type) => single_file::prepare(file_type, &mut input, upload.filename, &mut packer),
        Format::Encrypted => e2e::prepare(&mut input, &mut packer),
    }?;
    // An archive has its own names inside, and the name of an encrypted file is only for those who hold its key.
    if !matches!(bundle.kind, BundleKind::Zip | BundleKind::E2e) {
        bundle.file_name = upload.filename.and_then(file_name::clean);
    }
    Ok(bundle)
}
