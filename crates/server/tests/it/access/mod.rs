//! Tests who may open a page: gates, burn after read and share links.

pub(crate) mod burn;
mod burn_erasure;
mod burn_reveal;
pub(crate) mod email_gate;
mod email_gate_mail;
mod gate_cookies;
mod gate_guesses;
pub(crate) mod gates;
mod protections;
mod share_links;
pub(crate) mod share_tokens;
