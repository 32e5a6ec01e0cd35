//! Valid archives, as real tools write them, are accepted whole.

use std::io::Write;

use dropleaf_content::hostile::{Archive, Item, Local, zip64_field};
use dropleaf_content::{Body, Bundle, BundleKind, Limits, RefusalCode, Source};

use crate::support::{as_file, text_of, tree, upload, upload_with};

const PAGE: &[u8] = b"<!doctype html><title>My &amp; site</title><link rel=stylesheet href=css/a.css>";

fn paths(bundle: &dropleaf_content::Bundle) -> Vec<&str> {
    bundle.files.iter().map(|file| file.path.as_str()).collect()
}

#[test]
fn a_plain_site_keeps_every_byte() {
    let css = b"body { color: red }".repeat(50);
    let archive = Archive::default()
        .item(Item::deflated("index.html", PAGE))
        .item(Item::folder("css/"))
        .item(Item::deflated("css/a.css", &css))
        .item(Item::stored("img/p.png", &[1, 2, 3]))
        .item(Item::stored("empty.txt", b""))
        .build();
    let bundle = upload("site.zip", archive.bytes).unwrap();
    assert_eq!(
        (bundle.kind, bundle.title.as_str(), bundle.entry.as_str()),
        (BundleKind::Zip, "My & site", "index.html")
    );
    assert_eq!(bundle.warnings, Vec::<String>::new());
    let files = tree(&bundle);
    assert_eq!(paths(&bundle), ["css/a.css", "empty.txt", "img/p.png", "index.html"]);
    assert_eq!(files["css/a.css"], css);
    assert_eq!(files["index.html"], PAGE);
    assert_eq!(bundle.size_bytes, (PAGE.len() + css.len() + 3) as u64);
    assert_eq!(bundle.files[0].mime, "text/css; charset=utf-8");
    assert_eq!(bundle.files[3].mime, "text/html; charset=utf-8");
}

#[test]
fn the_single_top_folder_of_a_mac_is_removed_with_its_junk() {
    let archive = Archive::default()
        .item(Item::folder("My Site/"))
        .item(Item::streamed("My Site/index.html", PAGE))
        .item(Item::streamed("__MACOSX/My Site/._index.html", b"junk"))
        .item(Item::streamed("My Site/.DS_Store", b"junk"))
        .item(Item::streamed("My Site/css/a.css", b"a{}"))
        .build();
    let bundle = upload("My Site.zip", archive.bytes).unwrap();
    assert_eq!(paths(&bundle), ["css/a.css", "index.html"]);
    assert_eq!(
        bundle.warnings,
        ["2 hidden or system files were not published: __MACOSX/My Site/._index.html and My Site/.DS_Store."]
    );
}

#[test]
fn the_same_site_has_the_same_files_however_it_is_zipped() {
    let flat =
        Archive::default().item(Item::stored("index.html", PAGE)).item(Item::stored("css/a.css", b"a{}"));
    let nested = Archive::default()
        .item(Item::streamed("s/css/a.css", b"a{}"))
        .item(Item::deflated("s/index.html", PAGE));
    let flat = upload("a.zip", flat.build().bytes).unwrap();
    let nested = upload("b.zip", nested.build().bytes).unwrap();
    let files = |bundle: &Bundle| {
        bundle.files.iter().map(|file| (file.path.clone(), file.hash, file.size_bytes)).collect::<Vec<_>>()
    };
    assert_eq!(files(&flat), files(&nested));
    assert_eq!(flat.entry, nested.entry);
}

#[test]
fn descriptors_without_a_signature_and_with_real_local_sizes_are_fine() {
    let bare = Item::streamed("a.txt", b"text text text").but(|item| {
        item.descriptor.drain(..4);
    });
    let known = Item::streamed("b.txt", b"text text text").but(|item| item.local = Local::default());
    assert!(upload("a.zip", Archive::site().item(bare).item(known).build().bytes).is_ok());
}

