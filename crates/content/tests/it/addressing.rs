//! How the output of well-known tools refers to its own files: small samples in the format of each tool.

use dropleaf_content::{Addressing, Bundle, ServedAt};

use crate::support::{upload, zip_of};

const NONE: Addressing =
    Addressing { root_paths: false, client_routes: false, spa: false, sandboxed_frames: false };

const UNLISTED: ServedAt = ServedAt { own_host: true, slug: false, spa: false };
const SLUG: ServedAt = ServedAt { slug: true, ..UNLISTED };

fn address_warnings(bundle: Bundle, shown: ServedAt) -> Vec<String> {
    bundle.address_warnings.at(shown).collect()
}

fn bundle(files: &[(&str, &str)]) -> Bundle {
    upload("site.zip", zip_of(files)).unwrap()
}

fn addressing(files: &[(&str, &str)]) -> Addressing {
    bundle(files).addressing
}

const VITE_PAGE: &str = "<!doctype html><html lang=\"en\"><head><meta charset=\"UTF-8\" />\
    <link rel=\"icon\" type=\"image/svg+xml\" href=\"/vite.svg\" /><title>Vite + React</title>\
    <script type=\"module\" crossorigin src=\"/assets/index-BX4d1.js\"></script>\
    <link rel=\"stylesheet\" crossorigin href=\"/assets/index-D8b4.css\"></head><body><div id=\"root\"></div></body></html>";
const VITE_CODE: &str = "(function(){const e=document.createElement(\"link\").relList})();const t=\"/assets/react-CHdo.svg\";\
    document.getElementById(\"root\").textContent=t;";

fn vite(code: &'static str) -> Vec<(&'static str, &'static str)> {
    vec![
        ("index.html", VITE_PAGE),
        ("assets/index-BX4d1.js", code),
        ("assets/index-D8b4.css", "#root{background:url(/assets/react-CHdo.svg)}"),
        ("assets/react-CHdo.svg", "<svg/>"),
        ("vite.svg", "<svg/>"),
    ]
}

#[test]
fn vite_has_root_paths_and_no_routes() {
    let made = bundle(&vite(VITE_CODE));
    assert_eq!(made.addressing, Addressing { root_paths: true, ..NONE });
    assert_eq!(made.warnings, [""; 0]);
    let said = address_warnings(made, ServedAt { own_host: false, ..UNLISTED });
    assert!(said.len() == 1 && said[0].contains("base: './'"), "{said:?}");
}

#[test]
fn vite_with_a_router_is_an_app_with_routes() {
    let code = "function d(e,t){let n=window.history;n.pushState(e,\"\",t)}const r=[{path:\"/\"},{path:\"/about\"}];";
    assert_eq!(
        addressing(&vite(code)),
        Addressing { root_paths: true, client_routes: true, spa: true, ..NONE }
    );
    // Built with base: './', it still reads the path from the location bar.
    let page = VITE_PAGE.replace("\"/assets", "\"./assets").replace("/vite.svg", "./vite.svg");
    let files =
        [("index.html", page.as_str()), ("assets/index-BX4d1.js", code), ("assets/index-D8b4.css", "")];
    assert_eq!(addressing(&files), Addressing { root_paths: false, client_routes: true, spa: true, ..NONE });
}

#[test]
fn a_page_of_ones_own_for_what_is_not_found_answers_instead_of_the_app() {
    let code = "history.pushState(1,2,3)";
    let with = |not_found: &'static str| {
        let mut files = vite(code);
        files.push(("404.html", not_found));
        addressing(&files).spa
    };
    assert!(!with("<title>Not found</title>"));
    assert!(with(VITE_PAGE), "a copy of index.html is there for hosts without such a setting");
}

#[test]
fn next_export_has_root_paths_and_routes() {
    let page = "<!DOCTYPE html><html><head><link rel=\"stylesheet\" href=\"/_next/static/css/a1.css\" data-precedence=\"next\"/>\
        <script src=\"/_next/static/chunks/main-app-1.js\" async=\"\"></script></head><body><a href=\"/about\">About</a>\
        <script>(self.__next_f=self.__next_f||[]).push([0])</script></body></html>";
    let files = [
        ("index.html", page),
        ("about.html", page),
        ("404.html", page),
        ("index.txt", "1:HL[\"/_next/static/css/a1.css\",\"style\"]"),
        ("_next/static/css/a1.css", "@font-face{src:url(/_next/static/media/f.woff2)}"),
        ("_next/static/media/f.woff2", "x"),
        ("_next/static/chunks/main-app-1.js", "r.p=\"/_next/\";e.push?window.history.pushState(a,\"\",t):0"),
    ];
    let made = bundle(&files);
    assert_eq!(made.addressing, Addressing { root_paths: true, client_routes: true, spa: false, ..NONE });
    assert_eq!(made.warnings, [""; 0]);
}

