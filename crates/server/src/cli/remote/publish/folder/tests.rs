//! Which files of a folder are listed.

use super::*;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use tempfile::TempDir;

fn folder(files: &[(&str, &str)]) -> TempDir {
    let dir = TempDir::new().unwrap();
    for (name, text) in files {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

fn names(dir: &TempDir) -> Vec<String> {
    FolderListing::read(dir.path()).unwrap().files.into_iter().map(|file| file.name).collect()
}

#[test]
fn ignore_files_are_honoured_and_the_own_one_decides() {
    let dir = folder(&[
        ("index.html", "<p>"),
        ("a.log", "x"),
        ("kept.log", "x"),
        ("node_modules/x/y.js", "x"),
        ("sub/private.txt", "x"),
        ("sub/public.txt", "x"),
        ("draft.html", "x"),
        (".gitignore", "*.log\nnode_modules/\n"),
        ("sub/.gitignore", "private.txt\n"),
        (".dropleafignore", "!kept.log\ndraft.html\n"),
    ]);
    assert_eq!(names(&dir), ["index.html", "kept.log", "sub/public.txt"]);
}

#[test]
fn an_ignore_file_around_the_folder_does_not_count() {
    let dir = folder(&[(".gitignore", "dist\n*.html\n"), ("dist/index.html", "<p>"), (".git/HEAD", "x")]);
    let listing = FolderListing::read(&dir.path().join("dist")).unwrap();
    assert_eq!(listing.files.len(), 1);
}

#[test]
fn hidden_files_are_never_sent_even_if_an_ignore_file_names_them() {
    let dir = folder(&[
        ("index.html", "<p>"),
        (".env", "SECRET=1"),
        (".env.local", "SECRET=1"),
        ("sub/.env", "SECRET=1"),
        (".git/config", "x"),
        (".well-known/security.txt", "x"),
        ("Thumbs.db", "x"),
        (".gitignore", "!.env\n!.env.local\n!.git\n!.well-known\n"),
        (".dropleafignore", "!.env\n!**/.env\n!.well-known/\n"),
    ]);
    assert_eq!(names(&dir), ["index.html"]);
}

#[test]
fn links_out_of_the_folder_to_hidden_files_and_to_folders_are_not_followed() {
    let outside = folder(&[("secret.txt", "secret"), ("lib/a.js", "x")]);
    let dir = folder(&[("index.html", "<p>"), (".env", "SECRET=1"), ("sub/a.css", "a")]);
    let link = |target: &Path, name: &str| symlink(target, dir.path().join(name)).unwrap();
    link(&outside.path().join("secret.txt"), "out.txt");
    link(&outside.path().join("lib"), "lib");
    // More steps than any temporary folder has.
    link(Path::new("../../../../../../../../../../../../etc/passwd"), "sub/up");
    link(Path::new(".env"), "env.txt");
    link(Path::new("nowhere"), "broken");
    link(Path::new("."), "loop");
    link(Path::new("round"), "round");
    link(Path::new(".."), "sub/back");
    link(Path::new("sub/a.css"), "good.css");
    let listing = FolderListing::read(dir.path()).unwrap();
    let sent: Vec<&str> = listing.files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(sent, ["good.css", "index.html", "sub/a.css"]);
    let skipped: Vec<(&str, &str)> =
        listing.skipped.iter().map(|skipped| (skipped.name.as_str(), skipped.why)).collect();
    assert_eq!(
        skipped,
        [
            ("broken", "a broken link"),
            ("env.txt", "a link to a hidden file"),
            ("lib", "a link that leads out of the folder"),
            ("loop", "a link to a folder"),
            ("out.txt", "a link that leads out of the folder"),
            ("round", "a broken link"),
            ("sub/back", "a link to a folder"),
            ("sub/up", "a link that leads out of the folder"),
        ]
    );
}

#[test]
fn links_to_ignored_files_are_not_followed() {
    let dir = folder(&[
        ("index.html", "<p>"),
        ("secrets.json", "secret"),
        ("private/notes.txt", "secret"),
        ("z.css", "z"),
        (".gitignore", "secrets.json\nprivate/\n"),
    ]);
    let link = |target: &str, name: &str| symlink(target, dir.path().join(name)).unwrap();
    link("secrets.json", "data.json");
    link("private/notes.txt", "notes.txt");
    link("data.json", "twice.json");
    // The target of this one is listed after it.
    link("z.css", "a.css");
    let listing = FolderListing::read(dir.path()).unwrap();
    let sent: Vec<&str> = listing.files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(sent, ["a.css", "index.html", "z.css"]);
    let skipped: Vec<&str> = listing.skipped.iter().map(|skipped| skipped.name.as_str()).collect();
    assert_eq!(skipped, ["data.json", "notes.txt", "twice.json"]);
    assert!(listing.skipped.iter().all(|skipped| skipped.why == "a link to an ignored file"));
}

#[test]
fn folder_that_cannot_become_a_page_is_refused_with_a_reason() {
    let why = |files: &[(&str, &str)]| FolderListing::read(folder(files).path()).unwrap_err().to_string();
    assert!(why(&[]).contains("has no files to publish"));
    assert!(
        why(&[(".env", "x"), ("a.log", "x"), (".gitignore", "*.log")]).contains("has no files to publish")
    );
    let text = why(&[("a.css", "x"), ("b.js", "x")]);
    assert!(text.contains("The folder has no index.html"), "{text}");
    let text = why(&[("x/y/index.html", "x"), ("a.html", "x")]);
    assert!(text.contains("x/y/index.html: publish its folder instead"), "{text}");
    let text = why(&[("index.html", "x"), ("\u{e9}.png", "x"), ("e\u{301}.png", "x")]);
    assert!(text.contains("cannot be published"), "{text}");
    let dir = folder(&[("index.html", "x")]);
    fs::write(dir.path().join(std::ffi::OsStr::from_bytes(b"caf\xe9.png")), "x").unwrap();
    let text = FolderListing::read(dir.path()).unwrap_err().to_string();
    assert!(text.contains("is not UTF-8"), "{text}");
}

#[test]
fn limits_of_the_server_are_checked() {
    let listing = FolderListing::read(folder(&[("index.html", "12345"), ("a.css", "12345")]).path()).unwrap();
    let check = |files, unpacked_bytes| {
        listing.check(Path::new("site"), &UploadLimits { files, unpacked_bytes, upload_bytes: None })
    };
    assert!(check(None, None).is_ok() && check(Some(2), Some(10)).is_ok());
    assert_eq!(
        check(Some(1), None).unwrap_err().to_string(),
        "site has 2 files; the server accepts at most 1"
    );
    assert_eq!(
        check(None, Some(9)).unwrap_err().to_string(),
        "the files in site are 10 bytes; the server accepts at most 9 bytes"
    );
}
