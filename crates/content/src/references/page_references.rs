//! Collects the references of one HTML page: of its elements, its styles and its inline scripts. Leaves out what a browser
//! does not load or follow: templates, and links that only describe the page.

use std::cell::RefCell;
use std::rc::Rc;

use dropleaf_core::html::character_references::{Context, decode};
use dropleaf_core::mime::is_javascript;
use lol_html::html_content::{Element, EndTag, TextChunk};
use lol_html::{HandlerResult, element, text};

use super::attributes::{Base, link_use, srcset_urls};
use super::css_scan::{self, CssScan};
use super::report::ReferenceReport;
use super::resolve::{ReferenceUse, is_template};
use super::script_scan::{IMPORT_MAP_BYTES, ScriptScan, import_map_paths};
use crate::paths::Paths;

const LONGEST_URL: usize = 2048;
const LONGEST_STYLE: usize = 64 * 1024;
/// Selects only what can be wrong, so that ordinary links to other sites cost nothing.
const REFERENCE_SELECTOR: &str = "base, link[href], img[src], img[srcset], source[src], source[srcset], video[src], \
                      video[poster], audio[src], track[src], iframe[src], frame[src], embed[src], object[data], \
                      form[action], input[src], [style*='url('], [href^='/'], [src^='/']";

/// A handler as the rewriter's settings take it.
type Handler<'f> = (std::borrow::Cow<'static, lol_html::Selector>, lol_html::ElementContentHandlers<'f>);

pub(crate) struct PageReferences<'f> {
    page: &'f str,
    report: Option<ReferenceReport<'f>>,
    base: Base,
    script: ScriptKind,
    code: ScriptScan,
    import_map: String,
    style: CssScan,
}

#[derive(Clone, Copy, PartialEq)]
enum ScriptKind {
    Code,
    ImportMap,
    Data,
}

impl<'f> PageReferences<'f> {
    pub(crate) fn new(page: &'f str, report: ReferenceReport<'f>) -> Self {
        Self {
            page,
            report: Some(report),
            base: Base::Page,
            script: ScriptKind::Data,
            code: ScriptScan::default(),
            import_map: String::new(),
            style: CssScan::default(),
        }
    }

    /// The report with what this page added. The page cannot be read further after this.
    pub(crate) fn take_report(&mut self) -> ReferenceReport<'f> {
        static NONE: Paths<'static> = Paths::none();
        self.report.take().unwrap_or_else(|| ReferenceReport::new(&NONE))
    }

    fn add(&mut self, url: &str, used: ReferenceUse) {
        self.report_url(url, |report, page, url| report.add(page, url, used));
    }

    /// Reports a URL of the page as it would be written without a base.
    fn report_url(&mut self, url: &str, add: impl FnOnce(&mut ReferenceReport<'f>, &str, &str)) {
        let Some(report) = &mut self.report else { return };
        if url.len() <= LONGEST_URL
            && let Some(url) = self.base.apply(url)
        {
            add(report, self.page, &url);
        }
    }

    fn add_attribute(&mut self, url: Option<String>, used: ReferenceUse) {
        if let Some(url) = url {
            self.add(&url, used);
        }
    }

    fn element(&mut self, element: &Element<'_, '_>) {
        let tag = element.tag_name();
        let get = |name: &str| {
            let value = element.get_attribute(name)?;
            Some(decode(&value, Context::Attribute).into_owned())
        };
        match tag.as_str() {
            "base" => {
                if let (Some(href), Base::Page) = (get("href"), &self.base) {
                    self.base = Base::of(&href);
                }
                return;
            }
            "link" => {
                if let Some(used) = link_use(&get("rel").unwrap_or_default()) {
                    self.add_attribute(get("href"), used);
                }
            }
            "form" => self.add_attribute(get("action"), ReferenceUse::Link),
            "object" => self.add_attribute(get("data"), ReferenceUse::Load),
            "script" => {}
            "img" | "source" | "video" | "audio" | "track" | "iframe" | "frame" | "embed" | "input" => {
                if tag == "iframe" && get("sandbox").is_some_and(|tokens| !keeps_origin(&tokens)) {
                    self.report_url(&get("src").unwrap_or_default(), ReferenceReport::add_sandboxed_frame);
                }
                for name in ["src", "poster"] {
                    self.add_attribute(get(name), ReferenceUse::Load);
                }
                if let Some(set) = get("srcset").filter(|set| set.len() <= LONGEST_STYLE && !is_template(set))
                {
                    srcset_urls(&set).for_each(|url| self.add(url, ReferenceUse::Load));
                }
            }
            _ => self.add_attribute(get("href"), ReferenceUse::Link),
        }
        if let Some(style) = get("style").filter(|style| style.len() <= LONGEST_STYLE) {
            css_scan::in_attribute(&style, |url| self.add(url, ReferenceUse::Load));
        }
    }

    fn open_script(&mut self, element: &Element<'_, '_>) {
        let kind = element.get_attribute("type").unwrap_or_default().trim().to_ascii_lowercase();
        self.script = match kind.as_str() {
            "importmap" => ScriptKind::ImportMap,
            "" | "module" => ScriptKind::Code,
            kind if is_javascript(kind) => ScriptKind::Code,
            _ => ScriptKind::Data,
        };
        let Some(src) = element.get_attribute("src") else { return };
        let src = decode(&src, Context::Attribute);
        if self.script == ScriptKind::Code
            && src.len() <= LONGEST_URL
            && let (Some(url), Some(report)) = (self.base.apply(&src), &mut self.report)
        {
            report.add_script(self.page, &url);
        }
        // The text inside a script element with `src` does not run.
        self.script = ScriptKind::Data;
    }

    fn script_text(&mut self, text: &str, is_last: bool) {
        let Self { page, report, code, script, import_map, .. } = self;
        let Some(report) = report else { return };
        match script {
            ScriptKind::Code => {
                code.write(text.as_bytes(), |kind, text| report.add_literal(page, true, kind, text));
                if is_last {
                    let history = code.finish(|kind, text| report.add_literal(page, true, kind, text));
                    report.add_history(history);
                }
            }
            ScriptKind::ImportMap => {
                if import_map.len() < IMPORT_MAP_BYTES {
                    import_map.push_str(text);
                }
                if is_last {
                    let map = std::mem::take(import_map);
                    import_map_paths(&map).for_each(|path| report.add(page, path, ReferenceUse::Load));
                }
            }
            ScriptKind::Data => {}
        }
    }

    fn style_text(&mut self, text: &str, is_last: bool) {
        let mut style = std::mem::take(&mut self.style);
        style.write(text.as_bytes(), |url| self.add(url, ReferenceUse::Load));
        if is_last {
            style.finish(|url| self.add(url, ReferenceUse::Load));
        }
        self.style = style;
    }
}

