//! The events and their payloads. A payload has ids and counts only: no content, comments, tokens, links or addresses of
//! people.

use crate::iso;
use std::fmt::Write;

macro_rules! event_types {
    ($($variant:ident = $name:literal : $meaning:literal;)*) => {
        /// What happened.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum EventType { $(#[doc = $meaning] $variant,)* }

        impl EventType {
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The `type` of the payload.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// What it means, in one sentence.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning,)* }
            }
        }
    };
}

event_types! {
    SiteFirstViewed = "site.first_viewed": "A page was viewed for the first time.";
    FeedbackCreated = "feedback.created": "A viewer left a comment.";
    FeedbackReplied = "feedback.replied": "A comment got a reply.";
    FeedbackResolved = "feedback.resolved": "A comment was resolved.";
    FeedbackReopened = "feedback.reopened": "A resolved comment was reopened.";
    SiteExpiring = "site.expiring": "A page expires soon.";
    SiteExpired = "site.expired": "A page has expired.";
    SiteBurnt = "site.burnt": "The only view of a burn-after-read page was used.";
    SiteTakenDown = "site.taken_down": "An operator took a page down.";
    DomainLapsed = "domain.lapsed": "A custom domain stopped working.";
    PaymentReceived = "payment.received": "A payment of the account was fulfilled.";
    WebhookTest = "webhook.test": "Sent on request, to try an endpoint.";
}

impl EventType {
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|event| event.as_str() == text)
    }
}

/// What an event is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject<'a> {
    Site { id: &'a str, expires_at: Option<i64> },
    Feedback { site_id: &'a str, id: &'a str },
    Domain { site_id: &'a str, hostname: &'a str },
    Payment { id: &'a str, item: &'a str },
    Webhook { id: &'a str },
}

impl<'a> Subject<'a> {
    /// The page whose events are sent in order; none for events of the whole account.
    pub const fn site_id(&self) -> Option<&'a str> {
        match self {
            Self::Site { id: site_id, .. }
            | Self::Feedback { site_id, .. }
            | Self::Domain { site_id, .. } => Some(site_id),
            Self::Payment { .. } | Self::Webhook { .. } => None,
        }
    }
}

/// Something that happened to an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event<'a> {
    pub event_type: EventType,
    pub account_id: &'a str,
    pub subject: Subject<'a>,
}

impl Event<'_> {
    /// The JSON body of the message. Everything in it is an id, a host name or a number of ours.
    pub fn payload(&self, now: i64) -> String {
        let mut data = JsonObject::new();
        data.text("account_id", self.account_id);
        match self.subject {
            Subject::Site { id, expires_at } => {
                data.text("site_id", id);
                if let Some(at) = expires_at {
                    data.number("expires_at", at);
                }
            }
            Subject::Feedback { site_id, id } => {
                data.text("site_id", site_id);
                data.text("feedback_id", id);
            }
            Subject::Domain { site_id, hostname } => {
                data.text("site_id", site_id);
                data.text("hostname", hostname);
            }
            Subject::Payment { id, item } => {
                data.text("payment_id", id);
                data.text("item", item);
            }
            Subject::Webhook { id } => data.text("webhook_id", id),
        }
        let mut all = JsonObject::new();
        all.text("type", self.event_type.as_str());
        all.text("timestamp", &iso::format(now));
        all.object("data", data);
        all.finish()
    }
}

/// A JSON object that is written field by field. This crate has no JSON library, and these values need little escaping.
struct JsonObject(String);

impl JsonObject {
    fn new() -> Self {
        Self("{".to_owned())
    }

    fn name(&mut self, name: &str) {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.string(name);
        self.0.push(':');
    }

    fn string(&mut self, text: &str) {
        self.0.push('"');
        for c in text.chars() {
            match c {
                '"' | '\\' => self.0.extend(['\\', c]),
                // Writing to a String cannot fail.
                c if c < ' ' => drop(write!(self.0, "\\u{:04x}", u32::from(c))),
                c => self.0.push(c),
            }
        }
        self.0.push('"');
    }

    fn text(&mut self, name: &str, value: &str) {
        self.name(name);
        self.string(value);
    }

    fn number(&mut self, name: &str, value: i64) {
        self.name(name);
        let _ = write!(self.0, "{value}");
    }

    fn object(&mut self, name: &str, value: Self) {
        self.name(name);
        self.0.push_str(&value.finish());
    }

    fn finish(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_794_706_860;

    fn payload(event_type: EventType, subject: Subject<'_>) -> String {
        Event { event_type, account_id: "acct_1", subject }.payload(NOW)
    }

    #[test]
    fn a_payload_has_a_type_a_time_and_ids() {
        let time = iso::format(NOW);
        assert_eq!(
            payload(EventType::FeedbackCreated, Subject::Feedback { site_id: "site_1", id: "fb_1" }),
            format!(
                r#"{{"type":"feedback.created","timestamp":"{time}","data":{{"account_id":"acct_1","site_id":"site_1","feedback_id":"fb_1"}}}}"#
            )
        );
        let expiring = payload(EventType::SiteExpiring, Subject::Site { id: "s", expires_at: Some(7) });
        assert!(expiring.ends_with(r#""site_id":"s","expires_at":7}}"#), "{expiring}");
    }

    #[test]
    fn texts_are_escaped_even_if_none_should_need_it() {
        let odd = payload(EventType::WebhookTest, Subject::Webhook { id: "a\"\\\n" });
        assert!(odd.ends_with(r#""webhook_id":"a\"\\\u000a"}}"#), "{odd}");
    }

    #[test]
    fn every_type_has_one_name() {
        for event in EventType::ALL {
            assert_eq!(EventType::parse(event.as_str()), Some(*event));
            assert!(event.meaning().ends_with('.'));
        }
        assert_eq!(EventType::parse("site.created"), None);
    }

    #[test]
    fn events_of_a_page_are_in_order_and_those_of_the_account_have_no_page() {
        assert_eq!(Subject::Domain { site_id: "s", hostname: "h" }.site_id(), Some("s"));
        assert_eq!(Subject::Payment { id: "p", item: "topup" }.site_id(), None);
    }
}
