//! Tests the warnings that a publisher reads about the references of an upload.

use super::*;
use crate::references::address_warnings::ServedAt;

const UNLISTED: ServedAt = ServedAt { own_host: true, slug: false, spa: false };
const SLUG: ServedAt = ServedAt { slug: true, ..UNLISTED };
const APP: ServedAt = ServedAt { spa: true, ..UNLISTED };
const SHARED_HOST: ServedAt = ServedAt { own_host: false, ..UNLISTED };

fn lines_at(shown: ServedAt, files: &Paths<'_>, references: &[(&str, &str, ReferenceUse)]) -> Vec<String> {
    let mut report = ReferenceReport::new(files);
    for (from, url, used) in references {
        report.add(from, url, *used);
    }
    report.warnings().into_iter().chain(report.address_warnings().at(shown)).collect()
}

fn lines(files: &[&'static str], references: &[(&str, &str, ReferenceUse)]) -> Vec<String> {
    lines_at(UNLISTED, &Paths::new(files.iter().copied()), references)
}

#[test]
fn everything_that_is_missing_shares_one_line() {
    let files = ["index.html", "docs/b.html"];
    assert_eq!(
        lines(&files, &[("index.html", "js/gone.js", ReferenceUse::Load)]),
        [
            "Missing from the upload: js/gone.js (in index.html). Add the missing files to the archive or correct the paths."
        ]
    );
    let many = ["a.js", "b.js", "/c.js", "d.js", "a.js"].map(|url| ("index.html", url, ReferenceUse::Load));
    let other = ["e.js", "f.js", "g.js"].map(|url| ("docs/b.html", url, ReferenceUse::Load));
    assert_eq!(
        lines(&files, &[&many[..], &other[..]].concat()),
        [
            "Missing from the upload: a.js, b.js, /c.js, d.js (in index.html), e.js (in docs/b.html) and 2 more. \
          Add the missing files to the archive or correct the paths."
        ]
    );
    assert_eq!(lines(&files, &[("index.html", "later.html", ReferenceUse::Link)]), [""; 0]);
}

#[test]
fn root_paths_are_silent_where_they_lead_to_a_file() {
    let files = ["index.html", "assets/app.js", "about.html"];
    let found =
        [("index.html", "/assets/app.js", ReferenceUse::Load), ("index.html", "/about", ReferenceUse::Link)];
    for shown in [UNLISTED, SLUG, APP] {
        assert_eq!(lines_at(shown, &Paths::new(files), &found), [""; 0]);
    }
    assert_eq!(
        lines(
            &files,
            &[
                ("index.html", "/favicon.ico", ReferenceUse::Load),
                ("index.html", "/later", ReferenceUse::Link)
            ]
        ),
        [
            "Missing from the upload: /favicon.ico (in index.html). Add the missing files to the archive or correct the paths.",
            "Broken links: /later (in index.html). Add the pages to the archive or correct the links."
        ]
    );
}

#[test]
fn a_site_that_was_built_for_a_folder_gets_the_cure_on_one_line() {
    let files = ["index.html", "assets/app.js"];
    let said = lines(
        &files,
        &[
            ("index.html", "/repo/assets/app.js", ReferenceUse::Load),
            ("index.html", "/repo/gone.svg", ReferenceUse::Load),
            ("index.html", "/repo/", ReferenceUse::Link),
        ],
    );
    assert_eq!(
        said,
        [
            "Built for the folder /repo/: /repo/assets/app.js, /repo/gone.svg and /repo/ (in index.html). Build it for / \
          (base in Vite, Astro and VitePress, basePath in Next.js, paths.base in SvelteKit)."
        ]
    );
}

#[test]
fn a_page_that_was_sent_without_its_files_is_told_to_bring_them() {
    let files = Paths::of_single(Some("report.html"));
    let references = [
        ("index.html", "style.css", ReferenceUse::Load),
        ("index.html", "/assets/app.js", ReferenceUse::Load),
        ("index.html", "/about", ReferenceUse::Link),
    ];
    assert_eq!(
        lines_at(UNLISTED, &files, &references),
        [
            "Missing from the upload: style.css and /assets/app.js (in report.html). Publish the folder as a .zip with \
             index.html at its root, so that its files are included.",
            "Broken links: /about (in report.html). Publish the pages together as a .zip or correct the links."
        ]
    );
}

#[test]
fn links_of_a_single_page_to_its_root_work_with_a_slug() {
    let files = Paths::of_single(Some("report.html"));
    let references =
        [("index.html", "/", ReferenceUse::Link), ("index.html", "/report.html#part", ReferenceUse::Link)];
    assert_eq!(
        lines_at(UNLISTED, &files, &references),
        [
            "Links that point outside the page: / and /report.html#part (in report.html). Use relative links or publish the \
             page with a \
             slug."
        ]
    );
    assert_eq!(lines_at(SLUG, &files, &references), [""; 0]);
    assert_eq!(
        lines_at(UNLISTED, &files, &[("index.html", "report.html#part", ReferenceUse::Load)]),
        [""; 0]
    );
}

#[test]
fn the_page_for_what_is_not_found_may_start_paths_with_a_slash() {
    let files = Paths::new(["index.html", "404.html", "a.css"]);
    let mut report = ReferenceReport::new(&files);
    report.add("404.html", "/a.css", ReferenceUse::Load);
    report.add("404.html", "/gone.css", ReferenceUse::Load);
    assert!(!report.has_root_paths() && report.warnings().is_empty());
    assert_eq!(report.address_warnings(), AddressWarnings::default());
}

#[test]
fn links_of_an_app_lead_to_its_routes() {
    let files = Paths::new(["index.html", "assets/app.js"]);
    let link = [("index.html", "/settings", ReferenceUse::Link)];
    assert_eq!(lines_at(APP, &files, &link), [""; 0]);
    assert_eq!(lines_at(UNLISTED, &files, &link).len(), 1);
}

#[test]
fn where_pages_have_no_host_the_tool_is_named_with_its_cure() {
    for (file, cure) in [
        ("assets/index-1.js", "base: './'"),
        ("_app/immutable/x.js", "kit.paths.relative"),
        ("_next/static/x.js", "domain name"),
        ("_astro/x.js", "domain name"),
        ("site.css", "Use relative paths."),
    ] {
        let files = Paths::new(["index.html", file]);
        let path = format!("/{file}");
        let said = lines_at(SHARED_HOST, &files, &[("index.html", &path, ReferenceUse::Load)]);
        assert!(said.len() == 1 && said[0].contains(cure) && said[0].contains(file), "{said:?}");
    }
}

#[test]
fn names_of_packages_and_paths_of_other_scripts_are_not_judged() {
    let files = Paths::new(["index.html", "js/app.js"]);
    let mut report = ReferenceReport::new(&files);
    report.add_literal("js/app.js", false, LiteralUse::Import, "react");
    report.add_literal("js/app.js", false, LiteralUse::Fetch, "data.json");
    report.add_literal("js/app.js", false, LiteralUse::RootPath, "/api/");
    assert_eq!(report.warnings(), [""; 0]);
    report.add_literal("js/app.js", false, LiteralUse::Import, "./gone.js");
    report.add_literal("index.html", true, LiteralUse::Fetch, "data.json");
    report.add_literal("js/app.js", false, LiteralUse::Fetch, "/api/x");
    let said = report.warnings();
    assert_eq!(said.len(), 1);
    assert!(
        said[0].contains("./gone.js (in js/app.js), data.json (in index.html) and /api/x (in js/app.js)"),
        "{said:?}"
    );
}
