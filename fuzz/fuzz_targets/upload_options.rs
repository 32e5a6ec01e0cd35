//! Parses the form fields of an upload: any names and values, no panic, and accepted values are within their limits.
#![no_main]

use dropleaf_core::options::UploadOptions;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|fields: Vec<(String, String)>| {
    let known = ["slug", "password", "expires_in_hours", "burn_after_read", "e2e", "title", "visibility", "email_gate_domain"];
    let named = fields.iter().enumerate().map(|(at, (name, value))| {
        // Every other field gets a known name, so that values are tried too.
        (if at % 2 == 0 { known[name.len() % known.len()] } else { name.as_str() }, value.as_str())
    });
    if let Ok(options) = UploadOptions::parse(named) {
        assert!(options.password.is_none_or(|password| (1..=1024).contains(&password.len())));
        assert!(options.title.is_none_or(|title| (1..=200).contains(&title.chars().count())));
        assert!(options.slug.is_none_or(|slug| (3..=63).contains(&slug.as_str().len())));
    }
});
