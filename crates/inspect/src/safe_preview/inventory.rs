//! Lists what a page asks for and where it leads, in document order, for a person to judge.

use std::cell::RefCell;
use std::rc::Rc;

use dropleaf_core::html::character_references::{Context, decode};
use lol_html::html_content::Element;
use lol_html::{HtmlRewriter, MemorySettings, Settings, element};

const MEMORY_BYTES: usize = 8 << 20;
/// The most fields listed; twice as many destinations, half as many links. Further ones only set `is_cut`.
const MOST: usize = 60;
/// The most characters shown of a URL or a name.
const SHOWN: usize = 200;

/// A field that a visitor could fill in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputField {
    pub line: usize,
    /// The value of `<input type>`, or the element's name.
    pub kind: String,
    /// How it is labelled: placeholder, `aria-label`, name or id.
    pub name: String,
}

/// Where something is sent to or loaded from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    pub line: usize,
    /// What leads there: a form, a script, a frame…
    pub how: &'static str,
    pub to: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inventory {
    pub forms: usize,
    pub scripts: usize,
    pub fields: Vec<InputField>,
    pub destinations: Vec<Destination>,
    /// Whether there is more than is listed.
    pub is_cut: bool,
}

struct InventoryReader {
    found: Inventory,
    /// Offsets of line starts.
    lines: Vec<usize>,
}

impl Inventory {
    pub fn of(text: &str) -> Self {
        let lines = std::iter::once(0).chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1));
        let reading =
            Rc::new(RefCell::new(InventoryReader { found: Self::default(), lines: lines.collect() }));
        let each = Rc::clone(&reading);
        let settings = Settings::new()
            .append_element_content_handler(element!("*", move |element| {
                each.borrow_mut().read_element(element);
                Ok(())
            }))
            .with_memory_settings(MemorySettings::new().with_max_allowed_memory_usage(MEMORY_BYTES))
            .with_strict(false);
        let mut rewriter = HtmlRewriter::new(settings, |_: &[u8]| {});
        // If parsing fails midway, what was found so far is listed.
        let read = rewriter.write(text.as_bytes()).and_then(|()| rewriter.end());
        let mut found = std::mem::take(&mut reading.borrow_mut().found);
        found.is_cut |= read.is_err();
        found
    }
}

impl InventoryReader {
    fn read_element(&mut self, element: &mut Element<'_, '_>) {
        let name = element.tag_name();
        let at = element.source_location().bytes().start;
        let line = self.lines.partition_point(|start| *start <= at);
        let value = |name: &str| element.get_attribute(name).map(|raw| shown(&raw));
        match name.as_str() {
            "form" => {
                self.found.forms += 1;
                let to = value("action").filter(|to| !to.is_empty());
                self.add_destination(line, "form", to.unwrap_or_else(|| "nowhere (no action)".to_owned()));
            }
            "input" | "textarea" | "select" => {
                let kind =
                    value("type").filter(|_| name == "input").map_or(name.clone(), |it| it.to_lowercase());
                if matches!(kind.as_str(), "hidden" | "submit" | "button" | "reset" | "image") {
                    return;
                }
                let kind = if kind == "input" { "text".to_owned() } else { kind };
                let called = ["placeholder", "aria-label", "name", "id"].into_iter();
                let name = called.filter_map(value).find(|it| !it.is_empty()).unwrap_or_default();
                self.add_field(InputField { line, kind, name });
            }
            "script" => {
                self.found.scripts += 1;
                if let Some(to) = value("src") {
                    self.add_destination(line, "script", to);
                }
            }
            "iframe" | "frame" | "embed" | "object" => {
                if let Some(to) = value("src").or_else(|| value("data")) {
                    self.add_destination(line, "frame", to);
                }
            }
            "meta" if value("http-equiv").is_some_and(|it| it.eq_ignore_ascii_case("refresh")) => {
                self.add_destination(line, "redirect", value("content").unwrap_or_default());
            }
            "base" => self.add_destination(line, "base address", value("href").unwrap_or_default()),
            "a" | "area" => {
                if let Some(to) = value("href").filter(|to| is_outside(to)) {
                    self.add_destination(line, "link", to);
                }
            }
            _ => {}
        }
        if let Some(to) = value("formaction") {
            self.add_destination(line, "form", to);
        }
    }

    fn add_field(&mut self, field: InputField) {
        if self.found.fields.len() < MOST {
            self.found.fields.push(field);
        } else {
            self.found.is_cut = true;
        }
    }

    /// Lists each URL once per kind.
    fn add_destination(&mut self, line: usize, how: &'static str, to: String) {
        let known = &mut self.found.destinations;
        if known.iter().any(|other| other.how == how && other.to == to) {
            return;
        }
        // Links are limited separately, so that they cannot crowd out forms.
        let links = known.iter().filter(|other| other.how == "link").count();
        if (how == "link" && links >= MOST / 2) || known.len() >= 2 * MOST {
            self.found.is_cut = true;
        } else {
            known.push(Destination { line, how, to });
        }
    }
}

fn is_outside(address: &str) -> bool {
    address.starts_with("//")
        || address.split(['/', '?', '#']).next().is_some_and(|first| first.contains(':'))
}

fn shown(raw: &str) -> String {
    let text = decode(raw, Context::Attribute);
    let text = text.trim();
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_destinations_stand_with_their_lines() {
        let page = "<h1>x</h1>\n<form action='https://evil.example/&#97;.php'>\n<input type=password placeholder=Secret>\n\
                    <input type=hidden name=h><input name=user>\n<button formaction=//other.example>Go</button></form>\n\
                    <script src=https://cdn.example/x.js></script><a href=/here></a><a href=mailto:a@b.example></a>";
        let found = Inventory::of(page);
        let fields: Vec<_> =
            found.fields.iter().map(|it| (it.line, it.kind.as_str(), it.name.as_str())).collect();
        assert_eq!(fields, [(3, "password", "Secret"), (4, "text", "user")]);
        let leads: Vec<_> = found.destinations.iter().map(|it| (it.line, it.how, it.to.as_str())).collect();
        assert_eq!(
            leads,
            [
                (2, "form", "https://evil.example/a.php"),
                (5, "form", "//other.example"),
                (6, "script", "https://cdn.example/x.js"),
                (6, "link", "mailto:a@b.example"),
            ]
        );
        assert_eq!((found.forms, found.scripts, found.is_cut), (1, 1, false));
    }

    #[test]
    fn thousands_of_links_do_not_hide_a_form() {
        let mut page =
            (0..5000).map(|n| format!("<a href=https://x{n}.example>x</a>")).collect::<Vec<_>>().concat();
        page.push_str("<form action=https://evil.example>");
        let found = Inventory::of(&page);
        assert!(found.destinations.iter().any(|it| it.how == "form") && found.is_cut);
    }
}
