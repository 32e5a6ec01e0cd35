//! Webhooks: endpoints of owners, the events that are written for them with every change, and their delivery.

mod deliveries;
mod delivery;
mod endpoints;
mod events;
mod expiring;
mod in_flight;
mod listen;

pub use deliveries::{DeliveryList, DeliveryQuery};
pub(crate) use delivery::WebhookCounters;
pub use delivery::WebhookCounts;
pub use endpoints::{NewWebhook, WebhookChange, WebhookWithSecret};
pub use listen::ListenedEvent;

use futures_util::future::BoxFuture;

/// The settings of `[webhooks]`.
#[derive(Debug, Clone, Copy)]
pub struct WebhookSettings {
    /// Endpoints of one account.
    pub endpoints: i64,
    /// Deliveries that may wait for one endpoint; further events are counted as missed.
    pub waiting: i64,
    /// How long finished deliveries are kept, in seconds.
    pub kept: i64,
    /// Deliveries sent at the same time by this node.
    pub parallel: usize,
    /// How long before its expiry a page is announced, in seconds.
    pub expiring: i64,
    /// Receivers on this machine, over http and on any port.
    pub allow_loopback: bool,
}

/// A signed message to an endpoint.
#[derive(Debug, Clone)]
pub struct WebhookMessage {
    pub url: String,
    pub id: String,
    /// Epoch seconds.
    pub timestamp: i64,
    pub signature: String,
    pub body: String,
}

/// Sends messages. Keeps the network out of the operations.
pub trait WebhookTransport: Send + Sync + std::fmt::Debug + 'static {
    /// The status that the receiver answered with, or why there is none, in words that its owner may read.
    fn send<'a>(&'a self, message: &'a WebhookMessage) -> BoxFuture<'a, Result<u16, String>>;
}
