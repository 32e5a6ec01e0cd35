//! The files of one upload: every page is read together with the scripts of the upload that it loads, each script once.

mod paths;

use std::collections::{HashMap, HashSet, VecDeque};

use dropleaf_core::mime::{MARKDOWN, is_active, is_html, mime_of};

use super::facts::PageFacts;
use super::reader::script::{self, MOST_ENCODED_BYTES};
use super::reader::{self, FILE, Origin};
use super::rules::Rules;
use paths::{based, named_scripts, resolve};

/// A file of the upload: its path and its text.
#[derive(Debug, Clone, Copy)]
pub struct File<'a> {
    pub path: &'a str,
    pub text: &'a str,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum FileKind {
    Page,
    Script,
    /// Source from which a page was generated (Markdown): shown verbatim, if at all.
    Source,
    Other,
}

/// How many bytes scripts may add to pages, in total.
const MOST_MERGED: usize = 8 << 20;
/// How many scripts are merged in total, and per page even beyond that.
const MOST_LOADED: usize = 20_000;
const LOADED_AT_LEAST: usize = 16;
/// How many bytes of texts decoded from scripts are kept, in total.
const MOST_HELD: usize = 32 << 20;

pub(crate) struct Upload<'f> {
    files: &'f [File<'f>],
    /// By lowercase path. Empty for a single file, which can refer only to itself.
    by_path: HashMap<String, Vec<&'f File<'f>>>,
    has_scripts: bool,
}

/// A script of the upload: its facts and the other scripts it names.
struct Script<'f> {
    facts: PageFacts,
    names: Vec<&'f File<'f>>,
}

impl<'f> Upload<'f> {
    pub(crate) fn new(files: &'f [File<'f>]) -> Self {
        let several = if files.len() > 1 { files } else { &[] };
        let mut by_path: HashMap<String, Vec<&File<'_>>> = HashMap::with_capacity(several.len());
        for file in several {
            by_path.entry(file.path.to_lowercase()).or_default().push(file);
        }
        let has_scripts = several.iter().any(|file| kind(file.path) == FileKind::Script);
        Self { files, by_path, has_scripts }
    }

    /// Whether a URL that a page refers to is a file of the upload.
    pub(crate) fn has(&self, page: &str, address: &str) -> bool {
        let path = resolve(page, address);
        self.by_path.contains_key(&path)
            || self.files.iter().take(1).any(|file| file.path.to_lowercase() == path)
    }

    fn at(&self, from: &str, address: &str) -> &[&'f File<'f>] {
        self.by_path.get(&resolve(from, address)).map(Vec::as_slice).unwrap_or_default()
    }

    /// The scripts of the upload that a text names, resolved against each of `places`, without duplicates.
    fn named(&self, text: &str, places: &[&str]) -> Vec<&'f File<'f>> {
        let mut found = Vec::new();
        let mut seen = HashSet::new();
        for address in named_scripts(text) {
            for file in places.iter().flat_map(|place| self.at(place, address)) {
                if seen.insert(file.path) {
                    found.push(*file);
                }
            }
        }
        found
    }

    /// The scripts that a page loads directly.
    fn loads(&self, file: &File<'_>, facts: &mut PageFacts) -> VecDeque<&'f File<'f>> {
        let mut loads = VecDeque::new();
        let local_scripts = std::mem::take(&mut facts.local_scripts);
        if !self.has_scripts {
            return loads;
        }
        let base = facts.base.as_deref().map(|base| based(file.path, base));
        let mut places = vec![file.path];
        places.extend(base.as_deref());
        for (address, _) in local_scripts {
            loads.extend(places.iter().flat_map(|place| self.at(place, &address)));
        }
        if facts.has_script {
            loads.extend(self.named(file.text, &places));
        }
        loads
    }

    /// Maps an offset among the facts of a page to a file and the offset in it.
    pub(crate) fn locate(&self, file: &File<'f>, facts: &PageFacts, at: usize) -> (File<'f>, usize) {
        let part = facts.parts.partition_point(|from| *from <= at);
        let script = part.checked_sub(1).and_then(|part| {
            let path = facts.loaded.get(part)?;
            let script = self.by_path.get(&path.to_lowercase())?.iter().find(|file| file.path == path)?;
            Some((**script, at - facts.parts[part]))
        });
        script.unwrap_or((*file, at))
    }

    /// Calls `show` with the facts of each file of one of these kinds.
    pub(crate) fn for_each_file(
        &self,
        rules: &Rules,
        kinds: &[FileKind],
        mut show: impl FnMut(&'f File<'f>, FileKind, &PageFacts),
    ) {
        let mut scripts: HashMap<&str, Script<'f>> = HashMap::new();
        let (mut room, mut held, mut loaded) = (MOST_MERGED, 0, 0);
        for file in self.files {
            let kind = kind(file.path);
            if !kinds.contains(&kind) {
                continue;
            }
            let mut facts = PageFacts::default();
            match kind {
                FileKind::Page | FileKind::Source => {
                    let xml = kind == FileKind::Page && !is_html(mime_of(file.path));
                    reader::read(file.text, Origin { xml, ..FILE }, &mut facts, rules);
                }
                FileKind::Script => {
                    if let Some(known) = scripts.get(file.path) {
                        show(file, kind, &known.facts);
                    } else {
                        script_facts(file.text, held, &mut facts, rules);
                        show(file, kind, &facts);
                    }
                    continue;
                }
                FileKind::Other => continue,
            }
            let mut seen = HashSet::new();
            let mut end = file.text.len() + 1;
            let mut queue = self.loads(file, &mut facts);
            while let Some(next) = queue.pop_front() {
                if !seen.insert(next.path) || (loaded >= MOST_LOADED && seen.len() > LOADED_AT_LEAST) {
                    continue;
                }
                loaded += 1;
                let script = scripts.entry(next.path).or_insert_with(|| {
                    let mut facts = PageFacts::default();
                    script_facts(next.text, held, &mut facts, rules);
                    held += facts.text.len();
                    // Imports are relative to the script; URLs put into a page are mostly relative to the root.
                    Script { facts, names: self.named(next.text, &[next.path, ""]) }
                });
                facts.merge(&script.facts, end, &mut room);
                facts.loaded.push(next.path.to_owned());
                facts.parts.push(end);
                end += next.text.len() + 1;
                queue.extend(script.names.iter().filter(|file| !seen.contains(file.path)));
            }
            show(file, kind, &facts);
        }
    }
}

/// Collects the facts of a script alone. Kept texts share one limit.
fn script_facts(text: &str, held: usize, facts: &mut PageFacts, rules: &Rules) {
    facts.has_script = true;
    facts.encoded_bytes = MOST_ENCODED_BYTES.saturating_sub(MOST_HELD.saturating_sub(held));
    script::read(text, 0, 0, facts, rules);
}

/// The kind of a file by its media type: what browsers show as a page is read as one.
pub(crate) fn kind(path: &str) -> FileKind {
    match mime_of(path) {
        mime if is_active(mime) => FileKind::Page,
        mime if mime.starts_with("text/javascript") => FileKind::Script,
        MARKDOWN => FileKind::Source,
        _ => FileKind::Other,
    }
}
