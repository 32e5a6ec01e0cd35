//! What the parser accepts, which positions it records, and what it refuses.

use super::*;
use serde_json::json;

#[test]
fn comments_and_last_commas_are_read_over() {
    let text = "\u{feff}// top\n{ /* a */ \"a\": [1, -2.5e3, true, null,], // b\n \"b\": {\"c\": \"x \\\"// no\\\" \\u00fc\"},\n}\n// end";
    assert_eq!(
        parse(text).unwrap().to_value(),
        json!({"a": [1, -2500.0, true, null], "b": {"c": "x \"// no\" ü"}})
    );
}

#[test]
fn comment_ends_at_its_own_end() {
    let text = "{ /*/ \"hidden\": 1, /*/ \"a\": 2 /**/ }";
    assert_eq!(parse(text).unwrap().to_value(), json!({"a": 2}));
}

#[test]
fn every_part_knows_where_it_stands() {
    let text = "{\"a\": {\"b\" : [1]} , \"a\": 2}";
    let root = parse(text).unwrap();
    let NodeKind::Object(members) = &root.kind else { panic!("an object") };
    assert_eq!(&text[members[0].value.span.clone()], "{\"b\" : [1]}");
    assert_eq!((members[0].start, members[0].comma), (1, Some(18)));
    assert_eq!(root.member("a").unwrap().value.to_value(), json!(2), "the last one counts");
}

#[test]
fn what_is_broken_is_refused_with_its_line() {
    for (text, line) in [
        ("", 1),
        ("{", 1),
        ("{\n\"a\" 1}", 2),
        ("{\"a\": 1\n\"b\": 2}", 2),
        ("{\"a\":\n1,,}", 2),
        ("{,}", 1),
        ("[1 2]", 1),
        ("[,]", 1),
        ("{}\n}", 2),
        ("{\"a\": nope}", 1),
        ("{\"a\": \"x}", 1),
        ("{\"a\": \"\\", 1),
        ("{/* }", 1),
        ("{/*/ \"a\": 1}", 1),
        ("{a: 1}", 1),
        ("{\"a\": \"\n\"}", 1),
    ] {
        assert_eq!(parse(text).map_err(|error| error.line), Err(line), "{text:?}");
    }
    assert!(parse(&"[".repeat(100_000)).is_err());
}
