//! Tests that pages are tokenized as in browsers.

use super::*;

/// The tokens of a page in short notation.
fn cut(page: &str) -> String {
    cut_as(page, false)
}

fn cut_as(page: &str, xml: bool) -> String {
    let mut tokens = Tokens::new(page, xml);
    let mut parts = Vec::new();
    while let Some(token) = tokens.next() {
        parts.push(match token {
            Token::Text(text) => format!("'{text}'"),
            Token::Open => format!("<{}>", tokens.tag.name.text()),
            Token::Close(name) => format!("</{}>", name.text()),
            Token::Comment(text) => format!("!{text}!"),
            Token::Raw(name, text) => format!("{}[{text}]", name.text()),
        });
    }
    parts.join(" ")
}

#[test]
fn pages_are_cut_as_browsers_cut_them() {
    for (page, parts) in [
        ("a<b>c</b>", "'a' <b> 'c' </b>"),
        ("1 < 2 <", "'1 < 2 <'"),
        ("<!doctype html><p>", "!<!doctype html! <p>"),
        ("<!--a--><!--b--!>c", "!a! !b! 'c'"),
        ("<!--><p><!---><p>", "!! <p> !! <p>"),
        ("<!--a-- >--->b", "!a-- >-! 'b'"),
        ("</ x><?y?>z", "!</ x! !<?y?! 'z'"),
        ("<title><b></title>x", "<title> title[<b>] </title> 'x'"),
        ("<textarea></p>", "<textarea> textarea[</p>]"),
    ] {
        assert_eq!(cut(page), parts, "{page}");
    }
}

#[test]
fn drawings_have_no_raw_text_until_they_end() {
    assert_eq!(cut("<svg><style><i>"), "<svg> <style> <i>");
    assert_eq!(cut("<svg><path/><g></svg><style><i>"), "<svg> <path> <g> </svg> <style> style[<i>]");
    assert_eq!(cut("<svg><div><style><i>"), "<svg> <div> <style> style[<i>]");
    assert_eq!(cut("<svg><foreignObject><style><i>"), "<svg> <foreignobject> <style> style[<i>]");
    assert_eq!(cut("<svg><![CDATA[<i>]]></svg>"), "<svg> '<i>' </svg>");
}

#[test]
fn xml_has_prefixes_and_no_raw_text() {
    for (page, parts) in [
        ("<h:form><_:b/><\u{e9}:i></h:form>", "<form> <b> <i> </form>"),
        ("<style/><xmp><p>", "<style> <xmp> <p>"),
        ("<a><![CDATA[ > <!-- ]]><p>", "<a> ' > <!-- ' <p>"),
        ("<?x > <!-- ?><p>", "!<?x > <!-- ?! <p>"),
        ("<!DOCTYPE x SYSTEM '><!--'><p>", "!<!DOCTYPE x SYSTEM '><!--'! <p>"),
        ("<!DOCTYPE x [<!ELEMENT y ANY><?z?>]><p>", "!<!DOCTYPE x ! !<!ELEMENT y ANY! !<?z?! ']>' <p>"),
    ] {
        assert_eq!(cut_as(page, true), parts, "{page}");
    }
}
