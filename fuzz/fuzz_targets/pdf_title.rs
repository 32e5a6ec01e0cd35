//! Reads any bytes as a PDF: no panic, and the title obeys the rules of titles. The bytes are also placed inside a title, an
//! information dictionary and a trailer, so that the fuzzer reaches each of them without constructing the rest.

#![no_main]

use dropleaf_content::{Limits, Source, Upload, prepare};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    check(data.to_vec());
    for (before, after) in [
        (&b"2 0 obj << /Title ("[..], &b") >> endobj trailer << /Info 2 0 R >>"[..]),
        (b"2 0 obj << /Title <", b"> >> endobj trailer << /Info 2 0 R >>"),
        (b"2 0 obj ", b" endobj trailer << /Info 2 0 R >>"),
        (b"trailer ", b" startxref 9"),
        (b"1 0 obj << /Metadata 2 0 R >> 2 0 obj << >> stream\n<dc:title><rdf:li>", b"</rdf:li></dc:title>endstream trailer << /Root 1 0 R >>"),
    ] {
        check([b"%PDF-1.7\n", before, data, after].concat());
    }
});

fn check(bytes: Vec<u8>) {
    let source = Source::Memory(bytes.into());
    let upload = Upload { filename: Some("paper.pdf"), content_type: None, e2e: false, source };
    let Ok(bundle) = prepare(upload, &Limits::default(), &std::env::temp_dir()) else { return };
    assert!(!bundle.title.is_empty() && bundle.title.chars().count() <= 200);
    assert!(!bundle.title.chars().any(char::is_control));
}
