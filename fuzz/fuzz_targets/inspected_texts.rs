//! Runs every check on the texts of an upload: the combined check agrees with the separate ones, sketches survive storage, a
//! page is recognized by its stored sketch, and findings point at existing lines.
#![no_main]

use std::sync::LazyLock;

use dropleaf_inspect::phishing::{File, Rules, check};
use dropleaf_inspect::secrets;
use dropleaf_inspect::similarity::{Blocklist, Sketch, check_and_fingerprint_files, fingerprint_pages};
use libfuzzer_sys::fuzz_target;

static RULES: LazyLock<Rules> = LazyLock::new(Rules::builtin);

fuzz_target!(|parts: (&str, &str, &[u8])| {
    let (page, script, stored) = parts;
    let files = [
        File { path: "index.html", text: page },
        File { path: "b.js", text: script },
        File { path: "c.html", text: "<script src=b.js></script>" },
        File { path: "d.md", text: script },
    ];
    let (verdict, pages) = check_and_fingerprint_files(&files, &RULES);
    assert_eq!(verdict, check(&files, &RULES));
    assert_eq!(pages.len(), fingerprint_pages(&files, &RULES).len());
    for page in &pages {
        let bytes = page.sketch.to_bytes();
        let read = Sketch::from_bytes(&bytes);
        assert_eq!(read.as_ref(), Some(&page.sketch));
        let blocklist = Blocklist::new([("it".to_owned(), Vec::new(), read.into_iter().collect())]);
        let found = blocklist.shares(page).iter().any(|(_, share, same)| *same && *share == 100);
        assert_eq!(found, page.sketch.is_enough());
    }
    if let Some(sketch) = Sketch::from_bytes(stored) {
        let blocklist = Blocklist::new([("it".to_owned(), Vec::new(), vec![sketch])]);
        for page in &pages {
            let _ = blocklist.shares(page);
        }
    }
    for text in [page, script] {
        let lines = 1 + text.matches('\n').count();
        assert!(secrets::find("a.txt", text).iter().all(|finding| (1..=lines).contains(&finding.line)));
    }
});
