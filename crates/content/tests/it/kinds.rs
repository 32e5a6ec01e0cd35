//! HTML, PDF and ciphertext, from the file name to the bundle.

use bytes::Bytes;
use dropleaf_content::{
    Body, Bundle, BundleKind, Encoding, Limits, Refusal, RefusalCode, ServedAt, Source, Upload, prepare,
};

use crate::support::{as_file, identity, text_of, tree, upload, upload_with};

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
        (BundleKind::Html, "Caf\u{e9} \u{2014} menu", "index.html")
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
    let bundle = upload("a.html", &b"<script src=app.js></script><a href=/x>y</a>"[..]).unwrap();
    assert_eq!(
        bundle.warnings,
        [
            "Missing from the upload: app.js (in a.html). Publish the folder as a .zip with index.html at its root, so that its \
             files are included."
        ]
    );
    let unlisted = ServedAt { own_host: true, slug: false, spa: false };
    assert_eq!(
        bundle.address_warnings.at(unlisted).collect::<Vec<_>>(),
        ["Broken links: /x (in a.html). Publish the pages together as a .zip or correct the links."]
    );
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
        (BundleKind::Pdf, "Annual report", "document.pdf")
    );
    assert_eq!(bundle.files[0].mime, "application/pdf");
    assert_eq!(refused("a.pdf", b"<p>not a pdf"), RefusalCode::InvalidPdf);
    let late = [vec![b' '; 1020], b"%PDF-1.7".to_vec()].concat();
    assert_eq!(upload("a.pdf", late).unwrap_err().code, RefusalCode::InvalidPdf);
}

#[test]
fn data_gets_a_readable_page_and_stays_as_it_was_sent() {
    for (name, bytes, path, part) in [
        ("Harvest 2026.csv", "fruit,crates\nApple,12\n", "Harvest 2026.csv", "<td dir=\"auto\">Apple</td>"),
        ("Notes.txt", "one <b>\ntwo", "Notes.txt", "<pre class=\"plain\">one &lt;b&gt;\ntwo</pre>"),
        ("a.svg", "<svg><rect/></svg>", "a.svg", "<img src=\"a.svg\" alt=\"a\">"),
        ("a.tsv", "a\tb\n1\t2\n", "a.tsv", "<th dir=\"auto\">b</th>"),
        ("a.json", "{\"k\": [1]}", "a.json", "<span class=\"n\">1</span>"),
        (
            "a.ipynb",
            "{\"cells\": [{\"cell_type\": \"markdown\", \"source\": \"# Hi\"}]}",
            "a.ipynb",
            "<h1 id=\"hi\">Hi",
        ),
    ] {
        let bundle = upload(name, bytes).unwrap();
        assert_eq!((bundle.kind, bundle.entry.as_str()), (BundleKind::File, "index.html"));
        let files = tree(&bundle);
        assert_eq!(files[path], bytes.as_bytes());
        let page = String::from_utf8_lossy(&files["index.html"]);
        assert!(
            page.contains(part) && page.contains(&format!("href=\"{}\" download", path.replace(' ', "%20"))),
            "{page}"
        );
    }
    assert_eq!(upload("Harvest 2026.csv", &b"a,b\n"[..]).unwrap().title, "Harvest 2026");
    assert_eq!(refused("a.csv", b"a\0b"), RefusalCode::NotText);
    assert_eq!(refused("a.json", b"\"caf\xe9\""), RefusalCode::NotText);
    let exported = upload("a.csv", &b"caf\xe9;1\n"[..]).unwrap();
    assert!(String::from_utf8_lossy(&tree(&exported)["index.html"]).contains("caf\u{e9}"));
}

#[test]
fn ciphertext_is_kept_verbatim_under_any_name() {
    let sealed: Vec<u8> = (0..60_u32).map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()[1]).collect();
    let bundle = encrypted(&sealed).unwrap();
    assert_eq!((bundle.kind, bundle.title.as_str()), (BundleKind::E2e, "Encrypted page"));
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

#[test]
fn large_data_is_cut_and_says_so() {
    let long = format!("[{}1]", "[1,2,3],\n".repeat(30_000));
    let bundle = upload("large.json", long).unwrap();
    let page = text_of(&bundle, "index.html");
    assert!(page.contains("120,002 values (the first 20,000 values are shown)"), "{}", &page[..4000]);
    let end =
        "<p>100,002 values are not shown. <a href=\"large.json\" download>Download the complete file</a></p>";
    assert!(page.contains(end), "{}", &page[page.len() - 400..]);
    let longer = format!("[{}1]", "[1,2,3],\n".repeat(1_000_000));
    let page = text_of(&upload("large.json", longer).unwrap(), "index.html");
    assert!(page.contains("At least ") && page.contains("The rest of the file is not shown."));
    assert!(!page.contains("<pre class=\"plain\">") && page.len() < 8 << 20);
}

#[test]
fn tables_are_read_by_the_character_that_separates_their_values() {
    for separator in [",", ";", "\t", "|"] {
        let table = "fruit,crates\nApple,12\nPear,7\n".replace(',', separator);
        let page = text_of(&upload("a.csv", table).unwrap(), "index.html");
        assert!(page.contains("2 rows, 2 columns") && page.contains(">Pear</td>"), "{separator}");
    }
}

#[test]
fn a_single_file_keeps_its_name_and_an_archive_has_none() {
    let named = |name: &str, bytes: &[u8]| upload(name, bytes.to_vec()).unwrap().file_name;
    assert_eq!(named("out/report.html", b"<title>a</title>").as_deref(), Some("report.html"));
    assert_eq!(named("notes.md", b"# a").as_deref(), Some("notes.md"));
    assert_eq!(named("paper.pdf", b"%PDF-1.7").as_deref(), Some("paper.pdf"));
    assert_eq!(named("_dropleaf.html", b"<title>a</title>"), None);
    assert_eq!(named("site.zip", &crate::support::zip_of(&[("index.html", "<title>a</title>")])), None);
}

#[test]
fn a_page_of_frames_says_that_the_toolbar_cannot_be_shown() {
    let frames = "<title>a</title><frameset cols='50%,*'><frame src='data:,a'></frameset>";
    assert!(upload("a.html", frames).unwrap().toolbar_warning.unwrap().contains("a.html is a frameset"));
    let zipped = crate::support::zip_of(&[("index.html", "<title>a</title>"), ("old/all.html", frames)]);
    assert!(upload("a.zip", zipped).unwrap().toolbar_warning.unwrap().contains("old/all.html"));
    assert_eq!(
        upload("a.html", "<title>a</title><iframe src='data:,a'></iframe>").unwrap().toolbar_warning,
        None
    );
}
