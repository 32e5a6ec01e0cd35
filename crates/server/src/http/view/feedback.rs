//! Feedback of viewers: what they post, what they see of each other, and the toolbar they use.

use super::scene::Scene;
use crate::http::OutBody;
use dropleaf_core::Error;
use http::Response;
use hyper::body::Incoming;

pub(super) async fn answer(_scene: &Scene<'_>, _body: Incoming) -> Result<Response<OutBody>, Error> {
    Err(super::ours::missing())
}

pub(super) fn toolbar(_scene: &Scene<'_>) -> Result<Response<OutBody>, Error> {
    Err(super::ours::missing())
}
