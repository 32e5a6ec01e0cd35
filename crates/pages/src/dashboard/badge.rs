//! Badges with the most important facts about a page.

use super::figures::span;
use dropleaf_core::site::{Site, State, Visibility};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Badge {
    /// `good`, `bad` or empty.
    pub tone: &'static str,
    pub text: String,
}

fn plain(text: impl Into<String>) -> Badge {
    Badge { tone: "", text: text.into() }
}

/// The label of a page that is no longer live.
pub(super) fn ended(state: State) -> Option<&'static str> {
    match state {
        State::Live => None,
        State::Expired => Some("Expired"),
        State::Deleted => Some("Deleted"),
        State::Burnt => Some("Viewed and deleted"),
        State::TakenDown => Some("Taken down"),
    }
}

pub(super) fn badges(site: &Site, now: i64) -> Vec<Badge> {
    let mut badges = Vec::new();
    if let Some(word) = ended(site.state_at(now)) {
        badges.push(Badge { tone: "bad", text: word.into() });
    }
    badges.push(match site.visibility {
        Visibility::Public => Badge { tone: "good", text: "Public".into() },
        Visibility::Unlisted => plain("Unlisted"),
        Visibility::Burn => plain("View once"),
    });
    badges.extend(site.password_hash.as_ref().map(|_| plain("Password")));
    badges.extend(site.email_gate_domain.as_ref().map(|domain| plain(format!("@{domain} only"))));
    badges.extend(site.e2e.then(|| plain("Encrypted")));
    if let (None, Some(at)) = (ended(site.state_at(now)), site.expires_at) {
        badges.push(plain(format!("Expires in {}", span(at - now))));
    }
    badges
}
