//! Measures how often pages are taken for one another: `measure_likeness [FOLDER…]`. Each page is taken down in turn and
//! compared with all others of its collection: the project's own pages, and the HTML files below each folder.

use std::io;
use std::path::{Path, PathBuf};

use dropleaf_content::likeness::{PageLikeness, Unwanted, of};
use dropleaf_content::phishing::{File, Rules};

/// Enough for some millions of pairs.
const MOST_PAGES: usize = 1500;
const LARGEST_BYTES: u64 = 4 << 20;
const LEVELS: [usize; 8] = [30, 40, 50, 55, 60, 70, 80, 90];

/// An upload: the folder or file it is, and its pages.
struct Upload {
    name: String,
    pages: Vec<PageLikeness>,
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
    Upload { name: texts.first().map(|(path, _)| path.clone()).unwrap_or_default(), pages: of(&files, rules) }
}

/// Each page alone, as people publish pages of manuals.
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

fn compare(title: &str, taken_down: &[Upload], published: &[Upload]) {
    let entries = taken_down.iter().map(|upload| {
        let worth = upload.pages.iter().filter(|page| page.sketch.is_enough());
        (upload.name.clone(), Vec::new(), worth.map(|page| page.sketch.clone()).collect::<Vec<_>>())
    });
    let entries: Vec<_> = entries.filter(|(_, _, sketches)| !sketches.is_empty()).collect();
    let sketched = entries.len();
    let unwanted = Unwanted::new(entries);
    let mut pairs = Vec::new();
    for upload in published {
        for page in &upload.pages {
            let others = unwanted.shares(page).into_iter().filter(|(id, _)| *id != upload.name);
            pairs.extend(others.map(|(id, percent)| (percent, id.to_owned(), upload.name.clone())));
        }
    }
    println!("\n{title}: {sketched} sketches against {} uploads", published.len());
    for level in LEVELS {
        let like: Vec<_> = pairs.iter().filter(|(percent, ..)| *percent >= level).collect();
        let mut blockers: Vec<&str> = like.iter().map(|(_, id, _)| id.as_str()).collect();
        blockers.sort_unstable();
        blockers.dedup();
        let mut blocked: Vec<&str> = like.iter().map(|(_, _, name)| name.as_str()).collect();
        blocked.sort_unstable();
        blocked.dedup();
        println!(
            "  {level:>3} %: {:>7} pairs; {:>5} pages would block others, {:>5} would be blocked",
            like.len(),
            blockers.len(),
            blocked.len()
        );
    }
    pairs.sort_by(|a, b| b.cmp(a));
    for (percent, id, name) in pairs.iter().step_by((pairs.len() / 6).max(1)).take(3) {
        println!("       {percent:>3} % of {id} in {name}");
    }
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
    compare("own harvest pages in own honest pages", &harvest, &honest);
    compare("own honest pages in one another", &honest, &honest);
    compare("own harvest pages in one another", &harvest, &harvest);
    for folder in std::env::args().skip(1) {
        let pages = collection(Path::new(&folder), &rules)?;
        compare(&folder, &pages, &pages);
        compare("own harvest pages in these", &harvest, &pages);
    }
    Ok(())
}
