//! Tests of the crate's public API: terms are offered, wallets pay them, proofs are tampered with, facilitators respond.

#![expect(clippy::unwrap_used, reason = "a test says what went wrong by failing")]

mod ap2;
mod bad_evm;
mod bad_headers;
mod bad_solana;
mod facilitator;
mod good;
mod mpp;
mod properties;
mod sandbox;
mod terms;
mod world;
