//! Pages that end with their first view: who is asked first, who burns by asking, and what is left afterwards.

use super::scene::Scene;
use crate::http::OutBody;
use dropleaf_core::{Code, Error};
use http::Response;
use hyper::body::Incoming;

/// A live page that burns.
pub(super) async fn meet(_scene: &Scene<'_>, _tail: &str) -> Result<Response<OutBody>, Error> {
    Err(Error::plain(Code::RevealRequired))
}

/// A page that is gone; the one who has just burnt it may look again for a moment.
pub(super) async fn gone(
    _scene: &Scene<'_>,
    _tail: Option<&str>,
    code: Code,
) -> Result<Response<OutBody>, Error> {
    Err(Error::plain(code))
}

pub(super) async fn reveal(_scene: &Scene<'_>, _body: Incoming) -> Result<Response<OutBody>, Error> {
    Err(super::ours::missing())
}
