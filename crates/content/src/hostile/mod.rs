//! Archives that must be refused, each with the expected refusal code. Behind the feature `hostile-corpus`, so that tests of
//! the whole service can send them over HTTP.

mod archive;
mod lies;
mod names;
mod sizes;
mod structure;

pub use archive::{Archive, Built, Item, Local, zip64_field};

use crate::RefusalCode;

/// One hostile archive: what it tries, its bytes, and the code of its refusal.
pub type Case = (String, Vec<u8>, RefusalCode);

/// Every case is a complete archive with a valid `index.html`, except for the one fault it tests.
pub fn corpus() -> Vec<Case> {
    let mut cases = Cases::default();
    names::add(&mut cases);
    lies::add(&mut cases);
    structure::add(&mut cases);
    sizes::add(&mut cases);
    cases.0
}

#[derive(Default)]
struct Cases(Vec<Case>);

impl Cases {
    fn add(&mut self, name: impl Into<String>, bytes: Vec<u8>, code: RefusalCode) {
        self.0.push((name.into(), bytes, code));
    }

    fn invalid(&mut self, name: impl Into<String>, bytes: Vec<u8>) {
        self.add(name, bytes, RefusalCode::InvalidArchive);
    }
}

/// A valid page with one more entry.
fn with(item: Item) -> Vec<u8> {
    Archive::site().item(item).build().bytes
}
