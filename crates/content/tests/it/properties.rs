//! Properties: no input causes a panic, and valid trees come out as they went in.

use std::collections::BTreeMap;

use dropleaf_content::hostile::{Archive, Item};
use dropleaf_content::{Limits, Source, Upload, prepare};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

use crate::support::{as_file, tree, upload, upload_with};

fn segment() -> impl Strategy<Value = String> {
    "[a-z0-9\u{e9}\u{6f22}][a-z0-9 _.-]{0,8}[a-z0-9]"
}

fn honest_tree() -> impl Strategy<Value = BTreeMap<String, Vec<u8>>> {
    let path = vec(segment(), 1..4).prop_map(|segments| segments.join("/"));
    btree_map(path, vec(any::<u8>(), 0..2000), 0..12).prop_map(|mut files| {
        // A file cannot also be a folder.
        let folders: Vec<String> = files
            .keys()
            .flat_map(|path| path.match_indices('/').map(|(at, _)| path[..at].to_owned()))
            .collect();
        files.retain(|path, _| !folders.contains(path) && path != "thumbs.db");
        files.insert("index.html".to_owned(), b"<h1>x</h1>".to_vec());
        files
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn honest_trees_round_trip(files in honest_tree(), forms in vec(0_u8..3, 13), top in proptest::option::of(segment())) {
        let prefix = top.map(|name| format!("{name}/")).unwrap_or_default();
        let mut archive = Archive::default();
        for ((path, data), form) in files.iter().zip(forms) {
            let name = format!("{prefix}{path}");
            archive = archive.item(match form {
                0 => Item::stored(name, data),
                1 => Item::deflated(name, data),
                _ => Item::streamed(name, data),
            });
        }
        let bytes = archive.build().bytes;
        let memory = upload("a.zip", bytes.clone()).unwrap();
        prop_assert_eq!(&tree(&memory), &files);
        let file = upload_with("a.zip", as_file(&bytes), &Limits::default()).unwrap();
        prop_assert_eq!(tree(&file), files);
    }

    #[test]
    fn damaged_archives_never_panic(
        files in honest_tree(),
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in proptest::option::of(any::<prop::sample::Index>()),
    ) {
        let archive = files.iter().map(|(path, data)| Item::streamed(path, data)).fold(Archive::default(), Archive::item);
        let mut bytes = archive.build().bytes;
        for (at, value) in damage {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Ok(bundle) = upload("a.zip", bytes) {
            tree(&bundle);
        }
    }

    #[test]
    fn damaged_directories_never_panic(
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let built = Archive::site().item(Item::streamed("a/b.txt", b"text")).item(Item::folder("c/")).build();
        let (mut bytes, start) = (built.bytes, built.directory_at);
        for (at, value) in damage {
            let at = start + at.index(bytes.len() - start);
            bytes[at] = value;
        }
        if let Ok(bundle) = upload("a.zip", bytes) {
            tree(&bundle);
        }
    }

    #[test]
    fn arbitrary_bytes_of_every_kind_never_panic(bytes in vec(any::<u8>(), 0..4000), kind in 0_usize..6) {
        let name = ["a.html", "a.md", "a.zip", "a.pdf", "a", "a.e2e"][kind];
        let spool = std::env::temp_dir();
        let source = Source::Memory(bytes.into());
        let sent = Upload { filename: Some(name), content_type: None, e2e: kind == 5, source };
        if let Ok(bundle) = prepare(sent, &Limits::default(), &spool) {
            tree(&bundle);
        }
    }

    #[test]
    fn arbitrary_markup_never_panics_and_never_runs(parts in vec(prop::sample::select(MARKUP), 0..60)) {
        let source = format!("x {}", parts.concat());
        for name in ["a.md", "a.html"] {
            let bundle = upload(name, source.clone()).unwrap();
            let files = tree(&bundle);
            if name == "a.md" {
                let page = String::from_utf8_lossy(&files["index.html"]).to_lowercase();
                // The page's own script comes after it.
                let html = page.split("</main>").next().unwrap();
                prop_assert!(!html.contains("<script") && !html.contains("href=\"javascript"));
            }
        }
    }
}

const MARKUP: &[&str] = &[
    "<script>",
    "</script>",
    "<title>",
    "</title>",
    "<h1>",
    "<svg>",
    "</svg>",
    "<a href=\"/x\">",
    "<!--",
    "-->",
    "\n",
    "\n\n",
    "# ",
    "> ",
    "- ",
    "1. ",
    "    ",
    "```js\n",
    "```\n",
    "`",
    "*",
    "**",
    "_",
    "~~",
    "[",
    "](",
    ")",
    "![",
    "[^1]",
    "[^1]: ",
    "[x](javascript:alert(1))",
    "javascript:",
    "https://a.example",
    "www.b.example",
    "|",
    "|-|-|\n",
    "&amp;",
    "&#x6a;",
    "[!NOTE]",
    "\\",
    "\"",
    "'",
    "<br>",
    "<b onclick=\"x\">",
    "\u{301}",
    "é",
    "[a]: javascript:x\n",
    "---\n",
    "==\n",
];
