//! Blocklisted pages that are uploaded again in disguise, and innocent pages that resemble them.

use std::sync::LazyLock;

use dropleaf_content::{Bundle, BundleTexts, Limits, Source, Upload, prepare};
use dropleaf_inspect::phishing::Rules;
use dropleaf_inspect::similarity::{Blocklist, Fingerprints, Match, Sketch, check_and_fingerprint};

use crate::disguises::{self, DISGUISES};
use crate::support::{check_bundle, fingerprint_bundle, fixtures, for_inspection, upload, zip_of};

static RULES: LazyLock<Rules> = LazyLock::new(Rules::builtin);

pub(crate) fn fingerprints_of(bundle: &Bundle) -> Fingerprints {
    fingerprint_bundle(bundle, &RULES)
}

pub(crate) fn fingerprints(name: &str, bytes: impl Into<bytes::Bytes>) -> Fingerprints {
    fingerprints_of(&upload(name, bytes).unwrap())
}

/// The digests and sketches stored for content that was taken down, as a server would read them back: for the whole
/// bundle and for every page, as if each had been reported.
pub(crate) fn marks(fingerprints: &Fingerprints) -> (Vec<[u8; 32]>, Vec<Sketch>) {
    let mut paths: Vec<&str> = fingerprints.pages.iter().map(|page| page.path.as_str()).collect();
    // The entry page counts even if it has no text of its own.
    if !paths.contains(&"index.html") {
        paths.push("index.html");
    }
    let paths = paths.into_iter();
    let exact =
        paths.clone().flat_map(|path| fingerprints.page_hashes(path)).chain([fingerprints.whole_hash()]);
    let stored: Vec<Vec<u8>> =
        paths.filter_map(|path| fingerprints.page_sketch(path)).map(Sketch::to_bytes).collect();
    (exact.collect(), stored.iter().map(|bytes| Sketch::from_bytes(bytes).unwrap()).collect())
}

pub(crate) fn taken_down(fingerprints: &Fingerprints) -> Blocklist {
    let (exact, sketches) = marks(fingerprints);
    Blocklist::new([("it".to_owned(), exact, sketches)])
}

/// Single-file phishing pages with enough text for a sketch.
fn recognisable() -> Vec<(String, String, Blocklist)> {
    let pages = fixtures("harvest").into_iter().filter(|(_, files)| files.len() == 1);
    let pages = pages.map(|(name, mut files)| (name, files.remove(0).1));
    pages
        .filter_map(|(name, page)| {
            let fingerprints = fingerprints("index.html", page.clone());
            (!marks(&fingerprints).1.is_empty()).then(|| (name, page, taken_down(&fingerprints)))
        })
        .collect()
}

#[test]
fn a_page_is_recognised_in_every_disguise() {
    let pages = recognisable();
    assert!(pages.len() >= 20, "{}", pages.len());
    let (mut missed, mut tried) = (Vec::new(), 0);
    for (name, page, blocklist) in &pages {
        for (disguise, dress) in DISGUISES {
            let disguised = dress(page);
            tried += usize::from(disguised != *page);
            if blocklist.find(&fingerprints("other.html", disguised)).is_none() {
                missed.push(format!("{name}: {disguise}"));
            }
        }
    }
    assert!(tried >= 200, "{tried}");
    // On the shortest pages, another name and other words are a quarter of the text.
    let (reworded, others): (Vec<_>, Vec<_>) = missed.iter().partition(|what| what.ends_with("other words"));
    assert!(others.is_empty(), "{others:#?}");
    assert!(reworded.len() * 5 <= pages.len(), "{reworded:#?} of {}", pages.len());
}

#[test]
fn a_page_is_recognised_in_an_archive_under_another_name_and_in_markdown() {
    for (name, page, blocklist) in recognisable() {
        let archive = zip_of(&[
            ("index.html", "<h1>Welcome</h1><a href=a/start.html>go on</a>"),
            ("a/start.html", &disguises::renamed(&page)),
        ]);
        let found = blocklist.find(&fingerprints("site.zip", archive)).unwrap_or_else(|| panic!("{name}"));
        assert_eq!(found, Match { id: "it".to_owned(), file: Some("a/start.html".to_owned()), exact: false });
        assert!(blocklist.find(&fingerprints("page.md", format!("# Notes\n\n{page}\n"))).is_some(), "{name}");
    }
}

#[test]
fn the_same_bytes_are_recognised_under_any_name_and_in_an_archive() {
    let page =
        "<title>Short</title><p>Send your money to Gilbert before Friday evening, or else you will see.</p>";
    let pdf = "%PDF-1.7 money for Gilbert";
    for (name, bytes) in [("a.html", page), ("a.pdf", pdf)] {
        let blocklist = taken_down(&fingerprints(name, bytes));
        let again = blocklist.find(&fingerprints(&format!("other-{name}"), bytes)).unwrap();
        assert!(again.exact && again.file.is_none());
        let inside = zip_of(&[("index.html", "<p>nothing</p>"), (&format!("x/{name}"), bytes)]);
        let inside = blocklist.find(&fingerprints("b.zip", inside)).unwrap();
        assert_eq!((inside.exact, inside.file), (true, Some(format!("x/{name}"))));
        assert_eq!(blocklist.find(&fingerprints(name, format!("{bytes}!"))), None);
    }
    let archive = zip_of(&[("index.html", page), ("a.png", "x")]);
    let blocklist = taken_down(&fingerprints("a.zip", archive));
    assert!(blocklist.find(&fingerprints("page.html", page)).is_some_and(|found| found.exact));
}

