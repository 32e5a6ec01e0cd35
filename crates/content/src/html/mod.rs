//! Prepares a single HTML page: stored verbatim, read once for its title and for warnings.

pub(crate) mod page_scan;
mod quick_scan;
mod wrapping;

use crate::bundle::{Bundle, BundleKind};
use crate::file_name;
use crate::input::Input;
use crate::mime::HTML;
use crate::pack::Packer;
use crate::paths::{INDEX, Paths};
use crate::references::report::ReferenceReport;
use crate::refusal::Refusal;
use crate::text::check::TextCheck;
use crate::title;
use page_scan::{PageScan, toolbar_warning};

pub(crate) fn prepare(
    input: &mut Input,
    filename: Option<&str>,
    packer: &mut Packer<'_>,
) -> Result<Bundle, Refusal> {
    let own_name = filename.and_then(file_name::clean);
    let files = Paths::of_single(own_name.as_deref());
    let mut text_check = TextCheck::new();
    let quick_title = input.whole().and_then(quick_scan::title_of);
    let mut scan = quick_title.is_none().then(|| PageScan::new(INDEX, ReferenceReport::new(&files)));
    let mut sink = packer.begin(INDEX, HTML, input.len())?;
    input.for_each_chunk(|chunk| {
        text_check.update(chunk);
        if let Some(scan) = &mut scan {
            scan.write(chunk);
        }
        sink.write(chunk)
    })?;
    text_check.check()?;
    sink.set_mime(text_check.media_type(HTML));
    let facts = scan.map(PageScan::finish);
    let report = facts.as_ref().map(|facts| &facts.report);
    let mut warnings = report.map(ReferenceReport::warnings).unwrap_or_default();
    warnings.extend(wrapping::warning(input)?.map(str::to_owned));
    let address_warnings = report.map(ReferenceReport::address_warnings).unwrap_or_default();
    let is_frameset = facts.as_ref().is_some_and(|facts| facts.is_frameset);
    let own_title = facts.map_or(quick_title, |facts| facts.title);
    let file = packer.finish(sink)?;
    let title = own_title.unwrap_or_else(|| title::from_filename(filename));
    let bundle = Bundle::assemble(BundleKind::Html, title, INDEX.to_owned(), vec![file], warnings);
    let toolbar_warning = is_frameset.then(|| toolbar_warning(files.published_as(INDEX)));
    Ok(Bundle { address_warnings, toolbar_warning, ..bundle })
}
