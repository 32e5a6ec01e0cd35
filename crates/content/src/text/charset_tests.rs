//! Tests how declarations are read, and text that only looks like a declaration.

use super::*;

fn name(head: &[u8]) -> &'static str {
    of_page(head, false).name()
}

#[test]
fn declarations_are_read_as_the_standard_says() {
    for (head, charset) in [
        ("<meta charset=windows-1251>", "windows-1251"),
        ("<META CHARSET = \"Shift_JIS\" >", "Shift_JIS"),
        ("<meta/charset='koi8-r'>", "KOI8-R"),
        ("<title>x</title><meta http-equiv=Content-Type content='text/html; charset=gb2312'>", "GBK"),
        ("<meta content='text/html; charset = \"big5\"' http-equiv=content-type>", "Big5"),
        ("<meta content='charset charset=euc-kr;x' http-equiv='content-type'>", "EUC-KR"),
        ("<!-- <meta charset=big5> --><meta charset=latin2>", "ISO-8859-2"),
        ("<!--><meta charset=latin2>", "ISO-8859-2"),
        ("<meta charset=nonsense><meta charset=latin2>", "ISO-8859-2"),
        ("<p title='>' charset=big5><meta charset=latin2>", "ISO-8859-2"),
        // The first attribute of a name counts, and `charset` takes precedence over `content`.
        ("<meta charset=latin2 charset=big5>", "ISO-8859-2"),
        ("<meta http-equiv=content-type content='charset=big5' charset=latin2>", "ISO-8859-2"),
        // Labels that stand for another charset, or for none.
        ("<meta charset=utf-16le>", "UTF-8"),
        ("<meta charset=utf-16>", "UTF-8"),
        ("<meta charset=ucs-2>", "UTF-8"),
        ("<meta charset=x-user-defined>", "windows-1252"),
        ("<meta charset=iso-2022-kr>", "windows-1252"),
        ("<meta charset=hz-gb-2312>", "windows-1252"),
        ("<meta charset=utf-7>", "windows-1252"),
    ] {
        assert_eq!(name(head.as_bytes()), charset, "{head}");
    }
}

#[test]
fn what_is_no_declaration_declares_nothing() {
    for head in [
        "",
        "charset=big5",
        "<!-- charset=utf-16le -->",
        "<!-- <meta charset=big5>",
        "<p charset=big5>",
        "<metas charset=big5>",
        "<title='<meta charset=big5>'>",
        "<meta content='text/html; charset=big5'>",
        "<meta http-equiv=refresh content='text/html; charset=big5'>",
        "<meta http-equiv=content-type content='charset=\"big5'>",
        "<meta name=charset value=big5>",
        "<meta charset=big5",
        "</x <meta charset=big5>",
        "<? <meta charset=big5>",
    ] {
        assert_eq!(name(head.as_bytes()), "windows-1252", "{head}");
    }
    let late = format!("{}<meta charset=big5>", " ".repeat(HEAD_BYTES));
    assert_eq!(name(late.as_bytes()), "windows-1252");
}

#[test]
fn a_byte_order_mark_and_utf8_come_first() {
    assert_eq!(name(b"\xff\xfe<\0p\0>\0"), "UTF-16LE");
    assert_eq!(name(b"\xfe\xff\0<"), "UTF-16BE");
    assert_eq!(name(b"\xef\xbb\xbf<meta charset=big5>\xff"), "UTF-8");
    assert_eq!(of_page(b"<meta charset=big5>", true), UTF_8);
}

#[test]
fn texts_are_decoded_as_they_are_sent() {
    assert_eq!(decode_page("é".as_bytes()), "é");
    assert_eq!(decode_page(b"\xff\xfea\0"), "a");
    assert_eq!(decode_page(b"<meta charset='windows-1251'>\xcf"), "<meta charset='windows-1251'>\u{41f}");
    assert_eq!(decode_page(b"caf\xe9"), "café");
    assert_eq!(decode_other(b"// charset=utf-16le \xff\nx()"), "// charset=utf-16le \u{fffd}\nx()");
    assert_eq!(decode_other(b"\xff\xfex\0"), "x");
}

