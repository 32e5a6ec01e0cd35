//! Adapters to other servers: everything the server itself requests.

mod checker;
mod dns;
#[cfg(test)]
#[expect(dead_code, reason = "the tests of the interface use the rest")]
#[path = "../../tests/it/harness/dns_server.rs"]
mod dns_server;
#[cfg(test)]
mod dns_tests;
mod document;
mod evm_rpc;
mod exchange;
mod facilitator;
mod json_rpc;
#[cfg(test)]
mod payment_sample;
#[cfg(test)]
mod scripted_server;
mod solana_rpc;
mod stripe;
mod webhook;
mod webhook_sender;

pub(crate) use checker::RemoteChecker;
pub(crate) use dns::DnsClient;
pub(crate) use document::{Asker, Fetcher};
pub(crate) use facilitator::RemoteFacilitator;
pub(crate) use stripe::StripeApi;
pub(crate) use webhook::Webhook;
pub(crate) use webhook_sender::WebhookSender;