#[test]
fn sveltekit_has_routes() {
    // With relative paths, the tool's default: only the fallback page is an app.
    let page = "<!doctype html><link rel=\"modulepreload\" href=\"/_app/immutable/entry/start.1.js\"><body><script>{\
        __sveltekit_1={base:\"\"};Promise.all([import(\"/_app/immutable/entry/start.1.js\")])}</script></body>";
    let files = [
        ("index.html", page),
        (
            "_app/immutable/entry/start.1.js",
            "const e=n?history.replaceState:history.pushState;e.call(history,s,\"\",t)",
        ),
    ];
    assert_eq!(addressing(&files), Addressing { root_paths: true, client_routes: true, spa: true, ..NONE });
    let many = [files[0], files[1], ("about.html", page)];
    assert_eq!(addressing(&many), Addressing { root_paths: true, client_routes: true, spa: false, ..NONE });
}

#[test]
fn vitepress_has_root_paths_and_routes() {
    let page = "<!DOCTYPE html><link rel=\"preload stylesheet\" href=\"/assets/style.C1.css\" as=\"style\">\
        <script type=\"module\" src=\"/assets/app.D2.js\"></script><a class=\"link\" href=\"/guide.html\">Guide</a>";
    let files = [
        ("index.html", page),
        ("guide.html", page),
        ("404.html", page),
        ("hashmap.json", "{}"),
        ("assets/style.C1.css", ""),
        ("assets/app.D2.js", "function go(e){history.pushState({},\"\",e)}const b=e=>`/assets/${e}.js`"),
    ];
    let made = bundle(&files);
    assert_eq!(made.addressing, Addressing { root_paths: true, client_routes: true, spa: false, ..NONE });
    assert_eq!(made.warnings, [""; 0]);
}

#[test]
fn astro_has_root_paths() {
    let page = "<!DOCTYPE html><link rel=\"stylesheet\" href=\"/_astro/index.a1.css\"><a href=\"/\">Home</a><a \
                href=\"/blog/\">B</a>";
    let files = [("index.html", page), ("blog/index.html", page), ("_astro/index.a1.css", "a{}")];
    assert_eq!(addressing(&files), Addressing { root_paths: true, ..NONE });
}

#[test]
fn sphinx_has_neither() {
    let page = "<!DOCTYPE html><link rel=\"stylesheet\" href=\"_static/alabaster.css\"/>\
        <script src=\"_static/doctools.js\"></script><a href=\"genindex.html\">Index</a>\
        <form class=\"search\" action=\"search.html\" method=\"get\"></form>";
    let files = [
        ("index.html", page),
        ("genindex.html", page),
        ("search.html", page),
        ("searchindex.js", "Search.setIndex({\"docnames\":[\"index\"],\"filenames\":[\"index.rst\"]})"),
        ("_static/alabaster.css", "@import url(\"basic.css\");"),
        ("_static/basic.css", ""),
        ("_static/doctools.js", "window.history.replaceState({}, \"\", url); const base = path + \"/\";"),
        (".buildinfo", "x"),
    ];
    let made = bundle(&files);
    assert_eq!(made.addressing, NONE);
    assert_eq!(made.warnings.len(), 1, "{:?}", made.warnings);
    assert_eq!(address_warnings(made, ServedAt { own_host: false, ..UNLISTED }), [""; 0]);
}

#[test]
fn mkdocs_material_has_neither() {
    let page = "<!doctype html><link rel=\"canonical\" href=\"https://docs.example/\"><link rel=\"icon\" href=\"assets/f.png\">\
        <script src=\"assets/bundle.1.min.js\"></script><a href=\".\">Home</a>";
    let not_found = "<!doctype html><link rel=\"icon\" href=\"/assets/f.png\"><a href=\"/.\">Home</a><a href=\"/guide/\">G</a>";
    let files = [
        ("index.html", page),
        (
            "guide/index.html",
            "<!doctype html><link rel=\"icon\" href=\"../assets/f.png\"><a href=\"..\">Home</a>",
        ),
        ("404.html", not_found),
        ("assets/f.png", "x"),
        ("assets/bundle.1.min.js", "function f(e){history.pushState(null,\"\",e)}new URL(\"search/\",base)"),
        ("search/search_index.json", "{}"),
        ("sitemap.xml", "<urlset/>"),
    ];
    let made = bundle(&files);
    assert_eq!(made.addressing, NONE);
    assert_eq!(made.warnings, [""; 0]);
}

