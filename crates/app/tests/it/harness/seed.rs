//! Repeatable randomness: each minter is seeded with the name of the test and the number of minters before it.

use dropleaf_core::{Minter, secret};
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

/// The number of minters per thread. A test runs in a thread with its name.
static MADE: LazyLock<Mutex<HashMap<String, u64>>> = LazyLock::new(Mutex::default);

/// A minter whose values are unique in this process and the same in every run.
pub(crate) fn minter() -> Minter {
    minter_for("")
}

/// The same for one of several processes that share a database, named by `part`.
pub(crate) fn minter_for(part: &str) -> Minter {
    let name = std::thread::current().name().unwrap_or_default().to_owned();
    let mut made = MADE.lock().unwrap();
    let count = made.entry(name.clone()).or_default();
    *count += 1;
    let digest = secret::hash(&format!("{name}\n{part}\n{count}"));
    let (seed, _) = digest.split_first_chunk().unwrap();
    Minter::seeded(u64::from_be_bytes(*seed))
}
