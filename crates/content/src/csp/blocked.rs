//! Finds what a strict Content-Security-Policy would block in a page's markup, and describes it in sentences. What scripts do
//! at run time (requests elsewhere, `location = …`) is not visible here, except for the calls that [`super::code_scan`] finds.

use super::code_scan::BlockedCall;
use crate::refusal::shown_name;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockedKind {
    Handler,
    Script,
    Stylesheet,
    Image,
    Media,
    Frame,
    Plugin,
    Form,
    ScriptLink,
    Base,
    NewWindow,
    StyleLoads,
    Unread,
    CodeFromText,
    Compiled,
    Wasm,
    WideScript,
}

impl BlockedKind {
    fn texts(self) -> (&'static str, &'static str) {
        match self {
            Self::Handler => ("inline event handlers", "Use addEventListener in a script."),
            Self::Script => ("scripts from other sites", "Add them to the archive."),
            Self::Stylesheet => ("stylesheets from other sites", "Add them to the archive or use <style>."),
            Self::Image => ("images from other sites", "Add them to the archive or use data: URLs."),
            Self::Media => ("audio or video from other sites", "Add it to the archive."),
            Self::Frame => ("frames from other sites", "Add their pages to the archive or link to them."),
            Self::Plugin => ("embedded objects", "Use images or links instead."),
            Self::Form => ("form submissions to other sites", "Handle them in a script."),
            Self::ScriptLink => ("javascript: links", "Use addEventListener in a script."),
            Self::Base => ("a <base>", "Use relative references."),
            Self::NewWindow => ("links that open a new window", "Remove the target attribute."),
            Self::StyleLoads => {
                ("fonts or images that styles load from other sites", "Add them to the archive.")
            }
            Self::Unread => ("inline scripts in parts that could not be parsed", "Simplify the page."),
            Self::CodeFromText => ("code built from strings", "Use functions or JSON.parse instead."),
            Self::Compiled => {
                ("scripts compiled in the browser", "Compile them in advance, for example with a build tool.")
            }
            Self::Wasm => ("WebAssembly from other sites", "Add it to the archive."),
            Self::WideScript => ("inline scripts in UTF-16 pages", "Save the page as UTF-8."),
        }
    }
}

/// Each kind once: its count, and the first example with its page.
#[derive(Debug, Default)]
pub(crate) struct Blocked(Vec<(BlockedKind, usize, String)>);

impl Blocked {
    pub(crate) fn add(&mut self, kind: BlockedKind, example: &str, page: &str) {
        if let Some((_, count, _)) = self.0.iter_mut().find(|(known, ..)| *known == kind) {
            *count += 1;
        } else {
            let example = format!("{} in {}", shown_name(example.as_bytes()), shown_name(page.as_bytes()));
            self.0.push((kind, 1, example));
        }
    }

    /// Something that a script does at run time.
    pub(crate) fn add_call(&mut self, call: BlockedCall, page: &str) {
        match call {
            BlockedCall::Eval => self.add(BlockedKind::CodeFromText, "eval", page),
            BlockedCall::NewFunction => self.add(BlockedKind::CodeFromText, "new Function", page),
            BlockedCall::ExternalWasm => self.add(BlockedKind::Wasm, "fetch", page),
        }
    }

    pub(crate) fn sentences(&self) -> Vec<String> {
        let sentence = |(kind, count, example): &(BlockedKind, usize, String)| {
            let (what, instead) = kind.texts();
            let more = if *count > 1 { format!(" and {} more", count - 1) } else { String::new() };
            format!("csp_strict blocks {what} ({example}{more}). {instead}")
        };
        self.0.iter().map(sentence).collect()
    }
}

