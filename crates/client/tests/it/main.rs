//! The client against a server of a few lines, and the file of keys on a real disk.

#![expect(clippy::unwrap_used, reason = "a test says what went wrong by failing")]

mod calls;
mod credentials;
