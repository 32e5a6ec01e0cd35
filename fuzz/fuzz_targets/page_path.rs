//! Decodes the path below a page's root: the result never climbs, and is unchanged when encoded and decoded again.
#![no_main]

use dropleaf_core::path;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|raw: &str| {
    if let Some(name) = path::decode(raw) {
        assert!(!name.split('/').any(|segment| segment == "." || segment == ".."));
        assert!(!name.bytes().any(|b| b < 0x20 || b == b'\\'));
        assert_eq!(path::decode(&path::encode(&name)).as_deref(), Some(&*name));
    }
});
