//! Serves `/metrics` on a separate listener that should not be public.

use crate::metrics::Metrics;
use axum::Router;
use axum::routing::get;
use http::header;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

pub async fn serve(listener: TcpListener, metrics: Arc<Metrics>, stopping: CancellationToken) {
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    let router = Router::new()
        .route("/metrics", get(async move || ([(header::CONTENT_TYPE, kind)], metrics.render())));
    if let Err(error) = axum::serve(listener, router).with_graceful_shutdown(stopping.cancelled_owned()).await
    {
        tracing::warn!(%error, "metrics listener stopped");
    }
}
