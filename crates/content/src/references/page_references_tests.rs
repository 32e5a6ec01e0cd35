//! Tests which references of a page are found, and which are ignored.

use super::*;
use crate::html::page_scan::PageScan;
use crate::references::address_warnings::ServedAt;

fn warnings(html: &str) -> Vec<String> {
    let files = Paths::new(["index.html", "ok.css", "ok.png"]);
    let mut scan = PageScan::new("index.html", ReferenceReport::new(&files));
    html.as_bytes().chunks(7).for_each(|chunk| scan.write(chunk));
    let report = scan.finish().report;
    let unlisted = ServedAt { own_host: true, slug: false, spa: false };
    report.warnings().into_iter().chain(report.address_warnings().at(unlisted)).collect()
}

fn has_root_paths(html: &str) -> bool {
    let files = Paths::new(["index.html", "ok.css", "ok.png", "main.js"]);
    let mut scan = PageScan::new("index.html", ReferenceReport::new(&files));
    scan.write(html.as_bytes());
    scan.finish().report.has_root_paths()
}

#[test]
fn everything_that_a_page_loads_is_judged() {
    for html in [
        "<link rel=stylesheet href=gone.x>",
        "<script src=gone.x></script>",
        "<img src=gone.x>",
        "<img srcset='ok.png 1x, gone.x 2x'>",
        "<picture><source srcset='ok.png,\n gone.x 400w'></picture>",
        "<video poster=gone.x></video>",
        "<video src=gone.x></video>",
        "<object data=gone.x></object>",
        "<iframe src=gone.x></iframe>",
        "<p style='background: url(gone.x)'>",
        "<style>@import 'gone.x';</style>",
        "<style>a { background: url(gone.x) }</style>",
        "<script>fetch('gone.x')</script>",
        "<script type=module>import './gone.x'</script>",
        "<script type=module>const a = await import('./gone.x')</script>",
        "<script type=importmap>{\"imports\": {\"a\": \"./gone.x\"}}</script>",
    ] {
        let said = warnings(html);
        assert!(
            said.len() == 1
                && said[0].contains("Missing from the upload: ")
                && said[0].contains("gone.x (in"),
            "{html}: {said:?}"
        );
        assert_eq!(warnings(&html.replace("gone.x", "ok.png")), [""; 0], "{html}");
        assert!(has_root_paths(&html.replace("./gone.x", "/ok.png").replace("gone.x", "/ok.png")), "{html}");
    }
}

#[test]
fn links_and_forms_are_judged_when_they_start_with_a_slash() {
    for html in ["<a href='/gone'>x</a>", "<form action='/gone'></form>", "<area href='/gone'>"] {
        let said = warnings(html);
        assert!(said.len() == 1 && said[0].contains("Broken links: /gone (in"), "{html}: {said:?}");
        assert_eq!(warnings(&html.replace("/gone", "gone")), [""; 0], "{html}");
    }
}

#[test]
fn what_is_not_loaded_is_left_alone() {
    for html in [
        "<link rel=canonical href='/gone'>",
        "<link rel=alternate href='/gone.xml'>",
        "<link rel=preconnect href='/gone'>",
        "<link rel='dns-prefetch' href='/gone'>",
        "<template><img src=gone.x><a href='/gone'></a><script>fetch('gone.x')</script></template>",
        "<img src='data:image/png,x'><img src='https://x.example/y'><img src='//x.example/y'>",
        "<img srcset='data:image/png;base64,AAAA 1x, https://x.example/y 2x'>",
        "<a href='later.html'>x</a><a href='#top'>y</a>",
        "<script type='text/template'>fetch('gone.x')</script>",
        "<script src=ok.css>fetch('gone.x')</script>",
        "<script type=module>import 'react'</script>",
        "<p style='fill: url(#a)'>",
        "<link rel=next href=later.html>",
    ] {
        assert_eq!(warnings(html), [""; 0], "{html}");
        assert!(!has_root_paths(html), "{html}");
    }
    assert_eq!(warnings("<template></template><img src=gone.x>").len(), 1);
    assert_eq!(warnings("<template shadowrootmode=open><img src=gone.x></template>").len(), 1);
}

#[test]
fn a_base_at_the_root_makes_relative_references_root_paths() {
    assert!(has_root_paths("<base href='/'><script src='main.js'></script>"));
    assert!(!has_root_paths("<base href='/'><script src='gone.js'></script>"));
    assert!(!has_root_paths("<base href='./'><script src='main.js'></script>"));
    assert!(!has_root_paths("<base href='/'><script src='https://x.example/main.js'></script>"));
    assert!(!has_root_paths("<script src='main.js'></script>"));
}

#[test]
fn what_a_template_fills_in_is_left_alone() {
    for html in [
        "<img src='{{tpl}}'>",
        "<img src='{{ asset(\"a.png\") }}'>",
        "<img srcset='{{ small }} 1x, {{ large, wide }} 2x'>",
        "<script src='${x}'></script>",
        "<link rel=stylesheet href='<%= x %>'>",
        "<a href='/{% url \"home\" %}'>x</a>",
        "<form action='/items/{id}'></form>",
        "<p style='background: url({{ picture }})'>",
    ] {
        assert_eq!(warnings(html), [""; 0], "{html}");
    }
}
