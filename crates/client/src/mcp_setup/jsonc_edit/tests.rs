//! Adding an entry to a JSON file and removing it restores the file byte for byte.

use super::*;
use serde_json::json;

const PATH: &[&str] = &["servers", "x"];

fn plain(value: Value) -> NewValue {
    NewValue::Plain(value)
}

fn entry() -> NewValue {
    NewValue::Object(vec![("url".into(), plain(json!("u"))), ("args".into(), plain(json!(["a", 1])))])
}

/// Adding gives the expected text; removing restores the original.
#[track_caller]
fn there_and_back(before: &str, after: &str) {
    let set = set(before, PATH, &entry()).unwrap();
    assert_eq!(set, after);
    assert_eq!(remove(&set, PATH).unwrap(), before);
}

#[test]
fn member_is_added_behind_the_others_and_leaves_no_trace() {
    there_and_back(
        "{\n    // mine\n    \"servers\": {\n        \"a\": 1 // one\n        // two\n    },\n}\n",
        "{\n    // mine\n    \"servers\": {\n        \"a\": 1, // one\n        // two\n        \"x\": {\n            \
             \"url\": \"u\",\n            \"args\": [\"a\", 1]\n        }\n    },\n}\n",
    );
    there_and_back(
        "{\r\n\t\"servers\": {\r\n\t\t\"a\": {},\r\n\t}\r\n}",
        "{\r\n\t\"servers\": {\r\n\t\t\"a\": {},\r\n\t\t\"x\": {\r\n\t\t\t\"url\": \"u\",\r\n\t\t\t\"args\": [\"a\", \
             1]\r\n\t\t},\r\n\t}\r\n}",
    );
    there_and_back(
        "{\"servers\": {\"a\": 1}}",
        "{\"servers\": {\"a\": 1, \"x\": {\"url\": \"u\", \"args\": [\"a\", 1]}}}",
    );
    there_and_back(
        "{\n  \"servers\": {}\n}\n",
        "{\n  \"servers\": {\n    \"x\": {\n      \"url\": \"u\",\n      \"args\": [\"a\", 1]\n    }\n  }\n}\n",
    );
    there_and_back(
        "{\"servers\": {\"a\": 1 /* why */ , }}",
        "{\"servers\": {\"a\": 1 /* why */ , \"x\": {\"url\": \"u\", \"args\": [\"a\", 1]}, }}",
    );
}

#[test]
fn objects_on_the_way_are_made_and_can_go_as_well() {
    for before in ["{}", "{\n  \"a\": 1\n}\n", "{\"a\": [1,2]}", "\u{feff}{\n\t\"a\": 1, // x\n}"] {
        let after = set(before, PATH, &entry()).unwrap();
        assert_eq!(
            parse(&after).unwrap().to_value()["servers"],
            json!({"x": {"url": "u", "args": ["a", 1]}}),
            "{after}"
        );
        assert_eq!(remove(&after, &["servers"]).unwrap(), before);
        let emptied = remove(&after, PATH).unwrap();
        assert_eq!(parse(&emptied).unwrap().to_value()["servers"], json!({}), "{emptied}");
    }
}

#[test]
fn member_is_changed_where_it_stands() {
    let before = "{\n  \"servers\": {\n    \"x\": {\"url\": \"old\", \"env\": {\"A\": \"b\"}}, // ours\n    \"y\": 1\n  }\n}";
    let after = set(before, &["servers", "x", "url"], &plain(json!("new"))).unwrap();
    assert_eq!(after, before.replace("old", "new"));
    let gone = remove(&after, PATH).unwrap();
    assert_eq!(gone, "{\n  \"servers\": { // ours\n    \"y\": 1\n  }\n}");
    assert_eq!(remove(&gone, PATH).unwrap(), gone);
    assert_eq!(remove(&gone, &["nowhere", "x"]).unwrap(), gone);
}

#[test]
fn comments_in_an_empty_object_stay() {
    let before = "{\n  \"servers\": {\n    // none yet\n  }\n}";
    let after = set(before, PATH, &plain(json!(1))).unwrap();
    assert_eq!(after, "{\n  \"servers\": {\n    // none yet\n    \"x\": 1\n  }\n}");
    assert_eq!(remove(&after, PATH).unwrap(), before);
}

#[test]
fn nothing_slips_into_the_comment_before_what_is_taken_out() {
    for (before, after) in [
        ("{ // c\n \"x\": {\"u\": 1}, \"y\": 2}", "{ // c\n  \"y\": 2}"),
        ("{ // c\n \"x\": 1}", "{ // c\n }"),
        ("{\"a\": 1, // c\n \"x\": 1}", "{\"a\": 1 // c\n }"),
        ("{ /* // */\n \"x\": 1, \"y\": 2}", "{ /* // */ \"y\": 2}"),
        ("{ /*/ // */\n \"x\": 1, \"y\": 2}", "{ /*/ // */ \"y\": 2}"),
        ("{ // c\n \"x\": 1, // d\n \"y\": 2}", "{ // c // d\n \"y\": 2}"),
    ] {
        assert_eq!(remove(before, &["x"]).unwrap(), after);
        assert!(parse(after).is_ok());
    }
}

#[test]
fn what_is_not_an_object_is_refused() {
    assert_eq!(set("[]", PATH, &plain(json!(1))), Err(JsonEditError::NotAnObject("the top level".into())));
    assert_eq!(
        set("{\"servers\": []}", PATH, &plain(json!(1))),
        Err(JsonEditError::NotAnObject("servers".into()))
    );
    assert_eq!(remove("{\"servers\": 1}", PATH), Err(JsonEditError::NotAnObject("servers".into())));
    assert!(matches!(set("{", PATH, &plain(json!(1))), Err(JsonEditError::ParseError(_))));
}