#[test]
fn ciphertext_is_recognised_by_its_bytes_alone() {
    let sealed = |byte: u8| {
        let bytes: Vec<u8> = (0..80_u8).map(|n| n.wrapping_mul(167).wrapping_add(byte)).collect();
        let source = Source::Memory(bytes.into());
        let upload = Upload { filename: None, content_type: None, e2e: true, source };
        fingerprints_of(&prepare(upload, &Limits::default(), std::env::temp_dir().as_path()).unwrap())
    };
    let blocklist = taken_down(&sealed(7));
    assert!(blocklist.find(&sealed(7)).is_some_and(|found| found.exact));
    assert_eq!(blocklist.find(&sealed(8)), None);
}

#[test]
fn what_many_people_start_from_is_nobodys_mark() {
    let frame = "<!doctype html><title>App</title><div id=root></div><script src=app.js></script>";
    let library = "window.lib = function () { return 'shared by many' };\n".repeat(300);
    let bad = zip_of(&[("index.html", frame), ("app.js", "document.title = 'bad'"), ("lib.js", &library)]);
    let blocklist = taken_down(&fingerprints("bad.zip", bad.clone()));
    let good = zip_of(&[("index.html", frame), ("app.js", "document.title = 'good'"), ("lib.js", &library)]);
    assert_eq!(blocklist.find(&fingerprints("good.zip", good.clone())), None);
    assert_eq!(blocklist.find(&fingerprints("index.html", frame)), None);
    assert!(blocklist.find(&fingerprints("again.zip", bad)).is_some_and(|found| found.exact));
    // The page with its own script, whatever other files there are.
    let moved = zip_of(&[("index.html", frame), ("app.js", "document.title = 'bad'"), ("x.txt", "padding")]);
    assert!(blocklist.find(&fingerprints("moved.zip", moved)).is_some_and(|found| found.exact));
    let alone = taken_down(&fingerprints("index.html", frame));
    assert!(alone.find(&fingerprints("index.html", frame)).is_some_and(|found| found.exact));
    assert_eq!(alone.find(&fingerprints("good.zip", good)), None, "the frame is everybody's");
}

#[test]
fn honest_pages_are_not_taken_for_harvest_pages() {
    let entries = recognisable().into_iter().map(|(name, page, _)| {
        let fingerprints = fingerprints("index.html", page);
        let (exact, sketches) = marks(&fingerprints);
        (name, exact, sketches)
    });
    let blocklist = Blocklist::new(entries);
    let honest = fixtures("honest");
    assert!(honest.len() >= 200);
    for (name, files) in honest {
        let files: Vec<(&str, &str)> =
            files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let found = match files.as_slice() {
            [(path, text)] => blocklist.find(&fingerprints(path, (*text).to_owned())),
            several => blocklist.find(&fingerprints("a.zip", zip_of(several))),
        };
        assert_eq!(found, None, "{name}");
    }
}

#[test]
fn what_all_pages_of_a_manual_share_does_not_block_another_manual_of_the_same_tool() {
    let note = "Made with a generator of manuals that puts this note of some length on each and every page it writes. "
        .repeat(2);
    let page = |about: &str| {
        let menu = "<nav>Introduction Installation Configuration Commands Troubleshooting Glossary</nav>";
        format!("<title>{about}</title>{menu}<h1>{about}</h1>{}<p>{note}</p>", about.repeat(8))
    };
    let of = |words: [&str; 4]| {
        let names = ["index.html", "b.html", "c.html", "d.html"];
        let pages = words.map(page);
        let files: Vec<(&str, &str)> =
            names.iter().zip(&pages).map(|(name, page)| (*name, page.as_str())).collect();
        fingerprints("manual.zip", zip_of(&files))
    };
    let bad = of([
        "how to pick a lock quietly",
        "how to open a safe by ear",
        "where to sell it",
        "how to run away",
    ]);
    let good =
        of(["how to prune an old tree", "how to keep honey bees", "when to sow peas", "how to press cider"]);
    assert_eq!(taken_down(&bad).find(&good), None);
    assert!(taken_down(&bad).find(&bad).is_some());
}

#[test]
fn one_reading_says_what_two_would() {
    for (name, files) in fixtures("harvest").into_iter().step_by(5) {
        let files: Vec<(&str, &str)> =
            files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let Ok(bundle) = upload("a.zip", zip_of(&files)) else { continue };
        let texts = BundleTexts::of(&bundle).unwrap();
        let (verdict, fingerprints) = check_and_fingerprint(&for_inspection(&texts), &RULES);
        assert_eq!(verdict, check_bundle(&bundle, &RULES), "{name}");
        assert_eq!(marks(&fingerprints), marks(&fingerprints_of(&bundle)));
    }
}