/// Whether a frame with this `sandbox` attribute keeps the origin of its URL.
fn keeps_origin(tokens: &str) -> bool {
    tokens.split_ascii_whitespace().any(|token| token.eq_ignore_ascii_case("allow-same-origin"))
}

type Shared<'f> = Rc<RefCell<PageReferences<'f>>>;

/// The handlers that record a page's references in `shared`.
pub(crate) fn handlers<'f>(shared: &Shared<'f>) -> Vec<Handler<'f>> {
    // The number of open `<template>` elements: their content is not part of the page.
    let templates = Rc::new(RefCell::new(0_usize));
    let references = unless_in_template(shared, &templates, PageReferences::element);
    let script = unless_in_template(shared, &templates, PageReferences::open_script);
    let (of_script, of_style) = (Rc::clone(shared), Rc::clone(shared));
    let inside = Rc::clone(&templates);
    vec![
        element!("template", count_templates(&templates)),
        element!(REFERENCE_SELECTOR, references),
        element!("script", script),
        text!("script", move |chunk: &mut TextChunk<'_>| {
            if *inside.borrow() == 0 {
                of_script.borrow_mut().script_text(chunk.as_str(), chunk.last_in_text_node());
            }
            Ok(())
        }),
        text!("style", move |chunk: &mut TextChunk<'_>| {
            of_style.borrow_mut().style_text(chunk.as_str(), chunk.last_in_text_node());
            Ok(())
        }),
    ]
}

fn unless_in_template<'f>(
    shared: &Shared<'f>,
    templates: &Rc<RefCell<usize>>,
    read: impl Fn(&mut PageReferences<'f>, &Element<'_, '_>) + 'f,
) -> impl FnMut(&mut Element<'_, '_>) -> HandlerResult + 'f {
    let (shared, templates) = (Rc::clone(shared), Rc::clone(templates));
    move |element| {
        if *templates.borrow() == 0 {
            read(&mut shared.borrow_mut(), element);
        }
        Ok(())
    }
}

fn count_templates(
    templates: &Rc<RefCell<usize>>,
) -> impl FnMut(&mut Element<'_, '_>) -> HandlerResult + use<> {
    let templates = Rc::clone(templates);
    move |element| {
        // A declarative shadow tree is rendered.
        if !element.can_have_content() || element.has_attribute("shadowrootmode") {
            return Ok(());
        }
        *templates.borrow_mut() += 1;
        let templates = Rc::clone(&templates);
        element.on_end_tag(Box::new(move |_: &mut EndTag<'_>| {
            let mut open = templates.borrow_mut();
            *open = open.saturating_sub(1);
            Ok(())
        }))
    }
}

#[cfg(test)]
#[path = "page_references_tests.rs"]
mod tests;
