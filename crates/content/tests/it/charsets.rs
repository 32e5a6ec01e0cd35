//! UTF-8 is declared only for files that are UTF-8; other files are sent so that browsers show them as the author saw them.

use dropleaf_content::{Bundle, BundleTexts};

use crate::support::{upload, zip_of_bytes};

const PAGE: &[u8] = b"<!doctype html><title>x</title><p>plain</p>";

fn bundle(files: &[(&str, &[u8])]) -> Bundle {
    upload("site.zip", zip_of_bytes(files)).unwrap()
}

fn mime(files: &[(&str, &[u8])], path: &str) -> &'static str {
    bundle(files).files.iter().find(|file| file.path == path).unwrap().mime
}

fn text(bundle: &Bundle, path: &str) -> String {
    BundleTexts::of(bundle)
        .unwrap()
        .files
        .into_iter()
        .find(|file| file.path == path)
        .unwrap()
        .text
        .into_owned()
}

#[test]
fn utf8_is_said_to_be_utf8() {
    let files: [(&str, &[u8]); 5] = [
        ("index.html", PAGE),
        ("a.css", "a::before { content: '\u{e9}' }".as_bytes()),
        ("a.js", "let a = '\u{65e5}';".as_bytes()),
        ("a.txt", b"ascii"),
        ("a.svg", "<svg>\u{e9}</svg>".as_bytes()),
    ];
    for file in bundle(&files).files {
        assert!(file.mime.ends_with("; charset=utf-8"), "{}: {}", file.path, file.mime);
    }
}

#[test]
fn stylesheets_texts_and_data_in_other_charsets_have_no_claim() {
    for (path, bytes, expected) in [
        ("a.css", &b"@charset \"shift_jis\"; a::before { content: '\x93\xfa' }"[..], "text/css"),
        ("b.css", b"\xff\xfea\0{\0}\0", "text/css"),
        ("c.css", b"/* caf\xe9 */", "text/css"),
        ("a.txt", b"caf\xe9", "text/plain"),
        ("b.txt", b"\xc4\xe3\xba\xc3", "text/plain"),
        ("c.txt", b"\xfe\xff\0a\0b", "text/plain"),
        ("a.csv", b"n\xe4me;1", "text/csv"),
        ("a.json", b"{\"a\":\"\xe9\"}", "application/json"),
    ] {
        assert_eq!(mime(&[("index.html", PAGE), (path, bytes)], path), expected, "{path}");
    }
}

#[test]
fn xml_is_left_to_its_prolog_and_checked_as_it_is_shown() {
    let svg = b"<?xml version=\"1.0\" encoding=\"GBK\"?><svg xmlns='http://www.w3.org/2000/svg'><text>\xc4\xe3</text></svg>";
    let xhtml = b"<?xml version='1.0' encoding='iso-8859-1'?><html xmlns='http://www.w3.org/1999/xhtml'>caf\xe9</html>";
    let made = bundle(&[("index.html", PAGE), ("a.svg", svg), ("b.xhtml", xhtml)]);
    let mimes: Vec<&str> = made.files.iter().map(|file| file.mime).collect();
    assert_eq!(mimes, ["image/svg+xml", "application/xhtml+xml", "text/html; charset=utf-8"]);
    assert!(text(&made, "a.svg").contains("<text>\u{4f60}</text>"));
    assert!(text(&made, "b.xhtml").contains("caf\u{e9}"));
}

#[test]
fn scripts_are_in_the_charset_of_the_pages_beside_them() {
    let page = b"<meta charset=windows-1251><title>\xcf</title><script src=a.js></script>";
    let made = bundle(&[("a.js", b"let letter = '\xcf';"), ("index.html", page)]);
    let mimes: Vec<&str> = made.files.iter().map(|file| file.mime).collect();
    assert_eq!(mimes, ["text/javascript; charset=windows-1251", "text/html; charset=windows-1251"]);
    assert!(text(&made, "a.js").contains('\u{41f}'), "what is checked is what runs");
    // Modules are always decoded as UTF-8: text in these charsets could then be another program.
    for (charset, script) in
        [("iso-2022-jp", &b"/*\xff\x1b$B*/go()/*\x1b(B*/"[..]), ("shift_jis", b"var a='\x81\\';/*';go()//*/")]
    {
        let page = [b"<meta charset=", charset.as_bytes(), b">\xff"].concat();
        let made = bundle(&[("a.js", script), ("index.html", PAGE), ("z.html", &page)]);
        assert_eq!(made.files[0].mime, "text/javascript; charset=utf-8", "{charset}");
        assert!(text(&made, "a.js").contains("go()"), "{charset}");
    }
    let wide = b"\xff\xfel\0e\0t\0 \0a\0;\0";
    assert_eq!(mime(&[("index.html", PAGE), ("a.js", wide)], "a.js"), "text/javascript; charset=utf-16le");
}

#[test]
fn bytes_that_could_be_read_in_two_ways_keep_the_claim() {
    // Without a charset, a page could say `<script charset=utf-16le>` or `charset=iso-2022-jp` and run unchecked code.
    for (path, bytes) in [
        ("a.js", &b"\xe9"[..]),
        ("b.js", b"a\0l\0e\0r\0t\0\xe9"),
        ("a.css", b"\xe9\x1b$B"),
        ("a.svg", b"<?xml version='1.0' encoding='iso-2022-jp'?><svg>\x1b$B\xe9</svg>"),
        ("a.txt", b"\xe9\0"),
    ] {
        let mime = mime(&[("index.html", PAGE), (path, bytes)], path);
        assert!(mime.ends_with("; charset=utf-8"), "{path}: {mime}");
    }
}

#[test]
fn pages_without_a_declaration_are_shown_as_browsers_guess() {
    assert_eq!(
        mime(&[("index.html", b"<title>caf\xe9</title>")], "index.html"),
        "text/html; charset=windows-1252"
    );
    assert_eq!(
        mime(&[("index.html", b"<meta charset=gbk><title>\xc4\xe3</title>")], "index.html"),
        "text/html; charset=gbk"
    );
}

#[test]
fn a_single_text_or_drawing_in_another_charset_is_sent_without_a_claim() {
    let mime = |name: &str, bytes: &[u8]| upload(name, bytes.to_vec()).unwrap().files[0].mime;
    assert_eq!(mime("a.txt", b"caf\xe9"), "text/plain");
    assert_eq!(mime("a.txt", "caf\u{e9}".as_bytes()), "text/plain; charset=utf-8");
    assert_eq!(mime("a.txt", b"\xff\xfea\0"), "text/plain");
    assert_eq!(
        mime("a.svg", b"<?xml version='1.0' encoding='latin1'?><svg><text>\xe9</text></svg>"),
        "image/svg+xml"
    );
}
