//! The files of one upload together: a page is read with the scripts of the upload that it loads, each script once.

use std::collections::HashMap;

use super::facts::Facts;
use super::reader::{self, FILE};
use super::rules::Rules;
use super::script::{self, MOST_PACKED};

/// A file of the upload: its path and its text.
#[derive(Debug, Clone, Copy)]
pub struct File<'a> {
    pub path: &'a str,
    pub text: &'a str,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Kind {
    Page,
    Script,
    /// Text from which a page was made: shown as it is, if at all.
    Source,
    Other,
}

/// What scripts may add to pages, all together.
const MOST_MERGED: usize = 48 << 20;
/// What is held of texts that scripts had packed, all together.
const MOST_HELD: usize = 32 << 20;

pub(crate) struct Site<'f> {
    files: &'f [File<'f>],
    /// Empty for a single file, which has nothing to refer to but itself.
    by_path: HashMap<&'f str, &'f str>,
}

impl<'f> Site<'f> {
    pub(crate) fn new(files: &'f [File<'f>]) -> Self {
        let several = if files.len() > 1 { files } else { &[] };
        Self { files, by_path: several.iter().map(|file| (file.path, file.text)).collect() }
    }

    /// Whether an address that a page refers to is a file of the upload.
    pub(crate) fn has(&self, page: &str, address: &str) -> bool {
        let path = resolve(page, address);
        self.by_path.contains_key(path.as_str()) || self.files.iter().take(1).any(|file| file.path == path)
    }

    /// The file and the place in it that a place among the facts of a page stands for.
    pub(crate) fn place(&self, file: &File<'f>, facts: &Facts, at: usize) -> (File<'f>, usize) {
        let part = facts.parts.partition_point(|from| *from <= at);
        let script = part.checked_sub(1).and_then(|part| {
            let (path, text) = self.by_path.get_key_value(facts.loaded.get(part)?.as_str())?;
            Some((File { path, text }, at - facts.parts[part]))
        });
        script.unwrap_or((*file, at))
    }

    /// Shows the facts of each file that is of a wanted kind.
    pub(crate) fn each(
        &self,
        rules: &Rules,
        wanted: &[Kind],
        mut show: impl FnMut(&'f File<'f>, Kind, &Facts),
    ) {
        let mut scripts: HashMap<&str, Facts> = HashMap::new();
        let (mut room, mut held) = (MOST_MERGED, 0);
        for file in self.files {
            let kind = kind(file.path);
            if !wanted.contains(&kind) {
                continue;
            }
            let mut facts = Facts::default();
            match kind {
                Kind::Page | Kind::Source => reader::read(file.text, FILE, &mut facts, rules),
                Kind::Script => match scripts.get(file.path) {
                    Some(known) => {
                        show(file, kind, known);
                        continue;
                    }
                    None => script_facts(file.text, held, &mut facts, rules),
                },
                Kind::Other => continue,
            }
            let mut end = file.text.len() + 1;
            for (address, _) in std::mem::take(&mut facts.local_scripts) {
                let Some((path, text)) = self.by_path.get_key_value(resolve(file.path, &address).as_str())
                else {
                    continue;
                };
                let script = scripts.entry(path).or_insert_with(|| {
                    let mut script = Facts::default();
                    script_facts(text, held, &mut script, rules);
                    held += script.text.len();
                    script
                });
                facts.merge(script, end, &mut room);
                facts.loaded.push((*path).to_owned());
                facts.parts.push(end);
                end += text.len() + 1;
            }
            show(file, kind, &facts);
        }
    }
}

/// What a script does by itself. Texts that are held together share their bound.
fn script_facts(text: &str, held: usize, facts: &mut Facts, rules: &Rules) {
    facts.has_script = true;
    facts.packed_bytes = MOST_PACKED.saturating_sub(MOST_HELD.saturating_sub(held));
    script::read(text, 0, 0, facts, rules);
}

pub(crate) fn kind(path: &str) -> Kind {
    let name = path.rsplit('/').next().unwrap_or(path);
    let Some((_, extension)) = name.rsplit_once('.') else { return Kind::Other };
    let is = |known: &[&str]| known.iter().any(|known| extension.eq_ignore_ascii_case(known));
    if is(&["html", "htm", "xhtml", "xht", "svg", "xml"]) {
        Kind::Page
    } else if is(&["js", "mjs", "cjs"]) {
        Kind::Script
    } else if is(&["md", "markdown"]) {
        Kind::Source
    } else {
        Kind::Other
    }
}

/// The path in the upload that a relative address of a page leads to.
pub(crate) fn resolve(page: &str, address: &str) -> String {
    let address = address.split(['?', '#']).next().unwrap_or_default();
    let mut segments: Vec<&str> =
        if address.starts_with('/') { Vec::new() } else { page.split('/').collect() };
    segments.pop();
    for segment in address.split('/') {
        match segment {
            "." | "" => {}
            ".." => {
                segments.pop();
            }
            _ => segments.push(segment),
        }
    }
    segments.join("/")
}