/// What the policy blocks in one element.
pub(crate) fn blocked_in_element(tag: &str, attributes: &[(String, String)]) -> Vec<(BlockedKind, String)> {
    let get = |name: &str| attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    let mut found = Vec::new();
    for (name, value) in attributes {
        if name.len() > 2 && name.starts_with("on") && name.bytes().all(|b| b.is_ascii_lowercase()) {
            found.push((BlockedKind::Handler, name.clone()));
        }
        let link = matches!(name.as_str(), "href" | "xlink:href" | "src" | "action" | "formaction");
        if link && value.trim_ascii_start().get(..11).is_some_and(|v| v.eq_ignore_ascii_case("javascript:")) {
            found.push((BlockedKind::ScriptLink, tag.to_owned()));
        }
    }
    let mut add_external = |kind: BlockedKind, name: &str, data: bool| {
        if let Some(url) = get(name).filter(|url| is_external(url, data)) {
            found.push((kind, url.to_owned()));
        }
    };
    match tag {
        "script" => {
            add_external(BlockedKind::Script, "src", false);
            let kind = get("type").map(|kind| kind.trim_ascii().to_ascii_lowercase());
            if let Some(kind @ ("text/babel" | "text/jsx" | "text/typescript" | "text/coffeescript")) =
                kind.as_deref()
            {
                found.push((BlockedKind::Compiled, kind.to_owned()));
            }
        }
        "link" if get("rel").is_some_and(|rel| rel.to_ascii_lowercase().contains("stylesheet")) => {
            add_external(BlockedKind::Stylesheet, "href", false);
        }
        "img" => add_external(BlockedKind::Image, "src", true),
        "input" => {
            add_external(BlockedKind::Image, "src", true);
            add_external(BlockedKind::Form, "formaction", false);
        }
        "image" => add_external(BlockedKind::Image, "href", true),
        "video" | "audio" | "source" | "track" => add_external(BlockedKind::Media, "src", true),
        "iframe" | "frame" => add_external(BlockedKind::Frame, "src", true),
        "object" | "embed" => found.push((BlockedKind::Plugin, tag.to_owned())),
        "form" => add_external(BlockedKind::Form, "action", false),
        "button" => add_external(BlockedKind::Form, "formaction", false),
        "base" if get("href").is_some() => found.push((BlockedKind::Base, tag.to_owned())),
        "a" | "area" if get("target").is_some_and(|t| t.eq_ignore_ascii_case("_blank")) => {
            found.push((BlockedKind::NewWindow, get("href").unwrap_or(tag).to_owned()));
        }
        _ => {}
    }
    if matches!(tag, "img" | "source")
        && get("srcset").is_some_and(|set| set.split([',', ' ']).any(|url| is_external(url, true)))
    {
        found.push((BlockedKind::Image, "srcset".to_owned()));
    }
    found
}

/// Whether the policy treats a URL as another origin. `data` tells whether `data:` and `blob:` are allowed there.
fn is_external(url: &str, data: bool) -> bool {
    let url = url.trim_ascii();
    if url.starts_with("//") || url.starts_with("\\\\") {
        return true;
    }
    let Some((scheme, _)) = url.split_once(':') else { return false };
    let named = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'));
    let inside = ["data", "blob"].iter().any(|kind| scheme.eq_ignore_ascii_case(kind));
    named && !(data && inside) && !scheme.eq_ignore_ascii_case("javascript")
}

/// The first URL that a style loads from another origin.
pub(crate) fn external_style_url(text: &str) -> Option<&str> {
    let after = |mark: &'static str| text.match_indices(mark).map(move |(at, _)| &text[at + mark.len()..]);
    after("url(").chain(after("@import")).find_map(|rest| {
        let rest = rest.trim_ascii_start().trim_start_matches(['"', '\'']);
        let url = rest.split(['"', '\'', ')', ';', ' ', '\n']).next()?;
        (is_external(url, true) && rest.len() > url.len()).then_some(url)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_places_are_told_from_the_page_itself() {
        for url in ["https://x.example/a", "//x.example", " HTTP://x", "ftp://x", "\\\\x"] {
            assert!(is_external(url, true), "{url}");
        }
        for url in ["a.png", "./a:b", "/a", "#x", "data:image/png,x", "blob:x", "", "javascript:x"] {
            assert!(!is_external(url, true), "{url}");
        }
        assert!(is_external("data:text/javascript,x", false));
    }

    #[test]
    fn styles_are_searched_for_loads() {
        assert_eq!(external_style_url("a{background:url( 'https://x/y.png')}"), Some("https://x/y.png"));
        assert_eq!(external_style_url("@import \"//x/y.css\";"), Some("//x/y.css"));
        assert_eq!(external_style_url("a{background:url(data:image/png,x);b:url(y.png)}"), None);
    }

    #[test]
    fn each_kind_is_said_once_with_its_first_example() {
        let mut blocked = Blocked::default();
        for page in ["a.html", "b.html"] {
            blocked.add(BlockedKind::Handler, "onclick", page);
        }
        assert_eq!(
            blocked.sentences(),
            [
                "csp_strict blocks inline event handlers (onclick in a.html and 1 more). Use addEventListener in a script."
            ]
        );
    }
}
