//! Tests of the reader: which text a page shows, and that attributes are decoded as browsers decode them.

use super::{FILE, Origin, read};
use crate::phishing::facts::{PageFacts, zone};
use crate::phishing::rules::Rules;

fn facts_of(page: &str) -> PageFacts {
    let mut facts = PageFacts::default();
    read(page, FILE, &mut facts, &Rules::builtin());
    facts
}

/// The text that a page shows, in one line.
fn shown(facts: &PageFacts) -> String {
    let text = &facts.text.bytes;
    let shown: Vec<u8> = (0..text.len())
        .map(|at| if facts.zone_at(at) & zone::HIDDEN == 0 { text[at] } else { b' ' })
        .collect();
    String::from_utf8_lossy(&shown).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn text_in_place_of_what_is_shown_is_hidden() {
    for page in [
        "a<canvas>x</canvas>b",
        "a<video controls>x</video>b",
        "a<audio>x<p>x</p></audio>b",
        "a<dialog>x</dialog>b",
        "a<object data=x.svg>x</object>b",
        "a<div hidden/>x</div>b",
        "a<canvas />x</canvas>b",
        "a<p style='display:/**/none'>x</p>b",
        "a <span style='visibility:/* y */hidden'>x</span> b",
        "<style>p.n{display:none}</style>a<p class='m n'>x</p>b",
        "<style>main > .m #n:not(.o){display:none}</style>a<p id=n>x</p>b",
        "<style>.n/**/{/**/display/**/:/**/none}</style>a<p class=n>x</p>b",
        "<style>.n{display:none}</style>a<p class='&#110;'>x</p>b",
        "<style>#n{display:none}</style>a<p id='&#x6e;'>x</p>b",
    ] {
        assert_eq!(shown(&facts_of(page)), "a b", "{page}");
    }
    for page in [
        "a<dialog open>b</dialog>",
        "a<object>b</object>",
        "<style>.n:hover,.n::before{display:none}</style>a<p class=n>b</p>",
        "<style>.n p{display:none}</style>a <b class=n>b</b>",
        "<svg><path style='display:none'/><text>a</text></svg>b",
    ] {
        assert_eq!(shown(&facts_of(page)), "a b", "{page}");
    }
}

#[test]
fn hidden_elements_end_where_browsers_end_them() {
    for page in [
        "<p hidden>x<p>a b",
        "<p hidden>x<b>x<div>a</div>b",
        "<p hidden>x<h1>a</h1>b",
        "<ul><li hidden>x<li>a</ul>b",
        "<ul><li hidden>x</ul>a b",
        "<ul><li hidden>x<ul><li>x<li>x</ul>x</li><li>a</ul>b",
        "<dl><dt hidden>x<dd>a</dl>b",
        "<dl><dd hidden>x</dl>a b",
        "<table><tr><td hidden>x<td>a</table>b",
        "<table><tr><td hidden>x<table><tr><td>x</table>x<tr><td>a</table>b",
        "<table><tr hidden><td>x<td>x<tr><td>a</table>b",
        "<table><tr hidden><td>x</table>a b",
        "<table><tr><td><p hidden>x</td><td>a</table>b",
        "<table><td hidden>x</table>a b",
        "<p hidden>x</p>a b",
    ] {
        assert_eq!(shown(&facts_of(page)), "a b", "{page}");
    }
}

#[test]
fn what_does_not_end_a_hidden_element_does_not_show_its_text() {
    for page in [
        "a b<p hidden>x<button><p>x</button>x",
        "a b<p hidden>x<object><p>x",
        "a b<p hidden>x<table><tr><td>x<p>x</table>x",
        "a b<p hidden>x</div>x",
        "a b<ul><li hidden><section><li>x</section>x",
        "a b<ul><li hidden><ul><li>x</ol><li>x</ul>x",
        "a b<table><tr><td hidden><table><tr><td>x<tr><td>x</table>x",
        "a b<ul><table><td><ol><li hidden></ul>x",
        "a b<div hidden><p>x<p>x<div>x</div>x",
        "a b<span hidden>x<p>x",
    ] {
        let shown = shown(&facts_of(page));
        assert!(shown.starts_with("a b") && !shown[3..].contains('x'), "{page}: {shown}");
    }
    let mut facts = PageFacts::default();
    let page = "<html><p hidden='hidden'>x<p>x</p></p><p>a b</p></html>";
    read(page, Origin { xml: true, ..FILE }, &mut facts, &Rules::builtin());
    assert_eq!(shown(&facts), "a b", "XML has no implied ends");
}

#[test]
fn attributes_are_decoded() {
    let facts = facts_of(
        "<label for='&#112;w'>Password</label><input id='p&#119;' name='pass&#87;ord&#49;2' maxlength='&#49;'>\
         <img src='net&#102;lix-logo.png'><a href='&#116;el:+18005550199'>Call</a>\
         <meta property='og:site&#95;name' content='Acorn'><meta name='application&#45;name' content='Oak'>",
    );
    let field = &facts.fields[0];
    assert_eq!((field.id.as_str(), field.name.as_str()), ("pw", "password12"));
    assert_eq!((field.stem.as_deref(), field.one_letter), (Some("passWord"), true));
    assert!(field.hint.contains("pass word"), "{}", field.hint);
    assert_eq!(facts.labels, [("pw".to_owned(), "password".to_owned())]);
    assert_eq!(facts.files[0].0, "netflix");
    assert!(facts.phone.is_some());
    let text = String::from_utf8_lossy(&facts.text.bytes).into_owned();
    assert!(text.contains("acorn") && text.contains("oak"), "{text}");
    let number = facts_of("<input name='&#49;&#50;' type=password>");
    assert_eq!(number.fields[0].name, "12");
}

#[test]
fn addresses_of_areas_and_of_links_in_drawings_are_read() {
    for page in [
        "<map><area href=\"javascript:location='https://acorn.example/'\"></map>",
        "<svg><a xlink:href=\"javascript:location='https://acorn.example/'\">x</a></svg>",
        "<map><area href=\"java&Tab;script&colon;location='https://acorn.example/'\"></map>",
    ] {
        assert!(!facts_of(page).scripted_redirects.is_empty(), "{page}");
    }
    assert!(facts_of("<area href='tel:+18005550199'>").phone.is_some());
}