#[test]
fn comments_extra_fields_and_unicode_names_are_fine() {
    let archive = Archive::site()
        .but(|archive| archive.comment = b"made by hand".to_vec())
        .item(Item::stored("r\u{e9}sum\u{e9} \u{6f22}.txt", b"x").but(|item| {
            item.flags = 1 << 11;
            item.local.extra = b"UT\x05\x00\x03abcd".to_vec();
            item.central_extra = b"UT\x05\x00\x03abcd".to_vec();
        }))
        .item(Item::stored("a%2e%2e/b", b"x"))
        .item(Item::stored("Img/a.txt", b"x"))
        .item(Item::stored("img/b.txt", b"x"));
    assert_eq!(upload("a.zip", archive.build().bytes).unwrap().files.len(), 5);
}

#[test]
fn archives_inside_are_files_and_never_opened() {
    let bomb = Item::deflated("bomb", &vec![0; 2 << 20]);
    let inner = (0..60)
        .map(|n| bomb.clone().but(|i| i.name = vec![b'a' + n]))
        .fold(Archive::default(), Archive::item);
    let archive = Archive::site().item(Item::stored("inner.zip", &inner.build().bytes));
    let bundle = upload("a.zip", archive.build().bytes).unwrap();
    assert_eq!(bundle.files[1].mime, "application/zip");
}

#[test]
fn references_to_nothing_are_reported_once_for_each_cause() {
    let page = b"<link href='/css/a.css'><script src='js/gone.js'></script><img src='img/a.png'>";
    let archive = Archive::default()
        .item(Item::stored("index.html", page))
        .item(Item::stored("docs/b.html", b"<img src='../img/a.png'><img src='/img/a.png'>"))
        .item(Item::stored("img/a.png", b"x"));
    let warnings = upload("a.zip", archive.build().bytes).unwrap().warnings;
    assert_eq!(
        warnings,
        [
            "Missing from the upload: /css/a.css and js/gone.js (in index.html). Add the missing files to the archive or \
             correct the paths."
        ]
    );
}

#[test]
fn pages_that_are_not_utf8_keep_their_own_charset() {
    let archive = Archive::site().item(Item::stored("old.htm", b"<meta charset=latin2>caf\xe9"));
    assert_eq!(
        upload("a.zip", archive.build().bytes).unwrap().files[1].mime,
        "text/html; charset=iso-8859-2"
    );
}

#[test]
fn large_files_are_spooled_from_a_file_source() {
    let text = b"0123456789 some words ".repeat(300_000);
    let mut noise = vec![0; 5 << 20];
    blake3::Hasher::new().finalize_xof().fill(&mut noise);
    let archive =
        Archive::site().item(Item::stored("a.txt", &text)).item(Item::stored("b.bin", &noise)).build();
    let bundle = upload_with("a.zip", as_file(&archive.bytes), &Limits::default()).unwrap();
    let spooled = |n: usize| matches!(bundle.files[n].body, Body::Spooled { .. });
    assert!(spooled(0) && spooled(1) && !spooled(2));
    let files = tree(&bundle);
    assert!(files["a.txt"] == text && files["b.bin"] == noise);
}

#[test]
fn limits_are_settings() {
    let archive = Archive::site().item(Item::stored("abc/d", b"12345678")).build().bytes;
    let with = |change: fn(&mut Limits)| {
        let mut limits = Limits::default();
        change(&mut limits);
        upload_with("a.zip", as_file(&archive), &limits).map(|_| ()).map_err(|refusal| refusal.code)
    };
    assert_eq!(with(|_| {}), Ok(()));
    assert_eq!(with(|l| l.unpacked_bytes = 54), Err(RefusalCode::TooLarge));
    assert_eq!(with(|l| l.unpacked_bytes = 55), Ok(()));
    assert_eq!(with(|l| l.files = 1), Err(RefusalCode::TooManyFiles));
    assert_eq!(with(|l| l.depth = 1), Err(RefusalCode::ForbiddenName));
    assert_eq!(with(|l| l.name_bytes = 9), Err(RefusalCode::ForbiddenName));
}

#[test]
fn two_thousand_files_are_accepted() {
    let archive =
        (0..1999).map(|n| Item::stored(format!("f/{n}"), b"x")).fold(Archive::site(), Archive::item);
    assert_eq!(upload("a.zip", archive.build().bytes).unwrap().files.len(), 2000);
}

