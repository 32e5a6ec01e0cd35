//! Endpoints that get events, and the deliveries to them.

use super::event::EventType;
use super::url::WebhookUrl;
use crate::{Error, Result};

/// How an endpoint gets its events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndpointKind {
    /// The server sends them to an address.
    Url,
    /// A program asks for them: `dropleaf webhooks listen`.
    Listen,
}

impl EndpointKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Url => "url",
            Self::Listen => "listen",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        [Self::Url, Self::Listen].into_iter().find(|kind| kind.as_str() == text)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndpointState {
    Enabled,
    /// By its owner.
    Disabled,
    /// By the server, because deliveries failed for days or the receiver said that it is gone.
    Failed,
    /// By a restore from a backup: the original server may still send the same events.
    Restored,
}

impl EndpointState {
    pub const ALL: [Self; 4] = [Self::Enabled, Self::Disabled, Self::Failed, Self::Restored];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Enabled => "enabled",
            Self::Disabled => "disabled",
            Self::Failed => "failed",
            Self::Restored => "restored",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }
}

/// Which events an endpoint gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventFilter {
    All,
    Only(Vec<EventType>),
}

impl EventFilter {
    /// From the names of an owner; `*` means all. An empty list is refused: it could mean all events or none.
    pub fn from_names(names: &[String]) -> Result<Self> {
        if names.is_empty() {
            return Err(Error::field(
                "events",
                "must name at least one event type. Send [\"*\"] to get all of them",
            ));
        }
        if names.iter().any(|name| name == "*") {
            return Ok(Self::All);
        }
        let mut events = Vec::new();
        for name in names {
            let known = || EventType::ALL.iter().map(|event| event.as_str()).collect::<Vec<_>>().join(", ");
            let event = EventType::parse(name).ok_or_else(|| {
                Error::field("events", format!("must be a list of event types: {}", known()))
            })?;
            if !events.contains(&event) {
                events.push(event);
            }
        }
        Ok(Self::Only(events))
    }

    pub fn names(&self) -> Vec<&'static str> {
        match self {
            Self::All => vec!["*"],
            Self::Only(events) => events.iter().map(|event| event.as_str()).collect(),
        }
    }

    /// The stored form: `*`, or the names, each between commas, so that [`EventFilter::pattern`] finds one.
    pub fn stored(&self) -> String {
        match self {
            Self::All => "*".to_owned(),
            Self::Only(_) => format!(",{},", self.names().join(",")),
        }
    }

    /// An event type that this version does not know is left out.
    pub fn parse_stored(text: &str) -> Self {
        if text == "*" {
            return Self::All;
        }
        Self::Only(text.split(',').filter_map(EventType::parse).collect())
    }

    /// What a stored filter is `LIKE` if it names this event.
    pub fn pattern(event: EventType) -> String {
        format!("%,{},%", event.as_str())
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    pub id: String,
    pub account_id: String,
    /// The OAuth grant of the program that created it; it gets nothing when the grant has ended.
    pub grant_id: Option<String>,
    /// Only events of this page.
    pub site_id: Option<String>,
    pub kind: EndpointKind,
    /// None for an endpoint of a listening program.
    pub url: Option<WebhookUrl>,
    pub description: String,
    pub events: EventFilter,
    pub state: EndpointState,
    /// Deliveries that wait.
    pub waiting: i64,
    /// Events that were left out because too many deliveries waited.
    pub missed: i64,
    /// The first of the failed attempts since the last success.
    pub failing_since: Option<i64>,
    pub last_success_at: Option<i64>,
    /// Until when the previous secret signs too.
    pub previous_until: Option<i64>,
    pub created_at: i64,
    /// When a listening program's endpoint ends.
    pub expires_at: Option<i64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryState {
    /// To be sent, for the first time or again.
    Waiting,
    Delivered,
    /// Given up. The owner can retry it.
    Dead,
}

impl DeliveryState {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Delivered => "delivered",
            Self::Dead => "dead",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        [Self::Waiting, Self::Delivered, Self::Dead].into_iter().find(|state| state.as_str() == text)
    }
}

/// One event for one endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// The id of the message, the same at every attempt.
    pub id: String,
    pub endpoint_id: String,
    pub account_id: String,
    /// The page whose events are sent in order; empty for others.
    pub site_id: String,
    /// The position among the events of the endpoint.
    pub seq: i64,
    /// The name of the event's type.
    pub event_type: String,
    pub body: String,
    pub state: DeliveryState,
    pub attempts: i64,
    /// [`super::NEVER`] if it waits for an earlier one.
    pub next_attempt_at: i64,
    pub created_at: i64,
    pub last_attempt_at: Option<i64>,
    /// The last status of the receiver.
    pub status: Option<i64>,
    /// Why the last attempt failed, in our words.
    pub error: Option<String>,
}

/// Checks the description of an endpoint.
pub fn description(text: Option<&str>) -> Result<String> {
    let text = text.unwrap_or_default().trim();
    if text.chars().count() > 100 || text.chars().any(char::is_control) {
        return Err(Error::field(
            "description",
            "must be at most 100 characters, without control characters",
        ));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_filter_is_stored_and_read_back() {
        for filter in [
            EventFilter::All,
            EventFilter::from_names(&names(&["site.burnt"])).unwrap(),
            EventFilter::from_names(&names(&["site.taken_down", "feedback.created"])).unwrap(),
        ] {
            assert_eq!(EventFilter::parse_stored(&filter.stored()), filter);
        }
        assert!(EventFilter::from_names(&[]).is_err());
        assert_eq!(EventFilter::from_names(&names(&["*"])).unwrap(), EventFilter::All);
        assert_eq!(EventFilter::from_names(&names(&["site.burnt", "*"])).unwrap(), EventFilter::All);
        assert!(EventFilter::from_names(&names(&["site.born"])).is_err());
        let twice = EventFilter::from_names(&names(&["site.burnt", "site.burnt"])).unwrap();
        assert_eq!(twice.stored(), ",site.burnt,");
        assert_eq!(EventFilter::pattern(EventType::SiteBurnt), "%,site.burnt,%");
        assert_eq!(EventFilter::parse_stored(",site.born,site.burnt,"), twice);
    }

    #[test]
    fn states_have_one_name() {
        for state in EndpointState::ALL {
            assert_eq!(EndpointState::parse(state.as_str()), Some(state));
        }
        for state in [DeliveryState::Waiting, DeliveryState::Delivered, DeliveryState::Dead] {
            assert_eq!(DeliveryState::parse(state.as_str()), Some(state));
        }
        for kind in [EndpointKind::Url, EndpointKind::Listen] {
            assert_eq!(EndpointKind::parse(kind.as_str()), Some(kind));
        }
    }

    #[test]
    fn a_description_is_short() {
        assert_eq!(description(Some(" build bot ")).unwrap(), "build bot");
        assert_eq!(description(None).unwrap(), "");
        assert!(description(Some(&"x".repeat(101))).is_err() && description(Some("a\nb")).is_err());
    }
}
