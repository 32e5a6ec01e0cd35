//! The Host header: only names from the configuration have a face, and a label never holds a dot.
#![no_main]

use dropleaf_core::host::{Face, Hosts, Origin};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|raw: &str| {
    let Some(base) = Origin::parse("http://localhost:8080") else { return };
    let Some(site) = Origin::parse("https://pages.example.net") else { return };
    let hosts = Hosts::new(base, site, "pages.example.net".into(), true);
    match hosts.face(raw) {
        Face::Isolated(label) | Face::Slug(label) => {
            assert!(!label.is_empty() && !label.contains('.'));
            assert!(raw.to_ascii_lowercase().contains(".pages.example.net"));
        }
        Face::Pages => assert!(raw.to_ascii_lowercase().starts_with("pages.example.net")),
        Face::Api { .. } => assert!(raw.contains("8080")),
        // There is no such door in these settings.
        Face::Agents => unreachable!("{raw}"),
        Face::Unknown => {}
    }
    let _ = Origin::parse(raw);
});
