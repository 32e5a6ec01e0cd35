//! Runs the phishing check: it terminates on any page and any pair of files, is deterministic, points at existing lines, and
//! refuses nothing that is proven harmless.
#![no_main]

use std::sync::LazyLock;

use dropleaf_inspect::phishing::{File, Rules, check, is_harmless};
use libfuzzer_sys::fuzz_target;

static RULES: LazyLock<Rules> = LazyLock::new(Rules::builtin);

fuzz_target!(|parts: (&str, &str)| {
    let (page, script) = parts;
    let files = [
        File { path: "index.html", text: page },
        File { path: "a/b.js", text: script },
        File { path: "a/c.svg", text: script },
    ];
    let verdict = check(&files, &RULES);
    assert_eq!(verdict, check(&files, &RULES));
    assert!(verdict.score.is_finite());
    let alone = &files[..1];
    assert!(!(is_harmless(alone, &RULES) && check(alone, &RULES).refused));
    for reason in &verdict.reasons {
        let text = files.iter().find(|file| file.path == reason.file).map_or("", |file| file.text);
        assert!(reason.line >= 1 && reason.line <= 1 + text.matches('\n').count());
    }
});
