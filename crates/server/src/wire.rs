//! The wire: accepting, TLS, HTTP/1.1 and HTTP/2 on one port, limits on connections, and a graceful end for each.

use crate::aside::Aside;
use crate::config::Config;
use crate::http::{Door, HEAD_READ_BYTES};
use crate::pulse::{Pulse, Silence};
use crate::tasks::Tasks;
use crate::tended::Tended;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;

/// Everything a connection needs.
pub(crate) struct Wire {
    door: Arc<Door>,
    tls: Option<TlsAcceptor>,
    builder: auto::Builder<TokioExecutor>,
    places: Arc<Semaphore>,
    header_time: Duration,
    idle: Duration,
    tasks: Tasks,
}

/// Why a connection is ended from this side.
enum End {
    /// The server stops.
    Stopping,
    Silent(Silence),
}

impl Wire {
    pub(crate) fn new(config: &Config, door: Arc<Door>, tls: Option<TlsAcceptor>, tasks: Tasks) -> Self {
        let limits = &config.limits;
        let header_time = Duration::from_secs(limits.header_seconds.max(1));
        let idle = Duration::from_secs(limits.idle_seconds.max(1));
        let mut builder = auto::Builder::new(TokioExecutor::new());
        // hyper reads at most 100 headers by itself. Asking it to gather pipelined answers would make it copy every
        // body, and to time headers would set a timer for every request: the pulse does that with two stores.
        builder.http1().header_read_timeout(None).max_buf_size(HEAD_READ_BYTES);
        builder
            .http2()
            .timer(TokioTimer::new())
            .max_concurrent_streams(100)
            .max_header_list_size(u32::try_from(HEAD_READ_BYTES).unwrap_or(u32::MAX))
            .max_pending_accept_reset_streams(Some(20))
            .max_local_error_reset_streams(Some(100))
            .keep_alive_interval(Some(idle))
            .keep_alive_timeout(header_time);
        let places = Arc::new(Semaphore::new(limits.connections.max(1)));
        Self { door, tls, builder, places, header_time, idle, tasks }
    }

    pub(crate) async fn accept(self: Arc<Self>, listener: TcpListener) {
        loop {
            let place = tokio::select! {
                () = self.tasks.stopping.cancelled() => return,
                place = Arc::clone(&self.places).acquire_owned() => place,
            };
            let Ok(place) = place else { return };
            let accepted = tokio::select! {
                () = self.tasks.stopping.cancelled() => return,
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok((stream, peer)) => {
                    let wire = Arc::clone(&self);
                    self.tasks.spawn(async move {
                        wire.door.metrics.connections.inc();
                        wire.connection(stream, peer).await;
                        wire.door.metrics.connections.dec();
                        drop(place);
                    });
                }
                Err(error) => {
                    // Out of files or memory: wait a moment instead of spinning, connections will end.
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        }
    }

    async fn connection(&self, stream: TcpStream, peer: SocketAddr) {
        // Answers are written whole; waiting to fill packets only delays them.
        let _ = stream.set_nodelay(true);
        match &self.tls {
            None => self.serve(&self.builder, stream, peer).await,
            Some(tls) => match tokio::time::timeout(self.header_time, tls.accept(stream)).await {
                Ok(Ok(stream)) => {
                    let http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
                    let builder = if http2 {
                        self.builder.clone().http2_only()
                    } else {
                        self.builder.clone().http1_only()
                    };
                    self.serve(&builder, stream, peer).await;
                }
                Ok(Err(error)) => tracing::debug!(%error, "a TLS handshake failed"),
                Err(_) => tracing::debug!("a TLS handshake took too long"),
            },
        }
    }

    async fn serve(
        &self,
        builder: &auto::Builder<TokioExecutor>,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        peer: SocketAddr,
    ) {
        let door = Arc::clone(&self.door);
        let pulse = Pulse::new();
        let beat = Arc::clone(&pulse);
        let service = service_fn(move |request: http::Request<_>| {
            let (door, busy) = (Arc::clone(&door), beat.begin(request.version()));
            async move {
                let response = door.answer(request, peer).await;
                drop(busy);
                Ok::<_, Infallible>(response)
            }
        });
        let stream = Tended::new(stream, Arc::clone(&pulse));
        let connection = builder.serve_connection(TokioIo::new(stream), service);
        tokio::pin!(connection);
        let mut end = Aside::new(async {
            tokio::select! {
                () = self.tasks.stopping.cancelled() => End::Stopping,
                silence = pulse.stopped(self.header_time, self.idle) => End::Silent(silence),
            }
        });
        let outcome = tokio::select! {
            biased;
            outcome = connection.as_mut() => outcome,
            end = &mut end => match end {
                // Nothing was asked, so nothing is owed an answer; hyper would wait for the rest of the headers.
                End::Silent(Silence::FromTheStart) => return,
                End::Stopping if pulse.is_untouched() => return,
                End::Silent(Silence::Since) | End::Stopping => {
                    connection.as_mut().graceful_shutdown();
                    // What is still being sent may take as long as it goes on; one that has stopped reading may not.
                    tokio::select! {
                        outcome = connection => outcome,
                        () = pulse.stalled(self.idle) => return,
                    }
                }
            },
        };
        if let Err(error) = outcome {
            tracing::debug!(%error, "a connection ended early");
        }
    }
}

impl std::fmt::Debug for Wire {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wire").finish_non_exhaustive()
    }
}
