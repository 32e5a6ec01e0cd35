//! The e-mail gate: an address, a code by mail, a door that opens.

use super::scene::Scene;
use crate::http::OutBody;
use dropleaf_core::Error;
use http::Response;
use hyper::body::Incoming;

pub(super) async fn submit(_scene: &Scene<'_>, _body: Incoming) -> Result<Response<OutBody>, Error> {
    Err(super::ours::missing())
}
