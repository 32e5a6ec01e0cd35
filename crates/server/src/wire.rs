//! Accepts connections: TLS, HTTP/1.1 and HTTP/2 on one port, connection limits, and graceful shutdown of each.

use crate::config::Resolved;
use crate::connection::Connection;
use crate::connection_activity::{ConnectionActivity, Pace, Silence};
use crate::http::{Dispatcher, HEAD_BYTES, HEAD_READ_BYTES, OutBody};
use crate::large_heads::LargeHeads;
use crate::lazy_poll::LazyPoll;
use crate::networks::{CountedConnection, Networks};
use crate::send_budget::SendBudget;
use crate::tasks::Tasks;
use crate::tls::{Encrypted, Redirect, TlsHandshake};
use crate::watched_stream::WatchedStream;
use http::{HeaderValue, Request, Response, Version, header};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use socket2::SockRef;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// How much unsent data the kernel may buffer for a connection. With more, a slow reader would seem to stand still for
/// minutes, and clients that read nothing would fill the kernel's memory. Linux asks for more when half of it is left, so
/// that the slowest allowed pace makes progress in every measured period.
const UNSENT_BYTES: u32 = 32 * 1024;

/// How many connections that wait when the server stops are still accepted: as many as the kernel holds.
const LATE_CONNECTIONS: usize = 4096;
/// How long a connection may be unused before a drain closes it: a request that is on its way should arrive.
const UNUSED: Duration = Duration::from_secs(1);
/// How long bytes that have reached this machine may take to be read when the server stops.
const READ_GRACE: Duration = Duration::from_millis(50);

/// Everything a connection needs.
pub(crate) struct Wire {
    dispatcher: Arc<Dispatcher>,
    builder: auto::Builder<TokioExecutor>,
    slots: Arc<Semaphore>,
    networks: Arc<Networks>,
    large_heads: Arc<LargeHeads>,
    header_time: Duration,
    idle: Duration,
    pace: Pace,
    tasks: Tasks,
}

/// What a listener does with its connections.
#[derive(Debug, Clone)]
pub(crate) enum Protocol {
    Http,
    Https(TlsHandshake),
    /// Plain HTTP that leads to HTTPS.
    Redirect(Arc<Redirect>),
}

/// Answers the requests of a connection.
pub(crate) trait Answerer: Send + Sync + 'static {
    fn answer(
        &self,
        request: Request<Incoming>,
        connection: &Arc<Connection>,
    ) -> impl Future<Output = Response<OutBody>> + Send;
}

/// Where a connection comes from.
struct Client<'a> {
    peer: SocketAddr,
    server_name: Option<Box<str>>,
    counted: &'a CountedConnection,
}

/// Why this side ends a connection.
#[derive(Clone, Copy)]
enum End {
    /// The server is stopping.
    Stopping,
    /// The server will stop, and the connection is not in use.
    Drained,
    Silent(Silence),
    /// The client does not receive its responses.
    Starved,
}

impl Wire {
    pub(crate) fn new(resolved: &Resolved, dispatcher: Arc<Dispatcher>, tasks: Tasks) -> Self {
        let limits = &resolved.config.limits;
        let header_time = Duration::from_secs(limits.header_seconds.max(1));
        let idle = Duration::from_secs(limits.idle_seconds.max(1));
        let mut builder = auto::Builder::new(TokioExecutor::new());
        // hyper limits requests to 100 headers by default. Letting it flush pipelined responses together would copy every
        // body, and its header timeout would set a timer for every request: `connection_activity` does that with two stores.
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
        let slots = Arc::new(Semaphore::new(limits.connections.max(1)));
        let uncapped = [&resolved.trusted_proxies[..], &dispatcher.app.settings().exempt].concat();
        let networks = Networks::new(
            connections_per_network(limits.connections, limits.connections_per_network),
            uncapped,
            SendBudget::new(limits.unsent_bytes),
        );
        // More bytes than are read of a head belong to something else.
        let large_heads = LargeHeads::new(HEAD_BYTES, HEAD_READ_BYTES + HEAD_BYTES);
        let pace = Pace { over: idle, bytes_per_second: limits.download_bytes_per_second };
        Self { dispatcher, builder, slots, networks, large_heads, header_time, idle, pace, tasks }
    }