/// Runs a tool if it is installed; the archives above contain the same bytes for machines without it.
fn made_by(program: &str, arguments: &[&str]) -> Option<Vec<u8>> {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("css")).unwrap();
    std::fs::write(dir.path().join("index.html"), PAGE).unwrap();
    std::fs::write(dir.path().join("css/a.css"), "a { b: c }\n".repeat(100)).unwrap();
    std::fs::write(dir.path().join("caf\u{e9}.txt"), "x").unwrap();
    std::fs::File::create(dir.path().join("empty")).unwrap().flush().unwrap();
    let output = std::process::Command::new(program).args(arguments).current_dir(dir.path()).output().ok()?;
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    Some(if output.stdout.starts_with(b"PK") {
        output.stdout
    } else {
        std::fs::read(dir.path().join("o.zip")).unwrap()
    })
}

#[test]
fn archives_of_installed_tools_are_accepted() {
    const PYTHON: &str = "import sys,zipfile,glob,os\n\
        z=zipfile.ZipFile('o.zip' if len(sys.argv)<2 else sys.stdout.buffer,'w',zipfile.ZIP_DEFLATED)\n\
        [z.write(p) for p in sorted(glob.glob('**',recursive=True)) if p!='o.zip']\nz.close()";
    let tools: [(&str, &[&str]); 7] = [
        ("zip", &["-qr", "o.zip", "."]),
        ("zip", &["-qr", "-", "."]),
        ("zip", &["-q0rD", "o.zip", "."]),
        ("python3", &["-c", PYTHON]),
        ("python3", &["-c", PYTHON, "stream"]),
        ("7z", &["a", "-tzip", "o.zip", "."]),
        ("jar", &["-cMf", "o.zip", "."]),
    ];
    for (program, arguments) in tools {
        let Some(bytes) = made_by(program, arguments) else { continue };
        let bundle =
            upload("o.zip", bytes).unwrap_or_else(|refusal| panic!("{program} {arguments:?}: {refusal}"));
        assert_eq!(paths(&bundle), ["caf\u{e9}.txt", "css/a.css", "empty", "index.html"], "{program}");
        assert_eq!(text_of(&bundle, "css/a.css").len(), 1100);
    }
}

#[test]
fn small_archives_with_zip64_fields_are_read_as_any_other() {
    let text = b"some text, some text, some text";
    let site = || {
        Archive::default()
            .item(Item::zip64("index.html", PAGE))
            .item(Item::zip64_streamed("css/a.css", b"a{}"))
            .item(Item::deflated("plain.txt", text))
    };
    // As some tools write them: all numbers, even those already in the record itself.
    let offset = u64::try_from(site().build().directory_at).unwrap();
    let all = Item::zip64("all.txt", text).but(|item| {
        let sizes = [text.len() as u64, item.packed.len() as u64, offset];
        item.central_extra = [b"UT\x01\x00\x03".to_vec(), zip64_field(&sizes)].concat();
    });
    for zip64 in [false, true] {
        let archive = site().item(all.clone()).but(|archive| archive.zip64 = zip64);
        let bytes = archive.build().bytes;
        for source in [as_file(&bytes), Source::Memory(bytes.into())] {
            let bundle = upload_with("a.zip", source, &Limits::default()).unwrap();
            let files = tree(&bundle);
            assert_eq!(paths(&bundle), ["all.txt", "css/a.css", "index.html", "plain.txt"]);
            assert_eq!(
                (files["index.html"].as_slice(), files["all.txt"].as_slice()),
                (PAGE, text.as_slice())
            );
        }
    }
}

#[test]
fn backslashes_between_the_parts_of_names_are_read_as_slashes() {
    let archive = Archive::default()
        .item(Item::folder("site\\"))
        .item(Item::deflated("site\\index.html", PAGE))
        .item(Item::deflated("site\\css\\a.css", b"a{}"))
        .item(Item::stored("site/plain.txt", b"x"))
        .build();
    let bundle = upload("a.zip", archive.bytes).unwrap();
    assert_eq!(paths(&bundle), ["css/a.css", "index.html", "plain.txt"]);
    assert_eq!(bundle.warnings, ["Backslashes in 3 names were converted to slashes."]);
}

