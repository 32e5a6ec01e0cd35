//! Reads any bytes as an archive: no panic, and an accepted archive obeys the rules. The first byte chooses a valid archive to
//! start from, the rest damages it, so that the fuzzer reaches deep rules without computing checksums.

#![no_main]

use std::sync::LazyLock;

use dropleaf_content::hostile::{Archive, Item};
use dropleaf_content::{Limits, Source, Upload, prepare};
use libfuzzer_sys::fuzz_target;

static STARTS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let site = || Archive::site().item(Item::folder("a/"));
    let text = b"text text text text text text";
    vec![
        site().item(Item::stored("a/b.txt", text)).build().bytes,
        site().item(Item::deflated("a/b.css", text)).build().bytes,
        site().item(Item::streamed("a/b.js", text)).build().bytes,
        Archive::default().item(Item::streamed("top/index.html", text)).build().bytes,
        site()
            .item(Item::stored("__MACOSX/._x", text))
            .but(|archive| archive.comment = text.to_vec())
            .build()
            .bytes,
    ]
});

fuzz_target!(|data: &[u8]| {
    check(data.to_vec());
    let Some((&choice, damage)) = data.split_first() else { return };
    let Some(start) = STARTS.get(usize::from(choice) % STARTS.len()) else { return };
    let mut bytes = start.clone();
    for change in damage.chunks_exact(3).take(8) {
        let at = usize::from(u16::from_le_bytes([change[0], change[1]])) % bytes.len();
        bytes[at] = change[2];
    }
    check(bytes);
});

fn check(bytes: Vec<u8>) {
    let limits = Limits::default();
    let source = Source::Memory(bytes.into());
    let upload = Upload { filename: Some("site.zip"), content_type: None, e2e: false, source };
    let Ok(bundle) = prepare(upload, &limits, &std::env::temp_dir()) else { return };
    assert!(bundle.size_bytes <= limits.unpacked_bytes);
    assert!(bundle.files.len() <= limits.files);
    assert!(bundle.files.iter().any(|file| file.path == bundle.entry));
    for file in &bundle.files {
        assert!(!file.path.starts_with('/') && !file.path.contains(['\\', ':', '\0']));
        assert!(!file.path.split('/').any(|part| matches!(part, "" | "." | "..")));
        assert_ne!(file.path.split('/').next().map(str::to_lowercase).as_deref(), Some("_dropleaf"));
    }
    assert!(bundle.files.windows(2).all(|pair| pair[0].path < pair[1].path));
}
