//! Prepares a page for a strict Content-Security-Policy: the hashes of its inline scripts, as a browser computes them, and
//! what the policy will block. The hashes cover the scripts that the policy controls; a superfluous hash is harmless, because
//! every script is the author's.

mod blocked;
mod code_scan;
mod script_hash;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::{self, Read, Seek};
use std::rc::Rc;

use dropleaf_core::html::character_references::{Context, decode};
use lol_html::html_content::{Element, EndTag, TextChunk, TextType};
use lol_html::{AsciiCompatibleEncoding, HtmlRewriter, MemorySettings, Settings, element, text};

use crate::bundle::{Body, Bundle, Encoding};
use crate::mime::{charset_in, is_html, is_script};
use crate::text::file_text::held;
use blocked::{Blocked, BlockedKind};
use code_scan::CodeScan;
use script_hash::{ScriptHasher, is_controlled_by_policy};

const MEMORY_BYTES: usize = 8 << 20;
const SVG: &str = "http://www.w3.org/2000/svg";
/// The hashes are sent in a header, which must stay short.
pub const MOST_SCRIPTS: usize = 64;

/// The result for the pages of one upload.
#[derive(Debug, Default)]
pub struct StrictCsp {
    scripts: BTreeSet<String>,
    blocked: Blocked,
}

impl StrictCsp {
    /// Reads every page and script of a bundle that is about to be stored.
    pub fn of(bundle: &Bundle) -> io::Result<Self> {
        let mut strict = Self::default();
        for file in bundle.files.iter().filter(|file| is_html(file.mime) || is_script(file.mime)) {
            // Publishers know a single file by the name they uploaded it with.
            let sent_as = bundle.file_name.as_deref().filter(|_| file.path == bundle.entry);
            let path = sent_as.unwrap_or(&file.path);
            if let Some(bytes) = held(file) {
                strict.read(path, file.mime, bytes)?;
                continue;
            }
            match &file.body {
                Body::Packed { encoding, bytes } => {
                    strict.read(path, file.mime, decoded(*encoding, &bytes[..])?)?;
                }
                Body::Spooled { encoding, file: spooled, .. } => {
                    strict.read(path, file.mime, decoded(*encoding, spooled)?)?;
                    { spooled }.rewind()?;
                }
            }
        }
        Ok(strict)
    }

    /// Reads one page or script; ignores any other file.
    pub fn read(&mut self, path: &str, mime: &str, file: impl Read) -> io::Result<()> {
        if is_script(mime) {
            let mut code = CodeScan::default();
            for_each_chunk(file, |chunk| code.write(chunk, |call| self.blocked.add_call(call, path)))?;
            code.finish(|call| self.blocked.add_call(call, path));
        } else if is_html(mime) {
            let mut scan = CspScan::new(std::mem::take(self), path, charset_in(mime));
            let read = for_each_chunk(file, |chunk| scan.write(chunk));
            *self = scan.finish();
            read?;
        }
        Ok(())
    }

    pub fn has_too_many_scripts(&self) -> bool {
        self.scripts.len() > MOST_SCRIPTS
    }

    pub fn script_count(&self) -> usize {
        self.scripts.len()
    }

    /// The script sources of the policy: `'sha256-…' 'sha256-…'`.
    pub fn sources(&self) -> String {
        self.scripts.iter().map(|hash| format!("'sha256-{hash}'")).collect::<Vec<_>>().join(" ")
    }

    /// What the policy will block, in sentences for the publisher.
    pub fn warnings(&self) -> Vec<String> {
        self.blocked.sentences()
    }
}

fn for_each_chunk(mut file: impl Read, mut take: impl FnMut(&[u8])) -> io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(()),
            count => take(&buffer[..count]),
        }
    }
}

fn decoded<'a>(encoding: Encoding, stored: impl Read + 'a) -> io::Result<Box<dyn Read + 'a>> {
    Ok(match encoding {
        Encoding::Identity => Box::new(stored),
        Encoding::Zstd => Box::new(zstd::Decoder::new(stored)?),
    })
}

type Discard = fn(&[u8]);

struct CspScan {
    rewriter: Option<HtmlRewriter<'static, Discard>>,
    found: Rc<RefCell<CspScanState>>,
}

struct CspScanState {
    page: String,
    strict: StrictCsp,
    /// The script being read, if the policy applies to it.
    script: Option<ScriptHasher>,
    code: CodeScan,
    style: String,
}

