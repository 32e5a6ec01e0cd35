//! Webhooks: the events that are sent to an owner's program, how messages are signed and when they are sent again. Follows
//! Standard Webhooks. Sending and storing them is left to others.

use crate::rate::Rate;

mod endpoint;
mod event;
mod retry;
mod signature;
mod url;

pub use endpoint::{
    Delivery, DeliveryState, Endpoint, EndpointKind, EndpointState, EventFilter, description,
};
pub use event::{Event, EventType, Subject};
pub use retry::{AttemptResult, NextStep, after_attempt, is_given_up};
pub use signature::{SECRET_PREFIX, Secret, TOLERANCE_SECONDS, signature_header, verify};
pub use url::WebhookUrl;

/// The most endpoints that an account can have; a server may allow fewer.
pub const MOST_ENDPOINTS: i64 = 100;
/// How long the previous secret signs too after a rotation, in seconds.
pub const ROTATION_SECONDS: i64 = 86_400;
/// How long an endpoint of `dropleaf webhooks listen` exists after it was last asked for events, in seconds.
pub const LISTEN_SECONDS: i64 = 600;
/// The `next_attempt_at` of a delivery that waits for an earlier one of the same page.
pub const NEVER: i64 = i64::MAX;
/// Test events that one account may request.
pub const TESTS: Rate = Rate { name: "webhook_tests", limit: 20, window_seconds: 60 };
