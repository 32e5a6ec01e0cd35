//! Measures how often different pages match each other: `measure_similarity [FOLDER…]`. Each page is blocklisted in
//! turn and compared with all others of its collection: the project's own test pages, and the HTML files below each folder.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use dropleaf_inspect::phishing::{File, Rules};
use dropleaf_inspect::similarity::{Blocklist, PageFingerprint, fingerprint_pages};

/// Enough for millions of pairs.
const MOST_PAGES: usize = 1500;
const LARGEST_BYTES: u64 = 4 << 20;
const LEVELS: [usize; 4] = [30, 45, 60, 80];

/// An upload: the name of its folder or file, and its pages.
struct Upload {
    name: String,
    pages: Vec<PageFingerprint>,
}

fn below(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            below(&path, found)?;
        } else if entry.file_type()?.is_file() {
            found.push(path);
        }
    }
    Ok(())
}

fn upload(paths: &[PathBuf], root: &Path, rules: &Rules) -> Upload {
    let named = |path: &PathBuf| path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned();
    let texts: Vec<(String, String)> = paths
        .iter()
        .filter_map(|path| {
            Some((named(path), String::from_utf8_lossy(&std::fs::read(path).ok()?).into_owned()))
        })
        .collect();
    let files: Vec<File<'_>> = texts.iter().map(|(path, text)| File { path, text }).collect();
    Upload {
        name: texts.first().map(|(path, _)| path.clone()).unwrap_or_default(),
        pages: fingerprint_pages(&files, rules),
    }
}

/// Loads each page alone, as people publish manual pages.
fn collection(folder: &Path, rules: &Rules) -> io::Result<Vec<Upload>> {
    let mut paths = Vec::new();
    below(folder, &mut paths)?;
    paths.retain(|path| {
        path.extension().is_some_and(|extension| extension == "html" || extension == "htm")
            && path.metadata().is_ok_and(|about| about.len() <= LARGEST_BYTES)
    });
    paths.sort();
    let step = paths.len().div_ceil(MOST_PAGES).max(1);
    Ok(paths.iter().step_by(step).map(|path| upload(std::slice::from_ref(path), folder, rules)).collect())
}

/// The category in the name of a test page.
fn kind(name: &str) -> &str {
    name.split('-').next().unwrap_or(name)
}

fn compare(title: &str, taken_down: &[Upload], published: &[Upload], other: impl Fn(&str, &str) -> bool) {
    let entries = taken_down.iter().map(|upload| {
        let worth = upload.pages.iter().filter(|page| page.sketch.is_enough());
        (upload.name.clone(), Vec::new(), worth.map(|page| page.sketch.clone()).collect::<Vec<_>>())
    });
    let entries: Vec<_> = entries.filter(|(_, _, sketches)| !sketches.is_empty()).collect();
    let sketched = entries.len();
    let blocklist = Blocklist::new(entries);
    let mut pairs = Vec::new();
    for upload in published {
        for page in &upload.pages {
            let others = blocklist.shares(page).into_iter().filter(|(id, ..)| other(id, &upload.name));
            pairs.extend(others.map(|(id, share, same)| (share, same, id.to_owned(), upload.name.clone())));
        }
    }
    println!("\n{title}: {sketched} sketches against {} uploads", published.len());
    let most = pairs.iter().map(|(share, ..)| *share).max().unwrap_or(0);
    println!("  at most {most} % of one in another");
    for level in LEVELS {
        print(&format!("{level} % in common"), pairs.iter().filter(|(share, ..)| *share >= level));
    }
    print("taken for it", pairs.iter().filter(|(_, same, ..)| *same));
    let mut same: Vec<&Pair> = pairs.iter().filter(|(_, same, ..)| *same).collect();
    same.sort();
    for (share, _, id, name) in same.iter().step_by((same.len() / 5).max(1)) {
        println!("       {share:>3} % of {id} in {name}");
    }
}

/// The percentage of one in the other, whether they match, and their names.
type Pair = (usize, bool, String, String);

fn print<'a>(what: &str, pairs: impl Iterator<Item = &'a Pair>) {
    let (mut blockers, mut blocked, mut count) = (BTreeSet::new(), BTreeSet::new(), 0);
    for (_, _, id, name) in pairs {
        blockers.insert(id);
        blocked.insert(name);
        count += 1;
    }
    let (blockers, blocked) = (blockers.len(), blocked.len());
    println!(
        "  {what:<16} {count:>7} pairs; {blockers:>5} would block others, {blocked:>5} would be blocked"
    );
}

fn fixtures(side: &str, rules: &Rules) -> io::Result<Vec<Upload>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("phishing/fixtures").join(side);
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(&folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    entries.sort();
    let uploads = entries.into_iter().map(|path| {
        let mut files = Vec::new();
        if path.is_dir() {
            below(&path, &mut files)?;
        } else {
            files.push(path);
        }
        Ok(upload(&files, &folder, rules))
    });
    uploads.collect()
}

fn main() -> io::Result<()> {
    let rules = Rules::builtin();
    let (harvest, honest) = (fixtures("harvest", &rules)?, fixtures("honest", &rules)?);
    let other = |a: &str, b: &str| a != b;
    compare("own harvest pages in own honest pages", &harvest, &honest, other);
    compare("own honest pages in those of other kinds", &honest, &honest, |a, b| kind(a) != kind(b));
    compare("own honest pages in one another", &honest, &honest, other);
    compare("own harvest pages in one another", &harvest, &harvest, other);
    for folder in std::env::args().skip(1) {
        let pages = collection(Path::new(&folder), &rules)?;
        compare(&folder, &pages, &pages, other);
        compare("own harvest pages in these", &harvest, &pages, other);
    }
    Ok(())
}
