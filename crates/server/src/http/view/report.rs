//! Reporting a page to the operator of the server. Decisions §6.3.

use super::scene::Scene;
use crate::http::OutBody;
use dropleaf_core::Error;
use http::Response;
use hyper::body::Incoming;

pub(super) async fn answer(_scene: &Scene<'_>, _body: Incoming) -> Result<Response<OutBody>, Error> {
    Err(super::ours::missing())
}