impl CspScan {
    /// A page is read in the charset it is served with, whatever it declares.
    fn new(strict: StrictCsp, page: &str, charset: Option<&'static encoding_rs::Encoding>) -> Self {
        // In a charset that is not ASCII-compatible no script is found, so none is allowed to run.
        let encoding = charset.and_then(AsciiCompatibleEncoding::new);
        let (script, code, style) = (None, CodeScan::default(), String::new());
        let mut found = CspScanState { page: page.to_owned(), strict, script, code, style };
        if charset.is_some() && encoding.is_none() {
            found.block(BlockedKind::WideScript, "its scripts");
        }
        let found = Rc::new(RefCell::new(found));
        let settings = Settings::new()
            .append_element_content_handler(element!("*", check_element(&found)))
            .append_element_content_handler(element!("script", open_script(&found)))
            .append_element_content_handler(text!("script", script_text(&found)))
            .append_element_content_handler(text!("style", style_text(&found)))
            .with_memory_settings(MemorySettings::new().with_max_allowed_memory_usage(MEMORY_BYTES))
            .with_strict(false)
            .with_encoding(encoding.unwrap_or_else(AsciiCompatibleEncoding::utf_8))
            .with_adjust_charset_on_meta_tag(charset.is_none());
        let discard: Discard = |_| {};
        Self { rewriter: Some(HtmlRewriter::new(settings, discard)), found }
    }

    fn write(&mut self, chunk: &[u8]) {
        if let Some(mut rewriter) = self.rewriter.take() {
            if rewriter.write(chunk).is_ok() {
                self.rewriter = Some(rewriter);
            } else {
                self.found.borrow_mut().block(BlockedKind::Unread, "its end");
            }
        }
    }

    fn finish(mut self) -> StrictCsp {
        if let Some(rewriter) = self.rewriter.take()
            && rewriter.end().is_err()
        {
            self.found.borrow_mut().block(BlockedKind::Unread, "its end");
        }
        std::mem::take(&mut self.found.borrow_mut().strict)
    }
}

impl CspScanState {
    fn block(&mut self, kind: BlockedKind, example: &str) {
        self.strict.blocked.add(kind, example, &self.page);
    }
}

fn check_element(
    found: &Rc<RefCell<CspScanState>>,
) -> impl FnMut(&mut Element<'_, '_>) -> lol_html::HandlerResult + use<> {
    let found = Rc::clone(found);
    move |element| {
        let mut found = found.borrow_mut();
        let tag = element.tag_name();
        let attributes: Vec<(String, String)> = element
            .attributes()
            .iter()
            .map(|attribute| (attribute.name(), decode(&attribute.value(), Context::Attribute).into_owned()))
            .collect();
        for (kind, example) in blocked::blocked_in_element(&tag, &attributes) {
            found.block(kind, &example);
        }
        Ok(())
    }
}

fn open_script(
    found: &Rc<RefCell<CspScanState>>,
) -> impl FnMut(&mut Element<'_, '_>) -> lol_html::HandlerResult + use<> {
    let found = Rc::clone(found);
    move |element| {
        let in_svg = element.namespace_uri() == SVG;
        let outside = if in_svg { ["href", "xlink:href"] } else { ["src", "src"] };
        let controlled = outside.iter().all(|name| element.get_attribute(name).is_none())
            && is_controlled_by_policy(element.get_attribute("type"), element.get_attribute("language"));
        found.borrow_mut().script = controlled.then(|| ScriptHasher::new(in_svg));
        if !element.can_have_content() {
            return Ok(());
        }
        let found = Rc::clone(&found);
        element.on_end_tag(Box::new(move |_: &mut EndTag<'_>| {
            let mut found = found.borrow_mut();
            // A script that is never closed never runs; an empty one has nothing to run.
            let hash = found.script.take().and_then(ScriptHasher::finish);
            found.strict.scripts.extend(hash);
            Ok(())
        }))
    }
}

fn script_text(
    found: &Rc<RefCell<CspScanState>>,
) -> impl FnMut(&mut TextChunk<'_>) -> lol_html::HandlerResult + use<> {
    let found = Rc::clone(found);
    move |chunk| {
        let CspScanState { script, code, strict, page, .. } = &mut *found.borrow_mut();
        if let Some(script) = script {
            script.add(chunk.as_str(), chunk.text_type() == TextType::CDataSection);
            code.write(chunk.as_str().as_bytes(), |call| strict.blocked.add_call(call, page));
            if chunk.last_in_text_node() {
                code.finish(|call| strict.blocked.add_call(call, page));
            }
        }
        Ok(())
    }
}

fn style_text(
    found: &Rc<RefCell<CspScanState>>,
) -> impl FnMut(&mut TextChunk<'_>) -> lol_html::HandlerResult + use<> {
    let found = Rc::clone(found);
    move |chunk| {
        let mut found = found.borrow_mut();
        // A reference may be split between chunks: the end of the previous chunk is searched again.
        let mut text = std::mem::take(&mut found.style);
        text.push_str(chunk.as_str());
        if let Some(url) = blocked::external_style_url(&text) {
            let url = url.to_owned();
            found.block(BlockedKind::StyleLoads, &url);
            text.clear();
        }
        let keep = text.len().saturating_sub(200);
        let keep = (keep..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
        found.style = if chunk.last_in_text_node() { String::new() } else { text[keep..].to_owned() };
        Ok(())
    }
}

#[cfg(test)]
mod tests;