    /// Accepts connections until the server stops, and then those that wait already: closing the listener would reset them.
    /// All listeners share the limits.
    pub(crate) async fn accept(self: Arc<Self>, listener: TcpListener, protocol: Protocol) {
        let mut late = 0;
        while late < LATE_CONNECTIONS {
            let slot = tokio::select! {
                biased;
                slot = Arc::clone(&self.slots).acquire_owned() => slot,
                () = self.tasks.stopping.cancelled() => return,
            };
            let Ok(slot) = slot else { return };
            let accepted = tokio::select! {
                biased;
                accepted = listener.accept() => accepted,
                () = self.tasks.stopping.cancelled() => return,
            };
            late += usize::from(self.tasks.stopping.is_cancelled());
            match accepted {
                Ok((stream, peer)) => {
                    let Some(counted) = self.networks.count(peer.ip()) else {
                        self.dispatcher.metrics.connections_refused.inc();
                        tracing::debug!(%peer, "connection refused: network limit reached");
                        continue;
                    };
                    let (wire, protocol) = (Arc::clone(&self), protocol.clone());
                    self.tasks.spawn(async move {
                        wire.dispatcher.metrics.connections.inc();
                        wire.connection(stream, peer, &counted, protocol).await;
                        wire.dispatcher.metrics.connections.dec();
                        drop((counted, slot));
                    });
                }
                Err(error) => {
                    // Out of file descriptors or memory: wait a moment instead of spinning; connections will end.
                    tracing::warn!(%error, "connection not accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        }
    }

    async fn connection(
        &self,
        stream: TcpStream,
        peer: SocketAddr,
        counted: &CountedConnection,
        protocol: Protocol,
    ) {
        // Responses are written whole; waiting to fill packets only delays them.
        let _ = stream.set_nodelay(true);
        let _ = SockRef::from(&stream).set_tcp_notsent_lowat(UNSENT_BYTES);
        let client = Client { peer, server_name: None, counted };
        match protocol {
            Protocol::Http => self.serve(&self.builder, false, stream, client, &self.dispatcher).await,
            Protocol::Redirect(redirect) => self.serve(&self.builder, false, stream, client, &redirect).await,
            Protocol::Https(tls) => match tokio::time::timeout(self.header_time, tls.accept(stream)).await {
                Ok(Ok(Some(Encrypted { stream, server_name, is_http2 }))) => {
                    let builder = if is_http2 {
                        self.builder.clone().http2_only()
                    } else {
                        self.builder.clone().http1_only()
                    };
                    let client = Client { server_name, ..client };
                    self.serve(&builder, !is_http2, stream, client, &self.dispatcher).await;
                }
                Ok(Ok(None)) => {}
                Ok(Err(error)) => tracing::debug!(%error, "TLS handshake failed"),
                Err(_) => tracing::debug!("TLS handshake timed out"),
            },
        }
    }

    /// Completes during a drain, once the connection can be shut down.
    async fn unused(&self, activity: &ConnectionActivity) {
        self.tasks.drain.begun().await;
        activity.unused(UNUSED).await;
    }

    async fn serve(
        &self,
        builder: &auto::Builder<TokioExecutor>,
        is_http1: bool,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        client: Client<'_>,
        answerer: &Arc<impl Answerer>,
    ) {
        let Client { peer, server_name, counted } = client;
        let answerer = Arc::clone(answerer);
        let activity = ConnectionActivity::new();
        let request_activity = Arc::clone(&activity);
        let connection = Connection::new(peer, server_name, Arc::clone(&activity), counted.share.clone());
        let drain = Arc::clone(&self.tasks.drain);
        let service = service_fn(move |request: Request<_>| {
            let version = request.version();
            let (answerer, busy) = (Arc::clone(&answerer), request_activity.begin(version));
            let (connection, drain) = (Arc::clone(&connection), Arc::clone(&drain));
            async move {
                let mut response = answerer.answer(request, &connection).await;
                if drain.has_begun() && version < Version::HTTP_2 {
                    // So that the client makes its next request on another connection, and this one ends.
                    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
                }
                drop(busy);
                Ok::<_, Infallible>(response)
            }
        });
        let heads = self.large_heads.meter(counted.large_heads.clone(), is_http1);
        let stream = WatchedStream::new(stream, heads, Arc::clone(&activity));
        let connection = builder.serve_connection(TokioIo::new(stream), service);
        tokio::pin!(connection);
        let mut end = LazyPoll::new(async {
            tokio::select! {
                () = self.tasks.stopping.cancelled() => End::Stopping,
                () = self.unused(&activity) => End::Drained,
                silence = activity.stopped(self.header_time, self.idle) => End::Silent(silence),
                () = activity.starved(self.pace) => End::Starved,
            }
        });
        let outcome = tokio::select! {
            biased;
            outcome = connection.as_mut() => outcome,
            end = &mut end => {
                let finished = match end {
                    // No complete request arrived, so no response is owed; hyper would wait for the rest of the headers.
                    End::Silent(Silence::FromTheStart) | End::Starved => return,
                    // A request that has begun to arrive is answered; hyper would drop it.
                    End::Stopping => tokio::select! {
                        biased;
                        outcome = connection.as_mut() => Some(outcome),
                        () = activity.head_settled(READ_GRACE, self.header_time) => None,
                    },
                    End::Silent(Silence::Since) | End::Drained => None,
                };
                match finished {
                    Some(outcome) => outcome,
                    None if activity.is_untouched() && !activity.is_http2() => return,
                    None => {
                        connection.as_mut().graceful_shutdown();
                        // A response that is being sent may take as long as it makes progress; one that the client has
                        // stopped reading may not. An event stream may be silent until the server stops.
                        let stalled = async {
                            if matches!(end, End::Drained) {
                                self.tasks.stopping.cancelled().await;
                            }
                            activity.stalled(self.pace).await;
                        };
                        tokio::select! {
                            outcome = connection => outcome,
                            () = stalled => return,
                            () = activity.starved(self.pace) => return,
                        }
                    }
                }
            }
        };
        if let Err(error) = outcome {
            tracing::debug!(%error, "connection closed early");
        }
    }
}

/// An eighth of all connections for one network, unless configured otherwise.
fn connections_per_network(all: usize, setting: usize) -> usize {
    let share = (all / 8).max(1);
    if setting == 0 { share } else { setting.min(all) }
}

impl std::fmt::Debug for Wire {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wire").finish_non_exhaustive()
    }
}
