//! Parses the Host header: only configured names are recognized, and a label never contains a dot.
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
        // This configuration has no such host.
        Face::Agents => unreachable!("{raw}"),
        Face::Unknown => {}
    }
    let _ = Origin::parse(raw);
});
