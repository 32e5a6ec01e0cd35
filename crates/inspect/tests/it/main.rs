//! The one integration test binary of this crate.

#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod api_keys;
mod disguises;
mod harmless;
mod hidden;
mod phishing;
mod reasons;
mod similarity;
mod similarity_short;
mod support;
