//! Sample content to publish.

use dropleaf_content::hostile::{Archive, Item};

pub(crate) fn page(title: &str) -> String {
    format!("<!doctype html><html><head><title>{title}</title></head><body><h1>{title}</h1></body></html>")
}

pub(crate) fn zip(files: &[(&str, &str)]) -> Vec<u8> {
    let items = files.iter().map(|(name, data)| Item::deflated(name, data.as_bytes()));
    items.fold(Archive::default(), Archive::item).build().bytes
}

/// A minimal PDF.
pub(crate) fn pdf() -> Vec<u8> {
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\n\
      xref\n0 3\n0000000000 65535 f \n0000000009 00000 n \n0000000053 00000 n \ntrailer<</Size 3/Root 1 0 R>>\n\
      startxref\n99\n%%EOF\n"
        .to_vec()
}

/// Incompressible bytes, different for each seed.
pub(crate) fn noise(seed: &str, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    blake3::Hasher::new().update(seed.as_bytes()).finalize_xof().fill(&mut bytes);
    bytes
}