#[test]
fn what_tools_and_systems_leave_behind_is_left_out_with_one_warning() {
    let archive = Archive::default()
        .item(Item::folder("./"))
        .item(Item::deflated("./html/index.html", PAGE))
        .item(Item::deflated("./html/css/a.css", b"a{}"))
        .item(Item::stored("./html/.buildinfo", b"x"))
        .item(Item::stored("./html/.nojekyll", b""))
        .item(Item::folder("./html/.doctrees/"))
        .item(Item::stored("./html/.doctrees/environment.pickle", b"x"))
        .item(Item::stored(".env", b"KEY=secret"))
        .item(Item::stored("Desktop.ini", b"x"))
        .item(Item::stored("html/.vite/manifest.json", b"{}"));
    let bundle = upload("html.zip", archive.build().bytes).unwrap();
    assert_eq!(paths(&bundle), ["css/a.css", "index.html"]);
    assert_eq!(
        bundle.warnings,
        ["6 hidden or system files were not published: html/.buildinfo, html/.nojekyll, \
          html/.doctrees/environment.pickle, .env, Desktop.ini and 1 more."]
    );
}

#[test]
fn nothing_of_a_page_answers_below_well_known() {
    let archive = Archive::site().item(Item::stored(".well-known/security.txt", b"x"));
    let bundle = upload("a.zip", archive.build().bytes).unwrap();
    assert_eq!(paths(&bundle), ["index.html"]);
    assert!(
        bundle.warnings[0].contains(".well-known/security.txt. Pages cannot serve"),
        "{:?}",
        bundle.warnings
    );
}

#[test]
fn what_is_left_out_counts_for_the_limits_all_the_same() {
    let bomb = Archive::site().item(Item::deflated(".git/pack", &vec![0; 8 << 20]));
    assert_eq!(upload("a.zip", bomb.build().bytes).unwrap_err().code, RefusalCode::TooLarge);
    let many = (0..8100).map(|n| Item::stored(format!(".git/{n}"), b"")).fold(Archive::site(), Archive::item);
    assert_eq!(upload("a.zip", many.build().bytes).unwrap_err().code, RefusalCode::TooManyFiles);
}

#[test]
fn the_only_page_of_an_archive_opens() {
    let archive = Archive::default()
        .item(Item::stored("report.html", b"<title>Report</title><img src='img/a.png'>"))
        .item(Item::stored("img/a.png", b"x"));
    let bundle = upload("a.zip", archive.build().bytes).unwrap();
    assert_eq!((bundle.entry.as_str(), bundle.title.as_str()), ("report.html", "Report"));
    assert_eq!(bundle.warnings, Vec::<String>::new());
    let deeper = Archive::default()
        .item(Item::stored("notes.txt", b"x"))
        .item(Item::stored("site/start.htm", b"<title>Start</title>"));
    let bundle = upload("a.zip", deeper.build().bytes).unwrap();
    assert_eq!((bundle.entry.as_str(), bundle.title.as_str()), ("site/start.htm", "Start"));
}

#[test]
fn every_name_that_is_refused_is_told_at_once() {
    let names = ["a:b.txt", "../up.txt", "fine.txt", "x\ny.txt"];
    let archive = names.iter().fold(Archive::site(), |archive, name| archive.item(Item::stored(*name, b"x")));
    let refusal = upload("a.zip", archive.build().bytes).unwrap_err();
    let said = refusal.to_string();
    assert_eq!((refusal.code, refusal.entry.as_deref()), (RefusalCode::ForbiddenName, Some("a:b.txt")));
    for part in
        ["\"a:b.txt\" was refused: its name contains", "\"../up.txt\" was refused", "y.txt\" was refused"]
    {
        assert!(said.contains(part), "{said}");
    }
    assert!(!said.contains("fine.txt"), "{said}");
    let many = (0..50).map(|n| Item::stored(format!("{n}:"), b"x")).fold(Archive::site(), Archive::item);
    let said = upload("a.zip", many.build().bytes).unwrap_err().to_string();
    assert_eq!(said.matches("was refused").count(), 10, "{said}");
    assert!(said.ends_with("40 more names were refused."), "{said}");
}
