//! HTML, PDF and ciphertext, from the file name to the bundle.

use bytes::Bytes;
use dropleaf_content::{Body, Bundle, Encoding, Kind, Limits, Refusal, RefusalCode, Source, Upload, prepare};

use crate::support::{as_file, identity, tree, upload, upload_with};

fn refused(name: &str, bytes: &'static [u8]) -> RefusalCode {
    upload(name, bytes).unwrap_err().code
}

fn encrypted(bytes: &[u8]) -> Result<Bundle, Refusal> {
    let spool = tempfile::tempdir().unwrap();
    let source = Source::Memory(Bytes::copy_from_slice(bytes));
    let upload = Upload { filename: Some("page.html"), content_type: None, e2e: true, source };
    prepare(upload, &Limits::default(), spool.path())
}

#[test]
fn html_is_stored_verbatim_as_index() {
    let page = "\u{feff}<!DOCTYPE html>\r\n<TITLE>Caf\u{e9}\n&mdash; menu</TITLE>\r\n";
    let bundle = upload("x.htm", page).unwrap();
    assert_eq!(
        (bundle.kind, bundle.title.as_str(), bundle.entry.as_str()),
        (Kind::Html, "Caf\u{e9} \u{2014} menu", "index.html")
    );
    assert_eq!(bundle.files.len(), 1);
    assert_eq!(identity(&bundle.files[0]), page.as_bytes());
    assert_eq!(bundle.files[0].mime, "text/html; charset=utf-8");
    assert_eq!(bundle.size_bytes, page.len() as u64);
}

#[test]
fn html_in_another_charset_is_sent_with_it() {
    assert_eq!(
        upload("x.html", &b"<p>caf\xe9"[..]).unwrap().files[0].mime,
        "text/html; charset=windows-1252"
    );
    let utf16: Vec<u8> = "\u{feff}<p>x".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let bundle = upload("two words.html", utf16).unwrap();
    assert_eq!((bundle.files[0].mime, bundle.title.as_str()), ("text/html; charset=utf-16le", "two words"));
}

#[test]
fn html_without_text_is_refused() {
    assert_eq!(refused("a.html", b""), RefusalCode::EmptyFile);
    assert_eq!(refused("a.html", b" \r\n\t"), RefusalCode::EmptyFile);
    assert_eq!(refused("a.md", b"\n"), RefusalCode::EmptyFile);
    assert_eq!(refused("a.html", b"<p>\0</p>"), RefusalCode::NotText);
    assert_eq!(refused("a.md", b"a\0b"), RefusalCode::NotText);
    assert_eq!(refused("a.md", b"caf\xe9"), RefusalCode::NotText);
}

#[test]
fn a_lone_page_that_needs_files_is_told_to_come_as_a_zip() {
    let warnings = upload("a.html", &b"<script src=app.js></script><a href=/x>y</a>"[..]).unwrap().warnings;
    assert_eq!(warnings.len(), 3, "{warnings:?}");
    assert!(warnings[2].contains(".zip"));
}

#[test]
fn large_html_is_streamed_from_a_file() {
    let page = format!("<title>Long</title>{}", "<p>paragraph &amp; more</p>\n".repeat(300_000));
    let bundle = upload_with("a.html", as_file(page.as_bytes()), &Limits::default()).unwrap();
    assert_eq!(bundle.title, "Long");
    assert!(matches!(bundle.files[0].body, Body::Spooled { encoding: Encoding::Zstd, .. }));
    assert!(identity(&bundle.files[0]) == page.as_bytes());
}

#[test]
fn memory_and_file_give_the_same_bundle() {
    let page = b"<h1>Same</h1>".repeat(200);
    let memory = upload("a.html", page.clone()).unwrap();
    let file = upload_with("a.html", as_file(&page), &Limits::default()).unwrap();
    assert_eq!(memory.files[0].hash, file.files[0].hash);
}

