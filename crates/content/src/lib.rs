//! Turns uploaded bytes into a checked [`Bundle`] of files, or a [`Refusal`] with a reason.
//! It does not know who uploads or where bundles are stored. Everything here blocks and uses
//! one core: call [`prepare`] from a thread that may wait.

pub mod addresses;
mod blocked;
mod bundle;
mod character_references;
mod charset;
mod ciphertext;
mod detect;
mod e2e;
mod file_text;
mod glance;
#[cfg(feature = "hostile-corpus")]
pub mod hostile;
mod html;
mod input;
pub mod likeness;
pub mod look;
mod loose;
mod markdown;
mod mime;
mod name_key;
mod pack;
mod pdf;
mod pdf_title;
pub mod phishing;
pub mod preview;
mod program;
mod refs;
mod refusal;
mod scan;
mod script_text;
pub mod secrets;
mod shorten;
mod single_file;
mod strict;
mod text;
mod texts;
mod title;
mod warnings;
mod zip;

use std::path::Path;

use detect::Format;

pub use bundle::{Body, Bundle, Encoding, File, Kind};
pub use detect::names_a_page;
pub use input::Source;
pub use loose::{Alone, LooseText, alone, is_page, is_read, read_loose};
pub use markdown::{source_lines, typeset};
pub use mime::{is_active, is_compressible, mime_of};
pub use program::{PROGRAM, is_program_name};
pub use refusal::{Refusal, RefusalCode};
pub use strict::{MOST_SCRIPTS, Strict};
pub use texts::Texts;
pub use zip::root_of;

/// What a caller sent: the bytes and what was said about them.
#[derive(Debug)]
pub struct Upload<'a> {
    pub filename: Option<&'a str>,
    pub content_type: Option<&'a str>,
    /// The bytes are end-to-end ciphertext: they are kept verbatim and never parsed.
    pub e2e: bool,
    pub source: Source,
}

/// How large a bundle may be once unpacked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    pub unpacked_bytes: u64,
    pub files: usize,
    /// Unpacked bytes per packed byte of an archive; asked only above 1 MiB unpacked.
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
    match format {
        Format::Html => html::prepare(&mut input, upload.filename, &mut packer),
        Format::Markdown => markdown::prepare(&mut input, upload.filename, limits, &mut packer),
        Format::Pdf => pdf::prepare(&mut input, upload.filename, &mut packer),
        Format::Zip => zip::prepare(&mut input, upload.filename, limits, &mut packer),
        Format::File(file_type) => single_file::prepare(file_type, &mut input, upload.filename, &mut packer),
        Format::Encrypted => e2e::prepare(&mut input, &mut packer),
    }
}
