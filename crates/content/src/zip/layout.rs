//! Finds the root of the site: where `index.html` is, or the one folder that holds everything.

use std::collections::BTreeSet;

use super::directory::Entry;
use super::names;
use crate::html::INDEX;
use crate::refusal::{Refusal, RefusalCode, shown_name};

const SHOWN: usize = 8;

/// The prefix that all paths lose: empty, or the top folder with its slash.
pub(super) fn find_root<'a>(entries: &[&'a Entry]) -> Result<&'a str, Refusal> {
    let has = |path: &str| entries.iter().any(|e| e.name == path);
    if has(INDEX) {
        return Ok("");
    }
    if let Some(top) = shared_folder(entries)
        && has(&format!("{top}{INDEX}"))
    {
        for entry in entries {
            names::check_reserved(&entry.name, &entry.name[top.len()..])?;
        }
        return Ok(top);
    }
    Err(Refusal::new(RefusalCode::MissingIndex, explain(entries)))
}

fn shared_folder<'a>(entries: &[&'a Entry]) -> Option<&'a str> {
    let first = entries.first()?.name.as_str();
    let top = &first[..=first.find('/')?];
    entries.iter().all(|e| e.name.starts_with(top)).then_some(top)
}

fn explain(entries: &[&Entry]) -> String {
    if entries.is_empty() {
        return "The archive has no files. It needs an index.html at its top.".to_owned();
    }
    let mut tops = BTreeSet::new();
    for entry in entries {
        let end = entry.name.find('/').map_or(entry.name.len(), |slash| slash + 1);
        tops.insert(&entry.name[..end]);
    }
    let mut found: Vec<String> = tops.iter().take(SHOWN).map(|top| shown_name(top.as_bytes())).collect();
    if tops.len() > SHOWN {
        found.push("…".to_owned());
    }
    let mut text = format!(
        "The archive has no index.html at its top (or in a single top folder). At its top are: {}.",
        found.join(", ")
    );
    if let Some(near) = near_miss(entries) {
        text.push_str(&near);
    }
    text
}

/// What the person most likely meant.
fn near_miss(entries: &[&Entry]) -> Option<String> {
    let file_name = |e: &Entry| e.name.rsplit('/').next().unwrap_or_default().to_owned();
    let depth = |e: &Entry| e.name.matches('/').count();
    let best = entries
        .iter()
        .filter(|e| matches!(file_name(e).to_ascii_lowercase().as_str(), "index.html" | "index.htm"))
        .min_by_key(|e| depth(e))?;
    let shown = shown_name(best.name.as_bytes());
    Some(if file_name(best) == INDEX {
        format!(" There is {shown}: zip the contents of its folder instead.")
    } else {
        format!(" There is {shown}: rename it to index.html.")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(names: &[&str]) -> Result<String, String> {
        let entries: Vec<Entry> = names.iter().map(|name| Entry::named((*name).to_owned())).collect();
        let entries: Vec<&Entry> = entries.iter().collect();
        find_root(&entries).map(str::to_owned).map_err(|refusal| refusal.to_string())
    }

    #[test]
    fn index_at_the_top_is_the_root() {
        assert_eq!(root(&["a/b.css", "index.html", "c/index.html"]).unwrap(), "");
    }

    #[test]
    fn one_shared_folder_is_stripped() {
        assert_eq!(root(&["site/", "site/index.html", "site/a/b.css"]).unwrap(), "site/");
        assert!(root(&["site/index.html", "readme.txt"]).is_err());
        assert!(root(&["site/index.html", "sites/a"]).is_err());
    }

    #[test]
    fn a_reserved_folder_cannot_hide_in_the_shared_one() {
        assert!(root(&["site/index.html", "site/_DropLeaf/x"]).unwrap_err().contains("reserved"));
    }

    #[test]
    fn the_refusal_says_what_was_found() {
        let text = root(&["a/x.html", "b.html", "b.css"]).unwrap_err();
        assert!(text.contains("At its top are: a/, b.css, b.html."), "{text}");
        assert!(root(&["index.htm"]).unwrap_err().contains("rename it to index.html"));
        assert!(root(&["Index.html"]).unwrap_err().contains("There is Index.html: rename"));
        assert!(root(&["a/b/index.html"]).unwrap_err().contains("zip the contents of its folder"));
        assert!(root(&[]).unwrap_err().contains("no files"));
    }
}
