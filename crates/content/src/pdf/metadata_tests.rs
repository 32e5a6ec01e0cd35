//! Tests the title of PDF files: well-formed, damaged and hostile ones.

use super::*;
use crate::input::Source;
use proptest::prelude::*;
use std::fmt::Write as _;

fn title_of(bytes: impl Into<Vec<u8>>) -> Option<String> {
    read(&mut Input::open(Source::Memory(bytes.into().into())).unwrap()).unwrap()
}

/// A document with these objects, numbered from 1, and this trailer.
fn document(objects: &[&[u8]], trailer: &str) -> Vec<u8> {
    let mut bytes = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n".to_vec();
    let mut table = String::new();
    for (number, object) in (1..).zip(objects) {
        let _ = writeln!(table, "{:010} 00000 n ", bytes.len());
        bytes.extend(format!("{number} 0 obj\n").bytes());
        bytes.extend(*object);
        bytes.extend(b"\nendobj\n");
    }
    let start = bytes.len();
    let count = objects.len() + 1;
    let end = format!(
        "xref\n0 {count}\n0000000000 65535 f \n{table}trailer\n<< /Size {count} {trailer} >>\nstartxref\n{start}\n%%EOF\n"
    );
    bytes.extend(end.bytes());
    bytes
}

fn with_title(title: &[u8]) -> Vec<u8> {
    let info = [b"<< /Producer (x) /Title ", title, b" /Trapped /False >>"].concat();
    document(&[b"<< /Type /Catalog >>", &info], "/Root 1 0 R /Info 2 0 R")
}

fn with_xmp(dictionary: &str, packet: &str) -> Vec<u8> {
    let metadata =
        format!("<< /Type /Metadata /Subtype /XML {dictionary} /Length 9 >>\nstream\n{packet}\nendstream");
    document(&[b"<< /Type /Catalog /Metadata 2 0 R >>", metadata.as_bytes()], "/Root 1 0 R")
}

#[test]
fn every_encoding_of_a_string_is_read() {
    for (written, title) in [
        (&b"(Annual report)"[..], "Annual report"),
        (b"(Bal\\(an\\)ced (and nested) \\\\ back)", "Bal(an)ced (and nested) \\ back"),
        (b"(Caf\\351 \\2050 d\\\n'or\\r\\nnext)", "Café –0 d'or next"),
        (b"(\x80 \x93ne\x94 \xa0\x1f)", "• ﬁneﬂ €˜"),
        (b"<4142 43 2>", "ABC "),
        (b"(\xfe\xff\0B\0\xe4\x20\x14\xd8\x3d\xde\x00)", "Bä—😀"),
        (b"<FEFF004200E4>", "Bä"),
        (b"(\xff\xfeB\0\xe4\0)", "Bä"),
        (b"(\xef\xbb\xbfB\xc3\xa4r)", "Bär"),
        (b"(\xfe\xff\0\x1b\0e\0n\0\x1b\0A)", "A"),
        (b"(  many \t words\n)", "many words"),
    ] {
        assert_eq!(
            title_of(with_title(written)).as_deref(),
            Some(title.trim_end()),
            "{}",
            written.escape_ascii()
        );
    }
}

#[test]
fn a_title_that_says_nothing_is_none() {
    for written in [&b"()"[..], b"<>", b"( \\n )", b"(Untitled)", b"(\xfe\xff)", b"/Name", b"12", b"null"] {
        assert_eq!(title_of(with_title(written)), None, "{}", written.escape_ascii());
    }
}

#[test]
fn a_title_may_be_an_object_of_its_own_and_a_name_may_be_escaped() {
    let found = document(&[b"(Apart)", b"<< /T#69tle 1 0 R >>"], "/Info 2 0 R");
    assert_eq!(title_of(found).as_deref(), Some("Apart"));
}

#[test]
fn the_newest_version_of_an_object_counts() {
    let mut bytes = with_title(b"(Old)");
    bytes.extend(b"2 0 obj << /Title (New) >> endobj\n12 0 obj << /Title (Other) >> endobj\n");
    bytes.extend(b"trailer << /Size 13 /Info 2 0 R >>\nstartxref\n0\n%%EOF");
    assert_eq!(title_of(bytes).as_deref(), Some("New"));
}

