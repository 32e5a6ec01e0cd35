//! Adapters to the outside: what the server itself asks others for.

mod document;
mod evm_rpc;
mod exchange;
mod facilitator;
#[cfg(test)]
mod stranger;

pub(crate) use document::{Asker, Fetcher};
pub(crate) use facilitator::RemoteFacilitator;
