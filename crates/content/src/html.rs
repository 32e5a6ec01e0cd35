//! A single HTML page: stored verbatim, read once for its title and for hints.

use std::collections::HashSet;

use crate::bundle::{Bundle, Kind};
use crate::charset;
use crate::glance;
use crate::input::Input;
use crate::mime::{HTML, html_in};
use crate::pack::Packer;
use crate::refs;
use crate::refusal::Refusal;
use crate::scan::PageScan;
use crate::text::TextWatch;
use crate::title;

pub(crate) const INDEX: &str = "index.html";

pub(crate) fn prepare(
    input: &mut Input,
    filename: Option<&str>,
    packer: &mut Packer<'_>,
) -> Result<Bundle, Refusal> {
    let files = HashSet::from([INDEX]);
    let mut watch = TextWatch::new();
    let glanced = input.whole().and_then(glance::title_of);
    let mut scan = glanced.is_none().then(|| PageScan::new(INDEX, &files));
    let mut sink = packer.begin(INDEX, HTML, input.len())?;
    input.for_each_chunk(|chunk| {
        watch.watch(chunk);
        if let Some(scan) = &mut scan {
            scan.write(chunk);
        }
        sink.write(chunk)
    })?;
    watch.check()?;
    sink.set_mime(charset_of(&watch));
    let (own_title, mut warnings) = scan.map_or((glanced, Vec::new()), PageScan::finish);
    if warnings.iter().any(|warning| warning.ends_with(refs::MISSING)) {
        warnings
            .push("Send a .zip with index.html and the files it needs to publish them together.".to_owned());
    }
    let file = packer.finish(sink)?;
    let title = own_title.unwrap_or_else(|| title::from_filename(filename));
    Ok(Bundle::assemble(Kind::Html, title, INDEX.to_owned(), vec![file], warnings))
}

/// What is sent is what was read: a browser left to itself might choose otherwise, and see another page.
pub(crate) fn charset_of(watch: &TextWatch) -> &'static str {
    html_in(charset::of_page(watch.start(), watch.is_utf8()))
}
