//! The one integration test binary of this crate.

#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod addressing;
mod archives;
mod charsets;
mod disguises;
mod hidden;
mod hostile;
mod kinds;
mod likeness;
mod likeness_short;
mod markdown;
mod phishing;
mod properties;
mod reasons;
mod support;
