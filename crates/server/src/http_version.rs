//! The versions of HTTP that a connection may speak, and hyper's settings for each.

use crate::http::HEAD_READ_BYTES;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use hyper_util::server::conn::auto;
use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HttpVersion {
    /// Known from the first bytes.
    Any,
    Http1,
    Http2,
}

#[derive(Debug)]
pub(crate) struct Builders {
    any: auto::Builder<TokioExecutor>,
    http1: auto::Builder<TokioExecutor>,
    http2: auto::Builder<TokioExecutor>,
}

impl Builders {
    pub(crate) fn new(header_time: Duration, idle: Duration) -> Self {
        let mut any = auto::Builder::new(TokioExecutor::new());
        // hyper limits requests to 100 headers by default. Letting it flush pipelined responses together would copy every
        // body, and its header timeout would set a timer for every request: `connection_activity` does that with two stores.
        any.http1().header_read_timeout(None).max_buf_size(HEAD_READ_BYTES);
        any.http2()
            .timer(TokioTimer::new())
            .max_concurrent_streams(100)
            .max_header_list_size(u32::try_from(HEAD_READ_BYTES).unwrap_or(u32::MAX))
            .max_pending_accept_reset_streams(Some(20))
            .max_local_error_reset_streams(Some(100))
            .keep_alive_interval(Some(idle))
            .keep_alive_timeout(header_time);
        Self { http1: any.clone().http1_only(), http2: any.clone().http2_only(), any }
    }

    pub(crate) const fn of(&self, version: HttpVersion) -> &auto::Builder<TokioExecutor> {
        match version {
            HttpVersion::Any => &self.any,
            HttpVersion::Http1 => &self.http1,
            HttpVersion::Http2 => &self.http2,
        }
    }
}
