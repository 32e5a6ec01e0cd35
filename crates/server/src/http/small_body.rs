//! Reads short bodies with a size and time limit: forms, and what scripts and programs send in their place.

use bytes::Bytes;
use dropleaf_core::{Code, Error};
use http_body::Body;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use std::time::Duration;

/// Maximum size of our forms: the longest is a comment with its anchor.
pub(super) const FORM_BYTES: usize = 64 * 1024;
const PATIENCE: Duration = Duration::from_secs(10);

/// The whole body, if it is at most `limit` bytes long and arrives in time.
pub(super) async fn read<B>(body: B, limit: usize) -> Result<Bytes, Error>
where
    B: Body,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    match tokio::time::timeout(PATIENCE, Limited::new(body, limit).collect()).await {
        Ok(Ok(whole)) => Ok(whole.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            Err(Error::new(Code::TooLarge, format!("The body can be at most {limit} bytes.")))
        }
        Ok(Err(_)) => Err(Error::new(Code::InvalidRequest, "The request body ended early.")),
        Err(_) => Err(Error::plain(Code::RequestTimeout)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body as Sent;
    use futures_util::stream;

    #[tokio::test]
    async fn a_body_within_its_limit_is_read_whole() {
        assert_eq!(read(Sent::from("abc"), 3).await.unwrap(), "abc");
        assert_eq!(read(Sent::from("abcd"), 3).await.unwrap_err().code, Code::TooLarge);
    }

    #[tokio::test]
    async fn a_body_that_breaks_off_is_no_body() {
        let pieces: [Result<&str, &str>; 2] = [Ok("a"), Err("gone")];
        let broken = Sent::from_stream(stream::iter(pieces));
        assert_eq!(read(broken, 9).await.unwrap_err().code, Code::InvalidRequest);
    }
}
