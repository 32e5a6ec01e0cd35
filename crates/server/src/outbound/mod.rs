//! Adapters to the outside: what the server itself asks others for.

mod checker;
mod document;
mod evm_rpc;
mod exchange;
mod facilitator;
#[cfg(test)]
mod stranger;

pub(crate) use checker::RemoteChecker;
pub(crate) use document::{Asker, Fetcher};
pub(crate) use facilitator::RemoteFacilitator;
