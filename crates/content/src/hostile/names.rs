//! Names that point outside the archive, are ambiguous, or belong to something that is not a file.

use super::{Archive, Cases, Item, with};
use crate::RefusalCode::{ForbiddenName, MissingIndex};

pub(super) fn add(cases: &mut Cases) {
    slips(cases);
    unreadable(cases);
    clashes(cases);
    private(cases);
    not_files(cases);
    no_index(cases);
}

fn slips(cases: &mut Cases) {
    for name in [
        "../evil.txt",
        "../../../../../etc/passwd",
        "a/../../evil.txt",
        "a/..",
        "..",
        ".",
        "./../a.txt",
        "././../a.txt",
        ".//a.txt",
        "a/./b.txt",
        "a//b.txt",
        "/etc/passwd",
        "//host/share/a.txt",
        "..\\evil.txt",
        "a\\..\\..\\evil.txt",
        "a\\../..\\evil.txt",
        ".\\..\\a.txt",
        "./C:a.txt",
        ".git/../../evil.txt",
        "a\\\\b.txt",
        "\\evil.txt",
        "\\\\host\\share\\a.txt",
        "C:\\windows\\a.txt",
        "__MACOSX\\..\\..\\evil.txt",
        "C:/windows/a.txt",
        "C:a.txt",
        "a.txt:stream",
        "__MACOSX/../../evil.txt",
        "a/../.DS_Store",
    ] {
        cases.add(format!("slip {name}"), with(Item::stored(name, b"evil")), ForbiddenName);
    }
    for name in ["../", "/", "a//", "a/../"] {
        cases.add(format!("folder slip {name}"), with(Item::folder(name)), ForbiddenName);
    }
    cases.add("depth 17", with(Item::stored(["d"; 17].join("/"), b"x")), ForbiddenName);
    cases.add("name of 241 bytes", with(Item::stored("n".repeat(241), b"x")), ForbiddenName);
    cases.add("name of 65535 bytes", with(Item::stored("n".repeat(65_535), b"x")), ForbiddenName);
    cases.add("no name", with(Item::stored("", b"x")), ForbiddenName);
}

fn unreadable(cases: &mut Cases) {
    let names: [(&str, &[u8]); 9] = [
        ("NUL in name", b"a.txt\0.html"),
        ("newline in name", b"a\nb.txt"),
        ("escape sequence in name", b"\x1b[2Ja.txt"),
        ("DEL in name", b"a\x7f.txt"),
        ("C1 control in name", b"a\xc2\x9b.txt"),
        ("name is not UTF-8", b"\xff\xfe.txt"),
        ("name in Latin-1", b"caf\xe9.txt"),
        ("overlong slash in name", b"..\xc0\xafevil.txt"),
        ("surrogate in name", b"\xed\xa0\x80.txt"),
    ];
    for (what, name) in names {
        cases.add(what, with(Item::stored(name, b"x")), ForbiddenName);
        let flagged = Item::stored(name, b"x").but(|item| item.flags = 1 << 11);
        cases.add(format!("{what}, said to be UTF-8"), with(flagged), ForbiddenName);
    }
}