#[test]
fn mkdocs_has_neither() {
    let page = "<!doctype html><link href=\"css/base.css\" rel=\"stylesheet\"><a href=\".\">Home</a>\
        <script>var base_url = \".\"</script><script src=\"js/base.js\"></script><script src=\"search/main.js\"></script>";
    let worker = "var base_path = 'function' === typeof importScripts ? '.' : '/search/';\nvar allowSearch = false;\n\
        function getScript(script, callback) {\n  $.getScript(base_path + script).done(function () {});\n}\n";
    let files = [
        ("index.html", page),
        ("css/base.css", ""),
        ("js/base.js", ""),
        ("search/main.js", "var searchWorker = new Worker(joinUrl(base_url, \"search/worker.js\"));"),
        ("search/worker.js", worker),
        ("search/lunr.js", ""),
        ("search/search_index.json", "{}"),
    ];
    assert_eq!(addressing(&files), NONE);
    let in_page = page.replace("search/main.js", "search/worker.js");
    let files = [&[("index.html", in_page.as_str())], &files[1..]].concat();
    assert_eq!(addressing(&files), Addressing { root_paths: true, ..NONE }, "there it runs in no worker");
}

#[test]
fn reveal_slides_have_neither() {
    let page = "<!doctype html><link rel=\"stylesheet\" href=\"dist/reveal.css\"><div class=\"reveal\"></div>\
        <script src=\"dist/reveal.js\"></script><script>Reveal.initialize({hash: true})</script>";
    let files = [
        ("index.html", page),
        ("dist/reveal.css", ""),
        ("dist/reveal.js", "window.history.replaceState(null,null,\"#\"+n);e.split(\"/\")"),
    ];
    assert_eq!(addressing(&files), NONE);
}

#[test]
fn angular_puts_everything_below_its_base() {
    let page = "<!doctype html><html><head><base href=\"/\"><link rel=\"stylesheet\" href=\"styles-1.css\"></head>\
        <body><app-root></app-root><script src=\"main-2.js\" type=\"module\"></script></body></html>";
    let files = [("index.html", page), ("styles-1.css", ""), ("main-2.js", "this._history.pushState(e,t,n)")];
    assert_eq!(addressing(&files), Addressing { root_paths: true, client_routes: true, spa: true, ..NONE });
}

#[test]
fn a_link_home_counts_only_on_other_pages() {
    let home = "<title>x</title><a href='/'>Home</a>";
    assert_eq!(addressing(&[("index.html", home), ("a.css", "")]), NONE);
    let other = [("index.html", "<title>x</title>"), ("docs/a.html", home)];
    assert_eq!(addressing(&other), Addressing { root_paths: true, ..NONE });
}

#[test]
fn single_files_need_none_of_it() {
    let page = "<script src='/assets/app.js'></script><script>history.pushState(1,2,'/x')</script>";
    assert_eq!(upload("page.html", page.as_bytes().to_vec()).unwrap().addressing, NONE);
}

#[test]
fn references_of_a_single_page_are_told_under_its_own_name() {
    let page =
        "<img src='/img/a.png'><img src=b.png><a href='/'>Home</a><a href='/report.html#part'>Part</a>";
    let made = || upload("out/report.html", page.as_bytes().to_vec()).unwrap();
    assert_eq!(
        made().warnings,
        [
            "Missing from the upload: /img/a.png and b.png (in report.html). Publish the folder as a .zip with index.html at \
             its root, so that its files are included."
        ]
    );
    assert_eq!(
        address_warnings(made(), UNLISTED),
        [
            "Links that point outside the page: / and /report.html#part (in report.html). Use relative links or publish the \
             page with a slug."
        ]
    );
    assert_eq!(address_warnings(made(), SLUG), [""; 0]);
}

#[test]
fn root_paths_to_files_of_the_archive_are_silent_with_and_without_a_slug() {
    let page = "<link rel=stylesheet href='/assets/x.css'><a href='/assets/x.css'>x</a>";
    let made = || bundle(&[("index.html", page), ("assets/x.css", "")]);
    assert_eq!(made().warnings, [""; 0]);
    for shown in [UNLISTED, SLUG] {
        assert_eq!(address_warnings(made(), shown), [""; 0]);
    }
}

#[test]
fn large_scripts_are_read_to_their_end() {
    let long = (0..600_000).map(|number| number.to_string()).collect::<Vec<_>>().join(";\n");
    let code = format!("{long};history.pushState(a,b,c);x=\"/assets/late.png\"");
    let files = [
        ("index.html", "<script src='app.js'></script>"),
        ("app.js", code.as_str()),
        ("assets/late.png", "x"),
    ];
    assert_eq!(addressing(&files), Addressing { root_paths: true, client_routes: true, spa: true, ..NONE });
}
