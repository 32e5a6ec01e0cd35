//! Puts the bytes of a file into an answer within the memory budget of its connection: whole from memory while there is
//! room, else in pieces that are fetched when the client can take them, or streamed from storage.

use super::scene::Scene;
use crate::connection::{Charge, Connection, PIECE_BYTES};
use crate::http::OutBody;
use axum::body::Body;
use bytes::Bytes;
use dropleaf_app::{App, Coding, LiveFile, Part};
use dropleaf_core::{Error, Result};
use futures_util::{StreamExt, TryStreamExt, stream};
use std::ops::Range;
use std::sync::Arc;

/// What an open file takes.
const OPEN_BYTES: u64 = 16 * 1024;
/// What unpacking a large file takes: once to send it, and once to check it.
const UNPACKING_BYTES: u64 = 768 * 1024;
/// Files up to this were packed in one go, so that unpacking needs room for all of it.
const PACKED_AT_ONCE_BYTES: u64 = 4 << 20;

/// The whole body of a small file in this coding; None when the connection has no room for it now.
pub(super) async fn whole(scene: &Scene<'_>, file: &LiveFile, coding: Coding) -> Result<Option<Bytes>> {
    let app = &scene.door.app;
    if let Some(body) = app.cached_body(file, coding) {
        let charge = scene.connection.try_charge(body.bytes.len() as u64);
        return Ok(charge.map(|charge| charge.attach(body.bytes.clone())));
    }
    let Some(mut charge) = scene.connection.try_charge(file.size_bytes) else { return Ok(None) };
    let bytes = app.body(file, coding).await?.bytes.clone();
    charge.shrink_to(bytes.len() as u64);
    Ok(Some(charge.attach(bytes)))
}

/// A part of a small file as it was uploaded, in pieces: each is copied from memory when its turn comes, so that the
/// answer holds no more than that, however slowly it is taken.
pub(super) fn in_pieces(scene: &Scene<'_>, file: &Arc<LiveFile>, part: Range<u64>) -> OutBody {
    let (app, connection) = (Arc::clone(&scene.door.app), Arc::clone(scene.connection));
    let file = Arc::clone(file);
    let pieces = stream::try_unfold(part, move |left| {
        let (app, connection, file) = (Arc::clone(&app), Arc::clone(&connection), Arc::clone(&file));
        async move {
            if left.is_empty() {
                return Ok::<_, Error>(None);
            }
            let next = left.start..left.end.min(left.start + PIECE_BYTES);
            let bytes = piece(&app, &connection, &file, &next).await?;
            Ok(Some((bytes, next.end..left.end)))
        }
    });
    OutBody::Boxed(Body::from_stream(pieces))
}

async fn piece(app: &App, connection: &Connection, file: &LiveFile, range: &Range<u64>) -> Result<Bytes> {
    let length = range.end - range.start;
    let charge = connection.charge_piece(length).await;
    if let Some(body) = app.cached_body(file, Coding::Identity) {
        return Ok(charge.attach(copy(&body.bytes, range)));
    }
    let loading = connection.load(file.size_bytes).await;
    let body = app.body(file, Coding::Identity).await?;
    drop(loading);
    Ok(charge.attach(copy(&body.bytes, range)))
}

fn copy(whole: &Bytes, range: &Range<u64>) -> Bytes {
    let at = |n: u64| usize::try_from(n).unwrap_or(usize::MAX).min(whole.len());
    Bytes::copy_from_slice(&whole[at(range.start)..at(range.end)])
}

/// A file, or a range of it, straight from storage. Waits until there is room for what that takes.
pub(in crate::http) async fn open(
    app: &App,
    connection: &Arc<Connection>,
    file: &LiveFile,
    range: Option<Range<u64>>,
) -> Result<Part> {
    let unpacking = match file.size_bytes {
        _ if !file.is_compressible => 0,
        size if size <= PACKED_AT_ONCE_BYTES => size * 2,
        _ => UNPACKING_BYTES * 2,
    };
    let charge = connection.charge(OPEN_BYTES + unpacking).await;
    Ok(charged(app.stream(file, range).await?, connection, charge))
}

pub(super) async fn stream(scene: &Scene<'_>, file: &LiveFile, range: Option<Range<u64>>) -> Result<Part> {
    open(&scene.door.app, scene.connection, file, range).await
}

/// The stored form of a large file, when it is stored the way the viewer wants it.
pub(super) async fn stream_zstd(scene: &Scene<'_>, file: &LiveFile) -> Result<Option<Part>> {
    let charge = scene.connection.charge(OPEN_BYTES + UNPACKING_BYTES).await;
    let part = scene.door.app.stream_zstd(file).await?;
    Ok(part.map(|part| charged(part, scene.connection, charge)))
}

/// The same stream, which keeps its charge to its end and charges every piece until it is sent.
fn charged(mut part: Part, connection: &Arc<Connection>, charge: Charge) -> Part {
    let connection = Arc::clone(connection);
    let pieces = part.stream.and_then(move |piece| {
        let _kept = &charge;
        let connection = Arc::clone(&connection);
        async move { Ok(connection.charge_piece(piece.len() as u64).await.attach(piece)) }
    });
    part.stream = pieces.boxed();
    part
}
