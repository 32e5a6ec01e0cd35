//! Checks files and folders from the command line: each page alone with the local scripts it loads, as if published.
//! Prints counts per path, and the reasons of every refusal.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use dropleaf_inspect::phishing::{File, Rules, Verdict, check};

/// The most bytes read of one script or page; larger ones are bundles whose beginning is enough.
const MOST_BYTES: usize = 20 << 20;

pub(crate) struct Request {
    pub(crate) paths: Vec<PathBuf>,
    /// A Markdown file whose list items `` - `path`: … `` justify refusals.
    pub(crate) argued: Option<PathBuf>,
    /// Prints one line per page, for other programs.
    pub(crate) every: bool,
}

/// Checks all pages and says whether every refusal is justified.
pub(crate) fn run(request: &Request, rules: &Rules) -> io::Result<bool> {
    let argued = match &request.argued {
        Some(path) => argued_in(&std::fs::read_to_string(path)?),
        None => BTreeSet::new(),
    };
    let (mut pages, mut refused, mut unargued) = (0_u32, 0_u32, 0_u32);
    for root in &request.paths {
        let mut found = Vec::new();
        collect(root, &mut found)?;
        found.sort();
        let mut here = 0;
        let mut refusals = Vec::new();
        for page in &found {
            let (verdict, bytes) = judge(page, rules)?;
            if request.every {
                let hits: Vec<&str> = verdict.reasons.iter().map(|reason| reason.rule).collect();
                let word = if verdict.refused { "refused" } else { "accepted" };
                println!("{word}\t{:.2}\t{bytes}\t{}\t{}", verdict.score, page.display(), hits.join(" "));
            }
            here += u32::from(verdict.refused);
            if verdict.refused {
                refusals.push((page, verdict));
            }
        }
        pages += u32::try_from(found.len()).unwrap_or(u32::MAX);
        refused += here;
        let name = root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        println!("{name:<32} {:>5} pages {here:>4} refused", found.len());
        for (page, verdict) in refusals {
            let inside = page.strip_prefix(root.parent().unwrap_or(root)).unwrap_or(page);
            let known = argued.contains(inside.to_string_lossy().as_ref());
            unargued += u32::from(!known);
            print(inside, &verdict, known);
        }
    }
    println!("{pages} pages, {refused} refused, {unargued} of them not argued");
    Ok(unargued == 0)
}

fn print(page: &Path, verdict: &Verdict, known: bool) {
    let note = if known { " (argued)" } else { "" };
    println!("  {} {:.2}{note}", page.display(), verdict.score);
    for reason in verdict.reasons.iter().take(4) {
        println!("      {}:{}  {}: {}", reason.file, reason.line, reason.rule, reason.why);
    }
}

fn argued_in(text: &str) -> BTreeSet<String> {
    text.lines()
        .filter_map(|line| line.strip_prefix("- `")?.split_once("`:"))
        .map(|(path, _)| path.to_owned())
        .collect()
}

/// A page, and the scripts beside it that it loads.
pub(crate) fn files_of(page: &Path) -> io::Result<Vec<(String, String)>> {
    let text = read(page)?;
    let folder = page.parent().unwrap_or(Path::new(""));
    let name = page.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut files = vec![(name, text)];
    for source in scripts_of(&files[0].1) {
        let path = folder.join(&source);
        // Paths outside the folder keep their dots: the check resolves them the same way.
        if !source.starts_with("..") && path.is_file() {
            files.push((source, read(&path)?));
        }
    }
    Ok(files)
}

fn judge(page: &Path, rules: &Rules) -> io::Result<(Verdict, usize)> {
    let files = files_of(page)?;
    let bytes = files.iter().map(|(_, text)| text.len()).sum();
    let files: Vec<File<'_>> = files.iter().map(|(path, text)| File { path, text }).collect();
    Ok((check(&files, rules), bytes))
}

/// The relative scripts that a page loads.
fn scripts_of(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for part in text.split("<script").skip(1) {
        let tag = part.split('>').next().unwrap_or_default();
        let Some((_, source)) = tag.split_once("src=") else { continue };
        let source = source.trim_start_matches(['"', '\'']);
        let source = source.split(['"', '\'', ' ', '?', '#']).next().unwrap_or_default();
        let source = source.strip_prefix("./").unwrap_or(source);
        if !source.is_empty() && !source.contains("//") && !source.starts_with('/') {
            found.insert(source.to_owned());
        }
    }
    found
}

fn read(path: &Path) -> io::Result<String> {
    let bytes = std::fs::read(path)?;
    Ok(String::from_utf8_lossy(&bytes[..bytes.len().min(MOST_BYTES)]).into_owned())
}

pub(crate) fn collect(path: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    if path.is_dir() {
        for entry in std::fs::read_dir(path)? {
            let entry = entry?;
            // Symbolic links may form cycles.
            if !entry.file_type()?.is_symlink() {
                collect(&entry.path(), found)?;
            }
        }
    } else if path
        .extension()
        .is_some_and(|extension| ["html", "htm", "xhtml", "svg"].iter().any(|known| extension == *known))
    {
        found.push(path.to_owned());
    }
    Ok(())
}