#[test]
fn a_cross_reference_stream_is_a_trailer() {
    let mut bytes = b"%PDF-1.5\n3 0 obj << /Title (Modern) >> endobj\n".to_vec();
    let start = bytes.len();
    bytes.extend(b"9 0 obj << /Type /XRef /W [1 2 1] /Info 3 0 R /Filter /FlateDecode /Length 4 >> stream\n\0\x01\x02\x03\nendstream endobj\n");
    bytes.extend(format!("startxref\n{start}\n%%EOF").bytes());
    assert_eq!(title_of(bytes).as_deref(), Some("Modern"));
}

#[test]
fn encrypted_and_compressed_documents_have_none() {
    let info: &[u8] = b"<< /Title (\x8a\x12cipher) >>";
    assert_eq!(title_of(document(&[info], "/Info 1 0 R /Encrypt 5 0 R")), None);
    assert_eq!(title_of(document(&[b"<< /Type /ObjStm >>"], "/Info 7 0 R /Root 8 0 R")), None);
    let packed =
        with_xmp("/Filter /FlateDecode", "<dc:title><rdf:Alt><rdf:li>No</rdf:li></rdf:Alt></dc:title>");
    assert_eq!(title_of(packed), None);
}

#[test]
fn metadata_is_read_when_the_dictionary_has_no_title() {
    let packet = "<?xpacket?><x:xmpmeta><dc:title><rdf:Alt><rdf:li xml:lang=\"de\">Obst &amp; mehr</rdf:li>\
                  <rdf:li xml:lang=\"x-default\">Fruit &amp; more é</rdf:li></rdf:Alt></dc:title></x:xmpmeta>";
    assert_eq!(title_of(with_xmp("", packet)).as_deref(), Some("Fruit & more é"));
    assert_eq!(title_of(with_xmp("", &packet.replace("x-default", "en"))).as_deref(), Some("Obst & mehr"));
    assert_eq!(title_of(with_xmp("", "<dc:title></dc:title>")), None);
    assert_eq!(title_of(with_xmp("", "<dc:title><rdf:li>")), None);
}

#[test]
fn words_are_found_across_the_pieces_that_are_read() {
    for filler in CHUNK - 40..CHUNK + 8 {
        let mut bytes = b"%PDF-1.7\n".to_vec();
        bytes.resize(filler, b' ');
        bytes.extend(b"2 0 obj << /Title (Split) >> endobj trailer << /Info 2 0 R >>");
        assert_eq!(title_of(bytes).as_deref(), Some("Split"), "{filler}");
    }
}

#[test]
fn hostile_documents_are_only_without_a_title() {
    let deep = format!("trailer << /Info {} >>", "<< /a ".repeat(100_000));
    let arrays = format!("trailer << /Info {} >>", "[".repeat(100_000));
    let own = document(&[b"1 0 R", b"<< /Title 2 0 R >>"], "/Info 2 0 R /Root 1 0 R");
    let many = "trailer << /Info 1 0 R >> 1 0 obj << /Title ( ".repeat(50_000);
    for bytes in [
        deep.into_bytes(),
        arrays.into_bytes(),
        own,
        many.into_bytes(),
        b"startxref 99999999999999999999999".to_vec(),
    ] {
        assert_eq!(title_of(bytes), None);
    }
    assert_eq!(title_of(b"startxref 18446744073709551615".to_vec()), None);
}

proptest! {
    #[test]
    fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        title_of(bytes);
    }

    #[test]
    fn any_string_and_any_dictionary_are_survived(
        text in proptest::collection::vec(prop_oneof![any::<u8>(), Just(b'('), Just(b')'), Just(b'\\'), Just(b'<'), Just(b'>')], 0..80)
    ) {
        title_of(with_title(&[b"(", &text[..], b")"].concat()));
        title_of(with_title(&[b"<", &text[..], b">"].concat()));
        title_of(with_title(&text));
    }

    #[test]
    fn a_document_with_one_changed_byte_is_survived(at in any::<proptest::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = with_title(b"(\xfe\xff\0A\0B)");
        let at = at.index(bytes.len());
        bytes[at] = byte;
        title_of(bytes);
    }
}
