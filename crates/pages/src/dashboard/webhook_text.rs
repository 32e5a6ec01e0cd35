//! The words of the dashboard for endpoints of webhooks and their deliveries.

use super::badge::Badge;
use crate::moment::Moment;
use dropleaf_core::webhook::{
    Delivery, DeliveryState, Endpoint, EndpointState, EventFilter, NEVER, WebhookUrl,
};

/// The address, or what stands for it.
pub(super) fn name(endpoint: &Endpoint) -> &str {
    endpoint.url.as_ref().map_or("dropleaf webhooks listen", WebhookUrl::as_str)
}

pub(super) fn badge(endpoint: &Endpoint) -> Badge {
    let (tone, text) = match (endpoint.state, endpoint.failing_since) {
        (EndpointState::Enabled, None) => ("good", "Enabled"),
        (EndpointState::Enabled, Some(_)) => ("bad", "Failing"),
        (EndpointState::Disabled, _) => ("", "Paused"),
        (EndpointState::Failed, _) => ("bad", "Disabled after failures"),
        (EndpointState::Restored, _) => ("bad", "Paused: the server was restored from a backup"),
    };
    Badge { tone, text: text.into() }
}

pub(super) fn events(endpoint: &Endpoint) -> String {
    match &endpoint.events {
        EventFilter::All => "All events".to_owned(),
        EventFilter::Only(_) => endpoint.events.names().join(", "),
    }
}

pub(super) fn last_success(endpoint: &Endpoint) -> Option<Moment> {
    endpoint.last_success_at.map(Moment)
}

pub(super) fn delivery_badge(delivery: &Delivery) -> Badge {
    let (tone, text) = match (delivery.state, delivery.attempts) {
        (DeliveryState::Waiting, 0) => ("", "Waiting"),
        (DeliveryState::Waiting, _) => ("", "Retrying"),
        (DeliveryState::Delivered, _) => ("good", "Delivered"),
        (DeliveryState::Dead, _) => ("bad", "Given up"),
    };
    Badge { tone, text: text.into() }
}

/// The button that sends it again.
pub(super) fn retry(delivery: &Delivery) -> &'static str {
    if delivery.state == DeliveryState::Delivered { "Send again" } else { "Retry" }
}

/// When it is sent next, if that is known.
pub(super) fn next_attempt(delivery: &Delivery) -> Option<Moment> {
    let is_due = delivery.state == DeliveryState::Waiting && delivery.next_attempt_at != NEVER;
    is_due.then_some(Moment(delivery.next_attempt_at))
}

pub(super) fn attempts(delivery: &Delivery) -> String {
    if delivery.attempts == 1 { "1 attempt".to_owned() } else { format!("{} attempts", delivery.attempts) }
}
