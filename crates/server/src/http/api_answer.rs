//! Charges the answers of the API to their connection until the client has taken them. Streams charge themselves.

use super::OutBody;
use super::error::{self, Wants};
use crate::connection::Connection;
use axum::body::Body;
use dropleaf_core::{Code, Error};
use http::{HeaderMap, Response};
use http_body::Body as _;
use http_body_util::BodyExt;

/// When an answer that found no room is worth asking for again.
const RETRY_SECONDS: i64 = 5;

/// The same answer, charged. What was only read is refused when the network holds all that it may; what something was done
/// for is always told.
pub(super) async fn charge(
    response: Response<Body>,
    connection: &Connection,
    is_safe: bool,
) -> Response<OutBody> {
    let Some(length) = response.body().size_hint().exact().filter(|length| *length > 0) else {
        return response.map(OutBody::Boxed);
    };
    let charge = match connection.try_charge(length) {
        Some(charge) => charge,
        None if is_safe => return no_room(),
        None => connection.overdraw(length),
    };
    let (head, body) = response.into_parts();
    match body.collect().await {
        Ok(whole) => Response::from_parts(head, charge.attach(whole.to_bytes()).into()),
        Err(error) => error::respond(&Error::internal(error), Wants::of(&HeaderMap::new())),
    }
}

fn no_room() -> Response<OutBody> {
    let detail = "Your network has too many answers that it has not read; read them, and ask again.";
    let error = Error::new(Code::Overloaded, detail).retry_after(RETRY_SECONDS);
    error::respond(&error, Wants::Json)
}