fn clashes(cases: &mut Cases) {
    for (what, one, two) in [
        ("exact duplicate", "a.txt", "a.txt"),
        ("second index.html", "index.html", "b.txt"),
        ("case duplicate", "Readme.txt", "README.TXT"),
        ("case duplicate of index.html", "INDEX.html", "b.txt"),
        ("case duplicate in a folder", "Docs/a.txt", "docs/A.txt"),
        ("composed and decomposed", "caf\u{e9}.txt", "cafe\u{301}.txt"),
        ("sharp s", "stra\u{df}e.txt", "STRASSE.txt"),
        ("Kelvin sign", "k.txt", "\u{212a}.txt"),
        ("long s", "s.txt", "\u{17f}.txt"),
        ("file, then folder", "a", "a/b.txt"),
        ("folder, then file", "a/b.txt", "a"),
        ("file and folder in other case", "A", "a/b.txt"),
        ("deep file and folder", "a/b/c", "a/b/c/d/e.txt"),
        ("file inside index.html", "index.html/a.txt", "b.txt"),
        ("slash and backslash", "a/b.txt", "a\\b.txt"),
        ("file, then folder by a backslash", "a", "a\\b.txt"),
        ("the same with its folder before it", "a/b.txt", "./a/b.txt"),
        ("index.html with its folder before it", "./index.html", "b.txt"),
        ("case duplicate with its folder before it", "Readme.txt", ".\\README.TXT"),
        ("duplicate of a hidden file", ".env", "./.env"),
    ] {
        let archive = Archive::site().item(Item::stored(one, b"1")).item(Item::stored(two, b"2"));
        cases.add(what, archive.build().bytes, ForbiddenName);
    }
    let folders = Archive::site().item(Item::folder("a/")).item(Item::folder("a/"));
    cases.add("duplicate folder", folders.build().bytes, ForbiddenName);
    let mixed = Archive::site().item(Item::stored("a", b"1")).item(Item::folder("a/"));
    cases.add("file and folder entry", mixed.build().bytes, ForbiddenName);
}

fn private(cases: &mut Cases) {
    for name in [
        "_dropleaf/gate",
        "_DropLeaf/gate",
        "_dropleaf\\gate",
        "./_dropleaf/gate",
        ".\\_dropleaf\\gate",
        "_dropleaf",
    ] {
        cases.add(format!("private {name}"), with(Item::stored(name, b"x")), ForbiddenName);
    }
    let nested = Archive::default()
        .item(Item::stored("site/index.html", b"<h1>x</h1>"))
        .item(Item::stored("site/_dropleaf/gate", b"x"));
    cases.add("reserved folder in the top folder", nested.build().bytes, ForbiddenName);
    let deeper = Archive::default()
        .item(Item::stored("a/b/page.html", b"<h1>x</h1>"))
        .item(Item::stored("a/b/_dropleaf/gate", b"x"));
    cases.add("reserved folder two folders down", deeper.build().bytes, ForbiddenName);
}

fn not_files(cases: &mut Cases) {
    for (what, mode) in [
        ("symbolic link", 0o120_777),
        ("character device", 0o020_666),
        ("block device", 0o060_666),
        ("pipe", 0o010_666),
        ("socket", 0o140_666),
        ("unknown file type", 0o070_666),
        ("folder without a slash", 0o040_755),
    ] {
        cases.invalid(what, with(Item::stored("a", b"/etc/passwd").but(|item| item.mode = mode)));
    }
    cases.invalid(
        "link that is a system file",
        with(Item::stored("a/.DS_Store", b"/etc/passwd").but(|item| item.mode = 0o120_777)),
    );
    cases.invalid(
        "link that is a hidden file",
        with(Item::stored(".hidden", b"/etc/passwd").but(|item| item.mode = 0o120_777)),
    );
    cases.invalid("folder that is a link", with(Item::folder("a/").but(|item| item.mode = 0o120_777)));
    cases.invalid("folder with content", with(Item::stored("a/", b"content")));
}

fn no_index(cases: &mut Cases) {
    let lists: [(&str, &[&str]); 8] = [
        ("no entries", &[]),
        ("only system files", &["__MACOSX/._a", ".DS_Store"]),
        ("only hidden files", &[".env", ".git/index.html"]),
        ("only the folder itself", &["./"]),
        ("two top folders", &["a/index.html", "b/index.html"]),
        ("two pages and no index.html", &["a.html", "b.html"]),
        ("no page", &["style.css", "app.js"]),
        ("only nested archives", &["inner.zip", "other.zip"]),
    ];
    for (what, names) in lists {
        let items = names
            .iter()
            .map(|name| Item::stored(name, if name.ends_with('/') { b"" } else { b"x" }))
            .collect();
        cases.add(what, Archive { items, ..Archive::default() }.build().bytes, MissingIndex);
    }
    let folder = Archive::default().item(Item::folder("index.html/"));
    cases.add("index.html is a folder", folder.build().bytes, MissingIndex);
}
