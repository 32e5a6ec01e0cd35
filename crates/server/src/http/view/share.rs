//! Share links: `?t=` opens the password gate, and leaves the address at once.

use super::scene::Scene;
use crate::http::OutBody;
use dropleaf_core::Error;
use http::Response;

/// What a share link does for this request.
pub(super) enum Shared {
    /// There is none, or none that is good.
    No,
    Opens {
        email_gate: bool,
    },
    /// To the same address without the token.
    Redirect(Response<OutBody>),
}

pub(super) async fn look(_scene: &Scene<'_>) -> Result<Shared, Error> {
    Ok(Shared::No)
}
