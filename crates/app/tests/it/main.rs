//! The operations together, compared with a model of what they should do.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test says what went wrong by failing")]
mod fixture;
mod lifecycle;
mod model;
mod rows;
mod tickets;
