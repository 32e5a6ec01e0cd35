//! Charges API responses to the memory budget of their connection until the client has received them: whole responses,
//! and the events of event streams, with which MCP tools answer. Streamed files do this themselves.

use super::OutBody;
use super::error::{self, Wants};
use crate::connection::Connection;
use crate::tasks::Tasks;
use axum::body::Body;
use bytes::Bytes;
use dropleaf_core::Error;
use futures_util::{StreamExt, stream};
use http::{HeaderMap, Response};
use http_body::Body as _;
use http_body_util::BodyExt;
use std::sync::Arc;
use tokio::sync::mpsc;

/// Charges a response. The response to a safe request is refused if its network has no room left; the response to a
/// write is always sent.
pub(super) async fn charge(
    response: Response<Body>,
    connection: &Connection,
    is_safe: bool,
) -> Response<OutBody> {
    let Some(length) = response.body().size_hint().exact().filter(|length| *length > 0) else {
        return response.map(OutBody::Boxed);
    };
    let charge = if is_safe {
        match connection.charge_made(length).await {
            Ok(charge) => charge,
            Err(refusal) => return error::respond(&refusal, Wants::Json),
        }
    } else {
        connection.try_charge(length).unwrap_or_else(|| connection.overdraw(length))
    };
    let (head, body) = response.into_parts();
    match body.collect().await {
        Ok(whole) => Response::from_parts(head, charge.attach(whole.to_bytes()).into()),
        Err(error) => error::respond(&Error::internal(error), Wants::of(&HeaderMap::new())),
    }
}

/// Charges each event of an event stream. The stream ends early if there is no room for an event. Events are read as
/// they come: if they were read only when the client takes them, they would be buffered elsewhere without being
/// charged.
pub(super) fn charge_events(body: Body, connection: &Arc<Connection>, tasks: &Tasks) -> OutBody {
    let (sender, receiver) = mpsc::channel(1);
    let connection = Arc::clone(connection);
    tasks.spawn(async move {
        let mut events = body.into_data_stream();
        loop {
            let event = tokio::select! {
                event = events.next() => event,
                () = sender.closed() => return,
            };
            let charged = match event {
                Some(Ok(event)) => charge_event(&connection, event).await,
                Some(Err(error)) => Err(error),
                None => return,
            };
            let is_last = charged.is_err();
            if sender.send(charged).await.is_err() || is_last {
                return;
            }
        }
    });
    let events = stream::unfold(receiver, |mut receiver| async {
        receiver.recv().await.map(|event| (event, receiver))
    });
    OutBody::Boxed(Body::from_stream(events))
}

async fn charge_event(connection: &Connection, event: Bytes) -> Result<Bytes, axum::Error> {
    let charge = connection.charge_made(event.len() as u64).await.map_err(axum::Error::new)?;
    Ok(charge.attach(event))
}
