//! Reads what a page refers to: links, images, styles, scripts and frames, inside the upload or on other sites.

use std::borrow::Cow;

use dropleaf_core::html::Tag;
use dropleaf_core::html::character_references::{Context, decode};

use super::script;
use super::{Reader, embedded_file};
use crate::phishing::facts::{ExternalReference, ReferenceKind, zone};
use crate::phishing::fold::exact;
use crate::phishing::rules::hosts::{HostKind, Target};
use crate::phishing::rules::script_patterns::ScriptMark;

/// Substrings of URLs that concern accounts; those for account recovery come first.
const ACCOUNT_PATHS: [&str; 14] = [
    "password", "forgot", "recover", "reset", "login", "signin", "sign-in", "account", "signup", "register",
    "oauth", "terms", "legal", "privacy",
];
const RECOVERY_PATHS: usize = 4;
/// How many folders of a path are searched for a host name.
const MOST_FOLDERS: usize = 6;
const SHORTEST_HOST: usize = 4;
/// Longer than `javascript:void(0)` and similar no-ops.
const SHORTEST_SCRIPT: usize = 20;

impl Reader<'_> {
    pub(crate) fn link(&mut self, tag: &Tag<'_>, at: usize) {
        // Links in drawings may use `xlink:href`.
        let Some(href) = tag.get("href").or(tag.get("xlink:href")) else { return };
        self.facts.links += 1;
        let target = self.rules.hosts.target(href);
        if target == Target::Nowhere && !exact(href).starts_with("tel:") {
            self.facts.dead_links += 1;
        }
        if matches!(target, Target::Host(..)) {
            let account = self.facts.has_room_for_references().then(|| {
                let path = read_address(href).to_ascii_lowercase();
                ACCOUNT_PATHS.iter().position(|word| path.contains(word))
            });
            let account = account.flatten();
            let recovers = account.is_some_and(|word| word < RECOVERY_PATHS);
            let account = account.is_some();
            self.facts.add_reference(ExternalReference {
                kind: ReferenceKind::Link,
                target,
                account,
                recovers,
                at,
            });
        }
        self.read_script_url(href, at);
        let address = read_address(href);
        if address.len() > 8 && starts_with(&address, "tel:") {
            self.facts.phone.get_or_insert(at);
        }
        if starts_with(&address, "data:") || starts_with(&address, "blob:") {
            self.facts.has_file_link = true;
            if let Some(carried) = embedded_file::in_text(&address) {
                self.facts.add_embedded_file(carried, at);
            }
            if let Some(name) = tag.get("download") {
                self.facts.mark(ScriptMark::Download, at);
                self.facts.add_download(&decode(name, Context::Attribute), at);
            }
        }
    }

    /// Reads a `javascript:…` URL as a script.
    pub(crate) fn read_script_url(&mut self, address: &str, at: usize) {
        if address.len() > SHORTEST_SCRIPT {
            let address = read_address(address);
            if starts_with(&address, "javascript:") {
                script::read(&address, at, self.origin.depth, self.facts, self.rules);
            }
        }
    }

    pub(crate) fn image(&mut self, tag: &Tag<'_>, at: usize) {
        self.facts.pictures += 1;
        for text in ["alt", "title"].iter().filter_map(|name| tag.get(name)) {
            self.facts.add_separate_text(text, at, zone::PICTURE);
        }
        let source = tag.get("src").or(tag.get("xlink:href")).or(tag.get("href"));
        let named = tag.get("alt").is_some_and(|text| !is_general(&decode(text, Context::Attribute)));
        if let Some(file) = source.filter(|_| !named && self.zones & (zone::LINK | zone::BUTTON) == 0)
            && let Some(name) = file_name(&read_address(file))
        {
            self.facts.add_file(name, at);
        }
        self.asset(source, at);
    }

    pub(crate) fn reference(&mut self, tag: &Tag<'_>, at: usize) {
        let href = tag.get("href");
        // The first `<base>` wins, as in a browser.
        if tag.name.is("base") && self.facts.base.is_none() {
            self.facts.base = href.map(exact);
        }
        self.asset(href, at);
    }

    pub(crate) fn asset(&mut self, address: Option<&str>, at: usize) {
        let Some(address) = address.filter(|address| !starts_with(&read_address(address), "data:")) else {
            return;
        };
        let target = self.rules.hosts.target(address);
        let target = match target {
            Target::Local(path) | Target::ServerScript(path) => self.brand_of_folder(&path),
            target => Some(target),
        };
        if let Some(target @ Target::Host(..)) = target {
            self.facts.add_reference(ExternalReference {
                kind: ReferenceKind::Asset,
                target,
                account: false,
                recovers: false,
                at,
            });
        }
    }

    /// The brand whose host name a folder of the upload has: tools that mirror sites name folders after hosts.
    pub(crate) fn brand_of_folder(&self, path: &str) -> Option<Target> {
        let mut rest = path;
        for _ in 0..MOST_FOLDERS {
            let (folder, after) = rest.split_once('/')?;
            rest = after;
            let host = folder.strip_suffix("_files").unwrap_or(folder);
            if host.len() > SHORTEST_HOST && host.contains('.') {
                let kind = self.rules.hosts.kind(host, after);
                if matches!(kind, Some(HostKind::Brand(_))) {
                    return Some(Target::Host(host.to_owned(), kind));
                }
            }
        }
        None
    }

    pub(crate) fn script_source(&mut self, tag: &Tag<'_>, at: usize) {
        self.facts.has_script = true;
        // SVG uses `href` or `xlink:href` instead of `src`.
        let source = tag.get("src").or(tag.get("href")).or(tag.get("xlink:href"));
        let Some(source) = source else { return };
        match self.rules.hosts.target(source) {
            Target::Local(path) => self.facts.add_local_script(path, at),
            Target::Nowhere if starts_with(&read_address(source), "data:") => {
                script::read_data_url(&read_address(source), at, self.origin, self.facts, self.rules);
            }
            _ => self.asset(Some(source), at),
        }
    }

    pub(crate) fn frame(&mut self, tag: &Tag<'_>, at: usize) {
        if let Some(page) = tag.get("srcdoc") {
            let page = decode(page, Context::Attribute);
            script::read_embedded_page(&page, at, self.origin, false, self.facts, self.rules);
        }
        for source in ["src", "data"].iter().filter_map(|name| tag.get(name)) {
            let address = read_address(source);
            if starts_with(&address, "data:") {
                script::read_data_url(&address, at, self.origin, self.facts, self.rules);
            } else {
                self.read_script_url(source, at);
                let target = self.rules.hosts.target(source);
                self.facts.add_reference(ExternalReference {
                    kind: ReferenceKind::Frame,
                    target,
                    account: false,
                    recovers: false,
                    at,
                });
            }
        }
    }

    pub(crate) fn meta(&mut self, tag: &Tag<'_>, at: usize) {
        let Some(content) = tag.get("content") else { return };
        let key = exact(tag.get("property").or(tag.get("name")).unwrap_or_default());
        if matches!(
            key.trim(),
            "og:site_name" | "og:title" | "application-name" | "apple-mobile-web-app-title"
        ) {
            self.facts.add_separate_text(content, at, zone::PICTURE);
        }
        // The page's canonical URL as it states it, if it is a brand's.
        if key.trim() == "og:url"
            && matches!(self.rules.hosts.target(content), Target::Host(_, Some(HostKind::Brand(_))))
        {
            self.asset(Some(content), at);
        }
        let refreshes = tag.get("http-equiv").is_some_and(|name| exact(name).trim() == "refresh");
        if !refreshes {
            return;
        }
        let content = read_address(content);
        if let Some(address) = refresh_address(&content) {
            let target = self.rules.hosts.target(address);
            self.facts.note_blocked_host(&target, at);
            self.facts.add_redirect(target, at);
        }
        if let Some(address) = content.find("data:").map(|from| &content[from..]) {
            script::read_data_url(address, at, self.origin, self.facts, self.rules);
        }
    }
}

