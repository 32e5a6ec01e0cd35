//! Tests what a script refers to, in many spellings.

use super::*;

fn found(script: &str) -> Vec<(LiteralUse, String)> {
    let mut list = Vec::new();
    let mut scan = ScriptScan::default();
    let mut add = |kind, text: &str| list.push((kind, text.to_owned()));
    script.as_bytes().chunks(5).for_each(|chunk| scan.write(chunk, &mut add));
    scan.finish(&mut add);
    list
}

fn one(script: &str) -> Option<(LiteralUse, String)> {
    let mut list = found(script);
    assert!(list.len() < 2, "{list:?}");
    list.pop()
}

#[test]
fn imports_and_fetches_are_found_in_every_spelling() {
    for script in [
        "import './a.js'",
        "import x, { y } from \"./a.js\";",
        "export * from './a.js'",
        "import {\n  a,\n} from './a.js'",
        "const a = await import( './a.js' )",
        "let x = 1;\n  import('./a.js').then(run)",
    ] {
        assert_eq!(one(script), Some((LiteralUse::Import, "./a.js".to_owned())), "{script}");
    }
    assert_eq!(one("fetch(`data.json`)"), Some((LiteralUse::Fetch, "data.json".to_owned())));
    assert_eq!(one("x = fetch('/api', {})"), Some((LiteralUse::Fetch, "/api".to_owned())));
}

#[test]
fn paths_that_are_put_together_are_not_whole() {
    assert_eq!(one("fetch('data/' + name)"), None);
    assert_eq!(one("fetch(`data/${name}`)"), None);
    assert_eq!(one("fetch(`/data/${name}`)"), Some((LiteralUse::RootPath, "/data/".to_owned())));
    assert_eq!(one("fetch('/data/' + name)"), Some((LiteralUse::RootPath, "/data/".to_owned())));
}

#[test]
fn comments_and_quoted_code_are_passed_over() {
    for script in [
        "// import './a.js'",
        " * import x from './a.js'",
        "text = \"write import('./a.js')\"",
        "prefetch('a.js')",
        "text = 'import x from \"./a.js\"'",
        "x = 'a' + \"b\"",
    ] {
        assert_eq!(one(script), None, "{script}");
    }
}

#[test]
fn other_literals_count_when_they_start_with_a_slash() {
    assert_eq!(one("n.p=\"/_next/\""), Some((LiteralUse::RootPath, "/_next/".to_owned())));
    assert_eq!(one("a.href='/x.png'"), Some((LiteralUse::RootPath, "/x.png".to_owned())));
    assert_eq!(one("s.split('/ ')"), None);
}

#[test]
fn paths_for_scripts_that_run_in_no_worker_are_told_apart() {
    for (script, kind) in [
        (
            "var base = 'function' === typeof importScripts ? '.' : '/search/';",
            LiteralUse::RootPathOutsideWorker,
        ),
        ("b=typeof importScripts==\"function\"?\".\":\"/search/\"", LiteralUse::RootPathOutsideWorker),
        ("b = 'function' !== typeof importScripts ? '.' : '/search/'", LiteralUse::RootPath),
        ("b = typeof importScripts === 'function' ? '/search/' : '.'", LiteralUse::RootPath),
        ("b = typeof importScripts === 'undefined' ? '.' : '/search/'", LiteralUse::RootPath),
        ("a = typeof importScripts == 'function' ? 1 : 2; b = c ? '.' : '/search/'", LiteralUse::RootPath),
        ("b = base || '/search/'", LiteralUse::RootPath),
    ] {
        assert_eq!(one(script), Some((kind, "/search/".to_owned())), "{script}");
    }
}

#[test]
fn changes_of_the_address_bar_are_seen_across_windows() {
    for at in (0..40_000).step_by(7001) {
        let script = format!("{}history.pushState(a);{}", " ".repeat(at), " ".repeat(20_000));
        let mut scan = ScriptScan::default();
        script.as_bytes().chunks(1000).for_each(|chunk| scan.write(chunk, |_, _| {}));
        assert_eq!(scan.finish(|_, _| {}), HistoryCalls { pushes: true, replaces: false }, "{at}");
    }
}

#[test]
fn changes_after_the_hash_are_no_routes() {
    for (script, pushes) in [
        ("history.pushState(null,null,'#a')", false),
        ("window.history.pushState( null, \"\", `#${id}` )", false),
        ("history.pushState(null,null,'#a');history.pushState(s,'',u)", true),
        ("history.pushState(s,'','/a')", true),
        ("n?history.replaceState:history.pushState;e.call(history,s,'#')", true),
    ] {
        let mut scan = ScriptScan::default();
        scan.write(script.as_bytes(), |_, _| {});
        assert_eq!(scan.finish(|_, _| {}).pushes, pushes, "{script}");
    }
}

#[test]
fn hostile_text_takes_no_longer_than_it_is() {
    for piece in ["\"/", "'/`/\"/", "import(\"", "from'a", "fetch(`./"] {
        assert!(found(&piece.repeat(100_000)).len() < 500_000);
    }
}

#[test]
fn values_that_are_paths_are_found() {
    let map = r#"{"imports": {"three": "./three.module.js", "three/addons/": "./addons/", "vue": "https://x/vue.js",
                  "/a.js" : "/b.js"}, "scopes": {"./x/": {"y": "../y.mjs"}}, "odd": "./a\"b"}"#;
    assert_eq!(import_map_paths(map).collect::<Vec<_>>(), ["./three.module.js", "/b.js", "../y.mjs"]);
    assert_eq!(import_map_paths("{\"a\": \"").count(), 0);
}
