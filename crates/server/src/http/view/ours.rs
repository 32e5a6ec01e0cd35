//! The addresses below `_dropleaf/` of a page: its gates, its reveal, feedback, reports. Decisions §1.4.

use super::scene::Scene;
use super::{burn, email_gate, feedback, gates, report};
use crate::http::OutBody;
use dropleaf_core::{Code, Error};
use http::Response;
use hyper::body::Incoming;

pub(super) async fn answer(
    scene: &Scene<'_>,
    name: &str,
    body: Incoming,
) -> Result<Response<OutBody>, Error> {
    match name {
        "gate" => gates::submit(scene, body).await,
        "code" => email_gate::submit(scene, body).await,
        "reveal" => burn::reveal(scene, body).await,
        "feedback" => feedback::answer(scene, body).await,
        "toolbar.js" => feedback::toolbar(scene),
        "report" => report::answer(scene, body).await,
        _ => Err(missing()),
    }
}

pub(super) fn missing() -> Error {
    Error::new(Code::NotFound, "There is nothing at this address.")
}
