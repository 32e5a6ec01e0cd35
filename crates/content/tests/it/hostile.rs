//! Every hostile archive is refused with exactly the expected code, from memory and from a file.

use dropleaf_content::hostile::corpus;
use dropleaf_content::{Limits, RefusalCode, Source};

use crate::support::{as_file, upload, upload_with};

#[test]
fn every_hostile_archive_is_refused_with_its_code() {
    let cases = corpus();
    let mut wrong = Vec::new();
    for (name, bytes, expected) in &cases {
        for source in [Source::Memory(bytes.clone().into()), as_file(bytes)] {
            match upload_with("site.zip", source, &Limits::default()) {
                Ok(_) => wrong.push(format!("{name}: accepted")),
                Err(refusal) if refusal.code != *expected => {
                    wrong.push(format!("{name}: {:?} instead of {expected:?}: {refusal}", refusal.code));
                }
                Err(_) => {}
            }
        }
    }
    println!("{} hostile archives", cases.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(cases.len() >= 80);
}

#[test]
fn names_of_cases_are_unique() {
    let cases = corpus();
    let names: std::collections::HashSet<_> = cases.iter().map(|(name, _, _)| name).collect();
    assert_eq!(names.len(), cases.len());
}

#[test]
fn refusals_are_printable_sentences_of_bounded_length() {
    for (name, bytes, _) in corpus() {
        let refusal = upload("site.zip", bytes).unwrap_err();
        let text = refusal.to_string();
        assert!(text.ends_with('.'), "{name}: {text}");
        assert!(text.len() < 700 && !text.chars().any(char::is_control), "{name}: {text}");
    }
}

#[test]
fn refusals_of_entries_name_the_entry() {
    let (_, bytes, _) = corpus().into_iter().find(|(name, ..)| name == "slip ../evil.txt").unwrap();
    let refusal = upload("site.zip", bytes).unwrap_err();
    assert_eq!(refusal.code, RefusalCode::ForbiddenName);
    assert_eq!(refusal.entry.as_deref(), Some("../evil.txt"));
    assert!(refusal.to_string().contains("\"../evil.txt\" was refused: its name has"), "{refusal}");
}

#[test]
fn every_cut_of_a_good_archive_is_refused() {
    let good = dropleaf_content::hostile::Archive::site().build().bytes;
    assert!(upload("site.zip", good.clone()).is_ok());
    for length in 1..good.len() {
        assert!(upload("site.zip", good[..length].to_vec()).is_err(), "{length}");
    }
}
