//! Writes the bytes of a file into a response within the memory budget of its connection: whole from memory if there is
//! room, otherwise in chunks fetched when the client can take them, or streamed from storage.

use super::page_request::PageRequest;
use crate::connection::{Connection, PIECE_BYTES, StreamRoom};
use crate::http::OutBody;
use axum::body::Body;
use bytes::Bytes;
use dropleaf_app::{App, ContentCoding, FileStream, ServedFile};
use dropleaf_core::{Error, Result};
use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt, stream};
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// Memory of an open file.
const OPEN_BYTES: u64 = 16 * 1024;
/// Memory for decompressing a large file: needed once to send it uncompressed, and once to verify it.
const UNPACKING_BYTES: u64 = 768 * 1024;
/// Memory for writing an archive: the compressor and its buffers.
const PACKING_BYTES: u64 = 512 * 1024;
/// Files up to this size were compressed in one block, so that decompression needs memory for the whole.
const PACKED_AT_ONCE_BYTES: u64 = 4 << 20;

/// The whole body of a small file in this coding; None if the connection has no room for it now.
pub(super) async fn whole(
    request: &PageRequest<'_>,
    file: &ServedFile,
    coding: ContentCoding,
) -> Result<Option<Bytes>> {
    let app = &request.dispatcher.app;
    if let Some(body) = app.cached_body(file, coding) {
        return Ok(charge_whole(request.connection, &body.bytes));
    }
    let Some(mut charge) = request.connection.try_charge(file.size_bytes) else { return Ok(None) };
    let bytes = app.file_body(file, coding).await?.bytes.clone();
    charge.shrink_to(bytes.len() as u64);
    Ok(Some(charge.attach(bytes)))
}

/// A body in memory, charged to the connection; None if that has no room for it now.
pub(super) fn charge_whole(connection: &Connection, body: &Bytes) -> Option<Bytes> {
    connection.try_charge(body.len() as u64).map(|charge| charge.attach(body.clone()))
}

/// A range of a small file, uncoded, in chunks: each is copied from memory when it is needed, so the response holds
/// only one, however slowly the client reads.
pub(super) fn in_pieces(request: &PageRequest<'_>, file: &Arc<ServedFile>, part: Range<u64>) -> OutBody {
    let (app, connection) = (Arc::clone(&request.dispatcher.app), Arc::clone(request.connection));
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

async fn piece(app: &App, connection: &Connection, file: &ServedFile, range: &Range<u64>) -> Result<Bytes> {
    let length = range.end - range.start;
    let charge = connection.charge_piece(length).await;
    if let Some(body) = app.cached_body(file, ContentCoding::Identity) {
        return Ok(charge.attach(copy(&body.bytes, range)));
    }
    let loading = connection.load(file.size_bytes).await;
    let body = app.file_body(file, ContentCoding::Identity).await?;
    drop(loading);
    Ok(charge.attach(copy(&body.bytes, range)))
}

fn copy(whole: &Bytes, range: &Range<u64>) -> Bytes {
    let at = |n: u64| usize::try_from(n).unwrap_or(usize::MAX).min(whole.len());
    Bytes::copy_from_slice(&whole[at(range.start)..at(range.end)])
}

/// A file, or a range of it, streamed from storage. Waits until there is room for the memory this needs.
pub(in crate::http) async fn open(
    app: &App,
    connection: &Connection,
    file: &ServedFile,
    range: Option<Range<u64>>,
) -> Result<FileStream> {
    let room = connection.open_stream(OPEN_BYTES + unpacking_bytes(file)).await?;
    let mut part = app.stream_file(file, range).await?;
    part.stream = charged(part.stream, room);
    Ok(part)
}

/// An archive of these files, written while it is sent. Waits until there is room for the memory this needs.
pub(in crate::http) async fn open_archive(
    app: &App,
    connection: &Connection,
    files: Vec<Arc<ServedFile>>,
) -> Result<BoxStream<'static, io::Result<Bytes>>> {
    let largest = files.iter().map(|file| unpacking_bytes(file)).max().unwrap_or_default();
    let room = connection.open_stream(OPEN_BYTES + PACKING_BYTES + largest).await?;
    Ok(charged(app.stream_archive(files), room))
}

pub(super) async fn stream(
    request: &PageRequest<'_>,
    file: &ServedFile,
    range: Option<Range<u64>>,
) -> Result<FileStream> {
    open(&request.dispatcher.app, request.connection, file, range).await
}

/// A file streamed from storage and transformed, which needs `more_bytes` of additional memory.
pub(super) async fn stream_changed<S>(
    request: &PageRequest<'_>,
    file: &ServedFile,
    more_bytes: u64,
    change: impl FnOnce(FileStream) -> S,
) -> Result<BoxStream<'static, io::Result<Bytes>>>
where
    S: stream::Stream<Item = io::Result<Bytes>> + Send + 'static,
{
    let bytes = OPEN_BYTES + unpacking_bytes(file) + more_bytes;
    let room = request.connection.open_stream(bytes).await?;
    let part = request.dispatcher.app.stream_file(file, None).await?;
    Ok(charged(change(part).boxed(), room))
}

/// The stored form of a large file, if it is stored with zstd.
pub(super) async fn stream_zstd(request: &PageRequest<'_>, file: &ServedFile) -> Result<Option<FileStream>> {
    let room = request.connection.open_stream(OPEN_BYTES + UNPACKING_BYTES).await?;
    let Some(mut part) = request.dispatcher.app.stream_file_zstd(file).await? else { return Ok(None) };
    part.stream = charged(part.stream, room);
    Ok(Some(part))
}

fn unpacking_bytes(file: &ServedFile) -> u64 {
    match file.size_bytes {
        _ if !file.is_compressible => 0,
        size if size <= PACKED_AT_ONCE_BYTES => size * 2,
        _ => UNPACKING_BYTES * 2,
    }
}

/// The stream in small chunks; only as many are read ahead as the connection has slots for.
fn charged(
    bytes: BoxStream<'static, io::Result<Bytes>>,
    room: StreamRoom,
) -> BoxStream<'static, io::Result<Bytes>> {
    let most = usize::try_from(PIECE_BYTES).unwrap_or(usize::MAX);
    let pieces = stream::try_unfold((bytes, Bytes::new()), move |(mut bytes, mut rest)| {
        let room = room.clone();
        async move {
            let slot = room.piece_slot().await;
            if rest.is_empty() {
                let Some(next) = bytes.try_next().await? else { return Ok(None) };
                rest = next;
            }
            let piece = rest.split_to(rest.len().min(most));
            Ok(Some((room.attach(slot, piece), (bytes, rest))))
        }
    });
    pieces.boxed()
}