#[test]
fn every_charset_has_a_media_type() {
    for encoding in crate::mime::CHARSETS.iter().map(|charset| charset.name) {
        let encoding = Encoding::for_label(encoding.as_bytes()).unwrap();
        let mime = crate::mime::html_in(encoding);
        assert_eq!(mime, format!("text/html; charset={}", encoding.name().to_ascii_lowercase()));
        let bare = encoding == UTF_16BE || encoding == UTF_16LE;
        assert!(bare || labelled(encoding.name().as_bytes()) == Some(encoding), "{mime}");
    }
    // No charset that a page can declare is missing.
    for label in [
        "866",
        "latin2",
        "latin3",
        "latin4",
        "iso-8859-5",
        "iso-8859-6",
        "iso-8859-7",
        "iso-8859-8",
        "logical",
        "latin6",
        "iso-8859-13",
        "iso-8859-14",
        "iso-8859-15",
        "iso-8859-16",
        "koi8-r",
        "koi8-u",
        "mac",
        "windows-874",
        "windows-1250",
        "windows-1251",
        "latin1",
        "windows-1253",
        "latin5",
        "windows-1255",
        "windows-1256",
        "windows-1257",
        "windows-1258",
        "x-mac-cyrillic",
        "gbk",
        "gb18030",
        "big5",
        "euc-jp",
        "iso-2022-jp",
        "sjis",
        "euc-kr",
        "utf-8",
    ] {
        let encoding = labelled(label.as_bytes()).unwrap();
        assert!(crate::mime::html_in(encoding).ends_with(&encoding.name().to_ascii_lowercase()), "{label}");
    }
}

#[test]
fn xml_is_read_in_the_charset_of_its_prolog() {
    let koi8 = b"<?xml version='1.0' encoding = \"koi8-r\" ?><svg><text>\xf0\xc1</text></svg>";
    assert!(decode_xml(koi8).contains("<text>\u{41f}\u{430}</text>"));
    let sjis = b"<?xml version=\"1.0\" encoding='Shift_JIS'?><a>\x93\xfa</a>";
    assert!(decode_xml(sjis).contains("<a>\u{65e5}</a>"));
    // No prolog, a prolog that is not at the beginning, and bytes that a declared charset could hide.
    for undeclared in [
        &b"<a>\xe9</a>"[..],
        b" <?xml version='1.0' encoding='latin1'?><a>\xe9</a>",
        b"<?xml version='1.0' encoding='latin1'?><a>\xe9\x1b$B</a>",
        b"<?xml version='1.0' encoding='latin1'?><a>\xe9\0</a>",
        b"<?xml version='1.0' encoding='nonsense'?><a>\xe9</a>",
    ] {
        assert!(decode_xml(undeclared).contains('\u{fffd}'), "{undeclared:?}");
    }
    assert_eq!(decode_xml(b"\xff\xfe<\0a\0"), "<a");
}

#[test]
fn scripts_follow_the_pages_beside_them() {
    use encoding_rs::{GBK, ISO_2022_JP, SHIFT_JIS};
    assert_eq!(of_script(b"\x93\xfa", Some(SHIFT_JIS)), UTF_8);
    assert_eq!(of_script(b"\x93\xfa", Some(ISO_2022_JP)), UTF_8);
    assert_eq!(of_script(b"\xe9", Some(WINDOWS_1252)), WINDOWS_1252);
    assert_eq!(of_script(b"\xff\xfea\0", Some(GBK)), UTF_16LE);
    assert_eq!(of_script(b"\x93\xfa", None), UTF_8);
    assert_eq!(of_script(b"\x93\xfa", Some(UTF_16LE)), UTF_8, "no page says that a script is made of pairs");
}
