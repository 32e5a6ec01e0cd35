//! Enforces a minimum transfer rate for request bodies: an upload may take long, but not stall.

use bytes::Bytes;
use dropleaf_core::{Code, Error};
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use std::time::Duration;
use tokio::time::Instant;

/// Time before the rate is enforced.
const GRACE: Duration = Duration::from_secs(10);

/// Upper bound for the time earned by sending fast, so that a client cannot hold a large body for hours by sending the
/// rest slowly.
const AHEAD: Duration = Duration::from_mins(1);

/// Passes a body on while it arrives at this rate or faster; otherwise ends it with an error.
pub(super) fn paced(
    body: axum::body::Body,
    bytes_per_second: u64,
) -> BoxStream<'static, Result<Bytes, Error>> {
    let until = Instant::now() + GRACE;
    let pieces = body.into_data_stream();
    futures_util::stream::unfold((pieces, until, false), move |(mut pieces, until, ended)| async move {
        if ended {
            return None;
        }
        match tokio::time::timeout_at(until, pieces.next()).await {
            Ok(None) => None,
            Ok(Some(Ok(piece))) => {
                // Received bytes extend the deadline.
                let earned = (piece.len() as u64).saturating_mul(1_000_000) / bytes_per_second.max(1);
                let until = (until + Duration::from_micros(earned)).min(Instant::now() + AHEAD);
                Some((Ok(piece), (pieces, until, false)))
            }
            Ok(Some(Err(error))) => {
                let error =
                    Error::new(Code::InvalidRequest, "The request body ended early.").with_source(error);
                Some((Err(error), (pieces, until, true)))
            }
            Err(_) => Some((Err(Error::plain(Code::RequestTimeout)), (pieces, until, true))),
        }
    })
    // Form parsers poll once more after the end.
    .fuse()
    .boxed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;
    use futures_util::stream;
    use std::convert::Infallible;

    /// How long a body is accepted that starts with `first` bytes and continues with one byte every five seconds.
    async fn taken(first: usize, rate: u64) -> Duration {
        let drip = stream::unfold(first, |size| async move {
            if size == 1 {
                tokio::time::sleep(Duration::from_secs(5)).await;
            }
            Some((Ok::<_, Infallible>(Bytes::from(vec![0; size])), 1))
        });
        let start = Instant::now();
        let mut pieces = paced(Body::from_stream(drip), rate);
        while let Some(piece) = pieces.next().await {
            if let Err(error) = piece {
                assert_eq!(error.code, Code::RequestTimeout);
                return start.elapsed();
            }
        }
        panic!("the body has no end");
    }

    #[tokio::test(start_paused = true)]
    async fn what_came_fast_may_not_be_held_for_long() {
        assert!(taken(1, 4096).await < Duration::from_secs(11));
        let middle = taken(40 * 4096, 4096).await;
        assert!((50..52).contains(&middle.as_secs()), "{middle:?}");
        assert!(taken(16 << 20, 4096).await < Duration::from_secs(62));
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_at_the_slowest_rate_may_take_as_long_as_it_needs() {
        let steady = stream::unfold(0, |n| async move {
            tokio::time::sleep(Duration::from_secs(5)).await;
            (n < 1000).then(|| (Ok::<_, Infallible>(Bytes::from(vec![0; 500])), n + 1))
        });
        let pieces = paced(Body::from_stream(steady), 100);
        assert!(pieces.all(|piece| async move { piece.is_ok() }).await);
    }
}
