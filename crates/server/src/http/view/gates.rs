//! The gates of a page: what a viewer has passed, and what is asked of one who has not.

use super::scene::Scene;
use super::share::{self, Shared};
use crate::http::OutBody;
use dropleaf_core::access::{Gate, Passes};
use dropleaf_core::{Code, Error};
use http::Response;
use hyper::body::Incoming;

/// What the request shows.
pub(super) enum Found {
    Passes(Passes),
    /// An answer that comes first, such as the redirect that takes a share token out of the address.
    Answer(Response<OutBody>),
}

pub(super) async fn passes(scene: &Scene<'_>) -> Result<Found, Error> {
    Ok(match share::look(scene).await? {
        Shared::No => Found::Passes(Passes::default()),
        Shared::Opens { email_gate } => Found::Passes(Passes { password: true, email: email_gate }),
        Shared::Redirect(response) => Found::Answer(response),
    })
}

pub(super) async fn ask(_scene: &Scene<'_>, gate: Gate) -> Result<Response<OutBody>, Error> {
    Err(refusal(gate))
}

pub(super) fn refusal(gate: Gate) -> Error {
    Error::plain(match gate {
        Gate::Password => Code::PasswordRequired,
        Gate::Email => Code::EmailRequired,
    })
}

pub(super) async fn submit(_scene: &Scene<'_>, _body: Incoming) -> Result<Response<OutBody>, Error> {
    Err(super::ours::missing())
}
