//! A body that must keep coming: uploads may take long, but not stall.

use bytes::Bytes;
use dropleaf_core::{Code, Error};
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use std::time::Duration;
use tokio::time::Instant;

/// Nobody is called slow before this.
const GRACE: Duration = Duration::from_secs(10);

/// Passes a body on while it arrives at this rate or faster, and ends it with an error otherwise.
pub(super) fn paced(
    body: axum::body::Body,
    bytes_per_second: u64,
) -> BoxStream<'static, Result<Bytes, Error>> {
    let start = Instant::now();
    let pieces = body.into_data_stream();
    futures_util::stream::unfold((pieces, 0_u64, false), move |(mut pieces, so_far, ended)| async move {
        if ended {
            return None;
        }
        // What has arrived has earned this much time, and a grace on top.
        let earned = Duration::from_secs(so_far / bytes_per_second.max(1));
        match tokio::time::timeout_at(start + GRACE + earned, pieces.next()).await {
            Ok(None) => None,
            Ok(Some(Ok(piece))) => {
                let so_far = so_far + piece.len() as u64;
                Some((Ok(piece), (pieces, so_far, false)))
            }
            Ok(Some(Err(error))) => {
                let error =
                    Error::new(Code::InvalidRequest, "The request body ended early.").with_source(error);
                Some((Err(error), (pieces, so_far, true)))
            }
            Err(_) => Some((Err(Error::plain(Code::RequestTimeout)), (pieces, so_far, true))),
        }
    })
    // Readers of forms ask once more after the end.
    .fuse()
    .boxed()
}
