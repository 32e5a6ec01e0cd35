//! Adapters to the outside: what the server itself asks others for.

mod document;

pub(crate) use document::{Asker, Fetcher};
