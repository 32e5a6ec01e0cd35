//! Tests pages with unusual scripts. The hashes were compared with those that Chromium requests in its console.

use super::*;
use crate::mime::HTML;
use sha2::{Digest, Sha256};

fn strict(page: &str) -> StrictCsp {
    let mut strict = StrictCsp::default();
    strict.read("index.html", HTML, page.as_bytes()).unwrap();
    // The result does not depend on how the page is split into chunks.
    let mut cut = CspScan::new(StrictCsp::default(), "index.html", charset_in(HTML));
    page.as_bytes().chunks(3).for_each(|chunk| cut.write(chunk));
    assert_eq!(cut.finish().sources(), strict.sources());
    strict
}

/// Asserts that the page's scripts are exactly these texts.
#[track_caller]
fn has(page: &str, texts: &[&str]) {
    let mut wanted = StrictCsp::default();
    for text in texts {
        let mut script = ScriptHasher::new(false);
        script.add(text, false);
        wanted.scripts.extend(script.finish());
    }
    assert_eq!(strict(page).sources(), wanted.sources(), "{page}");
}

#[test]
fn hash_is_the_one_that_browsers_compute() {
    // From the CSP specification.
    assert_eq!(
        strict("<script>alert('Hello, world.');</script>").sources(),
        "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='"
    );
    assert_eq!(Sha256::digest("").len(), 32);
}

#[test]
fn every_byte_between_the_tags_counts() {
    has("<script> a </script><SCRIPT>b</ScRiPt >", &[" a ", "b"]);
    has("<script>\r\na\rb\n</script>", &["\na\nb\n"]);
    has("<script>a &amp; b < c</script>", &["a &amp; b < c"]);
    has("<script>é漢😀</script>", &["é漢😀"]);
    has("<script>x</script><script>x</script>", &["x"]);
}

#[test]
fn comments_and_cdata_are_text_in_a_script() {
    has("<script><!-- a --></script>", &["<!-- a -->"]);
    has("<script>//<![CDATA[\na\n//]]></script>", &["//<![CDATA[\na\n//]]>"]);
    has("<script><!--<script>a</script>--></script>", &["<!--<script>a</script>-->"]);
    has("<!-- <script>no</script> --><p title='<script>no</script>'>x</p>", &[]);
    has("<textarea><script>no</script></textarea><title><script>no</script></title>", &[]);
}

#[test]
fn drawings_hold_scripts_in_their_own_way() {
    has("<svg><script>a()</script></svg>", &["a()"]);
    has("<svg><script>a &amp;&amp; b</script></svg>", &["a && b"]);
    has("<svg><script><![CDATA[a && b]]></script></svg>", &["a && b"]);
    has("<svg><script href='x.js'></script><script xlink:href='x.js'>c</script></svg>", &[]);
}

#[test]
fn only_what_the_policy_governs_is_hashed() {
    for kind in [
        "",
        " type",
        " type=''",
        " type=module",
        " type=' Text/JavaScript '",
        " type=application/ecmascript",
        " type=text/javascript1.5",
        " type=importmap",
        " type=speculationrules",
        " language=javascript",
        " nomodule",
    ] {
        has(&format!("<script{kind}>x</script>"), &["x"]);
    }
    for kind in [
        " src=a.js",
        " src",
        " src=''",
        " type=application/json",
        " type='application/ld+json'",
        " type=text/plain",
        " type=text/template",
        " type='text/javascript; charset=utf-8'",
        " type=x",
        " language=vbscript",
    ] {
        has(&format!("<script{kind}>x</script>"), &[]);
    }
    has("<script></script><script>never closed", &[]);
}

#[test]
fn page_in_another_charset_is_hashed_as_characters() {
    let mut strict = StrictCsp::default();
    let page = b"<meta charset=big5><script>'caf\xe9'</script>";
    strict.read("a.html", "text/html; charset=windows-1252", &page[..]).unwrap();
    let mut script = ScriptHasher::new(false);
    script.add("'café'", false);
    assert_eq!(strict.sources(), format!("'sha256-{}'", script.finish().unwrap()));
}

#[test]
fn what_will_be_blocked_is_told() {
    let page = "<base href=x><script src=https://cdn.example/a.js></script><link rel=stylesheet href=//cdn.example/a.css>\
        <img src=https://x.example/a.png onerror=go()><body onload=go()><a href=' JavaScript:go()'>x</a><a target=_blank href=b>y</a>\
        <iframe src=https://x.example/></iframe><object></object><form action=https://x.example/><button formaction=//x.example/>z</button></form><video src=https://x.example/v></video>\
        <style>@font-face{src:url(https://x.example/f.woff2)}</style>";
    let told = strict(page).warnings();
    assert_eq!(told.len(), 12, "{told:#?}");
    for what in [
        "cdn.example/a.js",
        "a.css",
        "a.png",
        "onerror in index.html and 1 more",
        "javascript:",
        "f.woff2",
        "other sites (https://x.example/ in index.html and 1 more)",
    ] {
        assert!(told.iter().any(|sentence| sentence.contains(what)), "{what}: {told:#?}");
    }
    let clean = "<link rel=stylesheet href=a.css><img src=data:,x srcset='a.png 2x'><script src=a.js></script><a href=https://x>x</a>\
        <iframe srcdoc=x></iframe><iframe src=b.html></iframe><form action=search.html><button>x</button></form><form method=dialog></form>";
    assert_eq!(strict(clean).warnings(), Vec::<String>::new());
}

#[test]
fn more_than_64_scripts_are_too_much() {
    let page = |n: usize| (0..n).fold(String::new(), |page, n| format!("{page}<script>{n}</script>"));
    assert!(!strict(&page(64)).has_too_many_scripts());
    assert!(strict(&page(65)).has_too_many_scripts());
}

#[test]
fn what_stops_while_it_runs_is_told_once_for_each_cause() {
    let page =
        "<script>eval('1'); new Function('a')</script><script type='text/babel'>let a = <p/>;</script>";
    let said = strict(page).warnings();
    assert_eq!(
        said,
        [
            "csp_strict blocks code built from strings (eval in index.html and 1 more). Use functions or JSON.parse \
             instead.",
            "csp_strict blocks scripts compiled in the browser (text/babel in index.html). Compile them in advance, \
             for example with a build tool.",
        ]
    );
    let mut strict = StrictCsp::default();
    strict.read("js/app.js", crate::mime::SCRIPT, &b"run(new Function('a'))"[..]).unwrap();
    assert!(strict.warnings()[0].contains("new Function in js/app.js"), "{:?}", strict.warnings());
    assert_eq!(strict.script_count(), 0);
}

#[test]
fn data_blocks_and_own_webassembly_are_silent() {
    let page = "<script type='application/json'>\"eval(x)\"</script>\
                <script>WebAssembly.instantiateStreaming(fetch('a.wasm'))</script>";
    assert_eq!(strict(page).warnings(), [""; 0]);
}

#[test]
fn scripts_of_pages_in_utf16_do_not_run() {
    let mut strict = StrictCsp::default();
    strict.read("a.html", "text/html; charset=utf-16le", &b"\xff\xfe<\0p\0>\0"[..]).unwrap();
    assert!(strict.warnings()[0].contains("UTF-16"), "{:?}", strict.warnings());
}
