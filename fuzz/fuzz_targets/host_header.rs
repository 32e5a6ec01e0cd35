//! Parses the Host header: only configured names are recognized, and a label never contains a dot.
#![no_main]

use dropleaf_core::host::{HostRole, Hosts, Origin};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|raw: &str| {
    let Some(base) = Origin::parse("http://localhost:8080") else { return };
    let Some(site) = Origin::parse("https://pages.example.net") else { return };
    let hosts = Hosts::new(base, site, "pages.example.net".into(), true);
    match hosts.role_of(raw) {
        HostRole::Isolated(label) | HostRole::Slug(label) => {
            assert!(!label.is_empty() && !label.contains('.'));
            assert!(raw.to_ascii_lowercase().contains(".pages.example.net"));
        }
        HostRole::Pages => assert!(raw.to_ascii_lowercase().starts_with("pages.example.net")),
        HostRole::Api { .. } => assert!(raw.contains("8080")),
        // This configuration has no such host.
        HostRole::Agents => unreachable!("{raw}"),
        HostRole::Unknown => {}
    }
    let _ = Origin::parse(raw);
});