/// The target of `<meta http-equiv=refresh>`, if it has one: `5; url='…'`, or the bare URL after the delay.
fn refresh_address(content: &str) -> Option<&str> {
    let (_, rest) = content.split_once([';', ','])?;
    let rest = rest.trim();
    let named = rest.get(..3).filter(|name| name.eq_ignore_ascii_case("url")).map(|_| rest[3..].trim_start());
    let address = named.and_then(|after| after.strip_prefix('=')).map_or(rest, str::trim);
    let address = match address.chars().next() {
        Some(quote @ ('"' | '\'')) => address[1..].split(quote).next().unwrap_or_default(),
        _ => address,
    };
    (!address.is_empty()).then_some(address)
}

/// A URL as a browser reads it from an attribute: character references decoded, tabs and line breaks removed.
fn read_address(value: &str) -> Cow<'_, str> {
    let decoded = decode(value, Context::Attribute);
    if memchr::memchr3(b'\t', b'\n', b'\r', decoded.as_bytes()).is_some() {
        return Cow::Owned(decoded.replace(['\t', '\n', '\r'], ""));
    }
    decoded
}

/// Whether an alternative text does not say what the image shows.
fn is_general(text: &str) -> bool {
    let text = text.trim().to_ascii_lowercase();
    text.is_empty()
        || matches!(text.as_str(), "logo" | "image" | "img" | "icon" | "brand" | "picture" | "company logo")
}

/// The words of an image's file name, if it is short enough to have been chosen by a person.
fn file_name(address: &str) -> Option<String> {
    let path = address.split(['?', '#']).next().unwrap_or_default();
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let words = stem.replace(['-', '_', '.'], " ").replace("%20", " ").to_ascii_lowercase();
    let words = words.replace("logotype", " ").replace("logo", " ").replace("icon", " ");
    let name = words.trim();
    (!starts_with(address, "data:") && (2..24).contains(&name.len())).then(|| name.to_owned())
}

fn starts_with(text: &str, start: &str) -> bool {
    // Browsers strip leading control characters as well as spaces.
    text.trim_start_matches(|c: char| c <= ' ' || c.is_whitespace())
        .get(..start.len())
        .is_some_and(|begin| begin.eq_ignore_ascii_case(start))
}
