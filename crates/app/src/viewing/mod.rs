//! Serving pages to viewers: page caches, gates, share links, burn-after-read, view counts and feedback.

pub(crate) mod burn;
pub(crate) mod email_gate;
pub(crate) mod feedback;
pub(crate) mod feedback_bulk;
pub(crate) mod feedback_replies;
pub(crate) mod feedback_threads;
pub(crate) mod hash_budget;
pub(crate) mod live_pages;
pub(crate) mod owner_tickets;
pub(crate) mod page_changes;
pub(crate) mod pages;
pub(crate) mod password_gate;
pub(crate) mod password_hasher;
pub(crate) mod share_tokens;
mod shared_guesses;
pub(crate) mod view_counts;
