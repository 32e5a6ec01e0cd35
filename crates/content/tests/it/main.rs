//! The one integration test binary of this crate.

#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod addressing;
mod archives;
mod charsets;
mod hostile;
mod kinds;
mod markdown;
mod properties;
mod support;