#[test]
fn pdf_is_served_as_itself() {
    let bundle = upload("Annual report.pdf", &b"%PDF-1.7 ..."[..]).unwrap();
    assert_eq!(
        (bundle.kind, bundle.title.as_str(), bundle.entry.as_str()),
        (Kind::Pdf, "Annual report", "document.pdf")
    );
    assert_eq!(bundle.files[0].mime, "application/pdf");
    assert_eq!(refused("a.pdf", b"<p>not a pdf"), RefusalCode::InvalidPdf);
    let late = [vec![b' '; 1020], b"%PDF-1.7".to_vec()].concat();
    assert_eq!(upload("a.pdf", late).unwrap_err().code, RefusalCode::InvalidPdf);
}

#[test]
fn ciphertext_is_kept_verbatim_under_any_name() {
    let sealed: Vec<u8> = (0..60_u32).map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()[1]).collect();
    let bundle = encrypted(&sealed).unwrap();
    assert_eq!((bundle.kind, bundle.title.as_str()), (Kind::E2e, "Encrypted page"));
    let files = tree(&bundle);
    assert_eq!(files["payload.e2e"], sealed);
    assert_eq!(bundle.files[0].mime, "application/octet-stream");
    assert_eq!(
        encrypted(b"IV IV IV IV.ciphertext..and.a.tag").unwrap_err().code,
        RefusalCode::InvalidCiphertext
    );
    assert_eq!(encrypted(b"short").unwrap_err().code, RefusalCode::InvalidCiphertext);
    assert_eq!(encrypted(b"E2E1\x07").unwrap_err().code, RefusalCode::InvalidCiphertext);
    assert_eq!(encrypted(b"").unwrap_err().code, RefusalCode::EmptyFile);
}

#[test]
fn ciphertext_that_begins_like_a_program_is_no_program() {
    for letters in [b"MZ", b"ZM"] {
        let mut sealed: Vec<u8> =
            (0..5000_u32).map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()[1]).collect();
        sealed[..2].copy_from_slice(letters);
        let bundle = encrypted(&sealed).unwrap();
        assert_eq!(bundle.files[0].mime, "application/octet-stream");
    }
    let mut image: Vec<u8> =
        (0..50_000_u32).map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()[1]).collect();
    image[0x8001..0x8006].copy_from_slice(b"CD001");
    assert_eq!(encrypted(&image).unwrap_err().code, RefusalCode::InvalidCiphertext);
}

#[test]
fn the_published_vectors_of_the_frame_are_accepted() {
    let frame: Vec<u8> = [
        b"E2E1\x01\0\0\0\0\x09\x27\xc0".as_slice(),
        &[0xa0; 16],
        &[0xb0; 12],
        b"\x3e\x1d\xce\x37\x43\x3a\xe1\xf5\x67\x3f\xd5\x31\xd0\xdf\xbe\xa6\x64\x56\xf6\x9d\xc9\x38\x4d\x21\x94",
    ]
    .concat();
    assert!(encrypted(frame.leak()).is_ok());
}

#[test]
fn every_kind_has_a_largest_size() {
    let limits = Limits { unpacked_bytes: 10, ..Limits::default() };
    for name in ["a.html", "a.md", "a.pdf"] {
        let refusal = upload_with(name, as_file(b"%PDF-1.7 and more"), &limits).unwrap_err();
        assert_eq!(refusal.code, RefusalCode::TooLarge, "{name}");
    }
}

#[test]
fn a_spool_directory_that_is_gone_is_an_io_refusal() {
    let source = Source::Memory(vec![b'<'; 5 << 20].into());
    let upload = Upload { filename: Some("a.html"), content_type: None, e2e: false, source };
    let refusal =
        prepare(upload, &Limits::default(), std::path::Path::new("/nonexistent/spool")).unwrap_err();
    assert_eq!(refusal.code, RefusalCode::Io);
    assert!(!refusal.is_storage_full());
}
