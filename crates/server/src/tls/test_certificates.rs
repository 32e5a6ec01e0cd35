//! Self-signed certificates for tests.

use std::path::Path;

#[derive(Debug)]
pub(crate) struct TestCertificate {
    pub(crate) chain: String,
    pub(crate) key: String,
}

impl TestCertificate {
    pub(crate) fn new(names: &[&str]) -> Self {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let made = rcgen::generate_simple_self_signed(names).unwrap();
        Self { chain: made.cert.pem(), key: made.signing_key.serialize_pem() }
    }

    /// Chain and key in one text, as they are stored.
    pub(crate) fn both(&self) -> Vec<u8> {
        format!("{}{}", self.chain, self.key).into_bytes()
    }
}

/// Writes `cert.pem` and `key.pem`.
pub(crate) fn write(dir: &Path, certificate: &TestCertificate) {
    std::fs::write(dir.join("cert.pem"), &certificate.chain).unwrap();
    std::fs::write(dir.join("key.pem"), &certificate.key).unwrap();
}
