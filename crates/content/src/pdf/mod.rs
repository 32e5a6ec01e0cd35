//! Prepares PDF documents: they are served unchanged, so only the signature is checked and the title read.

mod dictionary;
mod metadata;

use memchr::memmem;

use crate::bundle::{Bundle, BundleKind};
use crate::input::Input;
use crate::mime::PDF;
use crate::pack::Packer;
use crate::refusal::{Refusal, RefusalCode};
use crate::title;

const PATH: &str = "document.pdf";

pub(crate) fn prepare(
    input: &mut Input,
    filename: Option<&str>,
    packer: &mut Packer<'_>,
) -> Result<Bundle, Refusal> {
    if memmem::find(&input.head(1024)?, b"%PDF-").is_none() {
        let detail = "The file is not a PDF: it does not start with %PDF-. Export it again or correct the file extension.";
        return Err(Refusal::new(RefusalCode::InvalidPdf, detail));
    }
    let mut sink = packer.begin(PATH, PDF, input.len())?;
    input.for_each_chunk(|chunk| sink.write(chunk))?;
    let file = packer.finish(sink)?;
    let title = metadata::read(input)?.unwrap_or_else(|| title::from_filename(filename));
    Ok(Bundle::assemble(BundleKind::Pdf, title, PATH.to_owned(), vec![file], Vec::new()))
}
