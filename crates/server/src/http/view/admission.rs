//! Decides whether a viewer gets the page: redeems tickets and share links, asks for the gates that are not passed yet, and
//! shows the warning before the page.

use super::cookies::is_owner;
use super::page_request::PageRequest;
use super::{gates, owner, share, warning};
use crate::http::OutBody;
use dropleaf_core::access::{self, Access, Passes};
use dropleaf_core::{Error, owner_ticket};
use http::Response;

/// What a request for a live page gets.
pub(super) enum Admission {
    /// The page itself.
    Serve,
    /// The page, if this request may burn it; otherwise the reveal page.
    Reveal,
    /// Another response first, such as a gate or a warning.
    Instead(Response<OutBody>),
}

/// Checks what comes before the page: a ticket of its owner, share links, gates, the warning.
pub(super) async fn admit(request: &PageRequest<'_>, tail: &str) -> Result<Admission, Error> {
    if let Some(found) = owner_ticket::in_query(request.head.uri.query())
        && let Some(response) = Box::pin(owner::redeem_ticket(request, &found)).await?
    {
        return Ok(Admission::Instead(response));
    }
    // Most pages have neither, and skip the cost of both.
    let passes = if request.page.access_rules.is_gated() {
        match Box::pin(gates::passes(request)).await? {
            gates::GateResult::Passes(passes) => passes,
            gates::GateResult::Answer(response) => return Ok(Admission::Instead(response)),
        }
    } else {
        if let Some(response) = share::strip(request)? {
            return Ok(Admission::Instead(response));
        }
        Passes::default()
    };
    match access::decide(&request.page.access_rules, passes, request.dispatcher.app.now()) {
        Access::Serve => Ok(warning::ask_first(request).map_or(Admission::Serve, Admission::Instead)),
        Access::Gone(code) => Err(Error::plain(code)),
        Access::Ask(gate) => gates::ask(request, gate).map(Admission::Instead),
        Access::Reveal if tail.is_empty() && is_owner(request) => {
            Ok(Admission::Instead(owner::preview(request)))
        }
        Access::Reveal => Ok(Admission::Reveal),
    }
}

/// Checks that the viewer has passed every gate; for resources of a page that are not its files.
pub(super) async fn require_inside(request: &PageRequest<'_>) -> Result<(), Error> {
    let passes = match Box::pin(gates::passes(request)).await? {
        gates::GateResult::Passes(passes) => passes,
        gates::GateResult::Answer(_) => Passes::default(),
    };
    match access::decide(&request.page.access_rules, passes, request.dispatcher.app.now()) {
        Access::Serve | Access::Reveal => Ok(()),
        Access::Gone(code) => Err(Error::plain(code)),
        Access::Ask(gate) => Err(gates::refusal(gate)),
    }
}
