//! Answers while the server waits for its database: `/healthz` as usual, everything else with 503, so that a load balancer
//! uses other nodes. HTTPS is not spoken yet, because certificates may be in the database: such connections are closed.

use crate::http::health;
use crate::listeners::Listeners;
use crate::tasks::Tasks;
use dropleaf_app::TlsMode;
use futures_util::future::join_all;
use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// Connections at a time; the others wait.
const CONNECTIONS: usize = 64;
/// How long one may take, from its first byte to the end of its response.
const LIMIT: Duration = Duration::from_secs(5);
/// The pause after a connection that could not be accepted.
const PAUSE: Duration = Duration::from_millis(50);

/// Runs until it is dropped.
pub(crate) async fn answer(listeners: &Listeners, tls_mode: TlsMode) -> Infallible {
    let (slots, tasks) = (Arc::new(Semaphore::new(CONNECTIONS)), Tasks::default());
    let accepting =
        listeners.all(tls_mode).map(|(listener, is_plain)| accept(listener, is_plain, &slots, &tasks));
    join_all(accepting).await;
    std::future::pending().await
}

async fn accept(listener: &TcpListener, is_plain: bool, slots: &Arc<Semaphore>, tasks: &Tasks) {
    loop {
        let Ok(slot) = Arc::clone(slots).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) if is_plain => tasks.spawn(async move {
                serve(stream).await;
                drop(slot);
            }),
            Ok(_) => {}
            Err(error) => {
                tracing::warn!(%error, "connection not accepted");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

async fn serve(stream: TcpStream) {
    let service = service_fn(|request: Request<Incoming>| {
        let response = health::answer_at_start(request.uri().path());
        std::future::ready(Ok::<_, Infallible>(response))
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(LIMIT).keep_alive(false);
    let connection = builder.serve_connection(TokioIo::new(stream), service);
    if let Ok(Err(error)) = tokio::time::timeout(LIMIT, connection).await {
        tracing::debug!(%error, "connection closed early");
    }
}
