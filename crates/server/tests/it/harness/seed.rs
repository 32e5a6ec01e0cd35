//! Repeatable randomness: each minter of a test has a seed made from the name of the test and from how many there were before.

use dropleaf_core::{Minter, secret};
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

/// How many minters each thread has made. A test runs in the thread that has its name.
static MADE: LazyLock<Mutex<HashMap<String, u64>>> = LazyLock::new(Mutex::default);

/// A minter whose values no other minter of this process makes, and which makes the same ones in every run.
pub(crate) fn minter() -> Minter {
    minter_for("")
}

/// The same for a process that shares a database with another: `part` says which of them it is.
pub(crate) fn minter_for(part: &str) -> Minter {
    let name = std::thread::current().name().unwrap_or_default().to_owned();
    let mut made = MADE.lock().unwrap();
    let count = made.entry(name.clone()).or_default();
    *count += 1;
    let digest = secret::hash(&format!("{name}\n{part}\n{count}"));
    let (seed, _) = digest.split_first_chunk().unwrap();
    Minter::seeded(u64::from_be_bytes(*seed))
}
