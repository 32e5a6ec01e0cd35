//! Accepts connections: TLS, HTTP/1.1 and HTTP/2 on one port, connection limits, and graceful shutdown of each.

use crate::config::Resolved;
use crate::connection::Connection;
use crate::connection_activity::{ConnectionActivity, Pace, Silence};
use crate::fast_path::{FastPath, FastRequest, FastResponse, Missing};
use crate::http::{Dispatcher, HEAD_BYTES, HEAD_READ_BYTES, OutBody};
use crate::http_version::{Builders, HttpVersion};
use crate::large_heads::LargeHeads;
use crate::lazy_poll::LazyPoll;
use crate::networks::{CountedConnection, Networks};
use crate::replayed_stream::ReplayedStream;
use crate::send_budget::SendBudget;
use crate::tasks::Tasks;
use crate::tls::{Encrypted, Redirect, TlsHandshake};
use crate::watched_stream::WatchedStream;
use bytes::Bytes;
use http::{HeaderValue, Request, Response, Version, header};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use socket2::SockRef;
use std::convert::Infallible;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::Instant;

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
    builders: Builders,
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

    /// Whether it can answer requests without hyper.
    fn has_fast_path(&self) -> bool {
        false
    }

    /// Prepares the response to a request that arrived at this time, if it needs no waiting. Otherwise nothing has happened.
    fn answer_fast(&self, _: &FastRequest<'_>, _: Instant, _: &Connection, _: &mut FastResponse) -> bool {
        false
    }

    /// Reads into memory what was missing there, if that is quick and the connection may use the memory.
    fn load(&self, _: Missing, _: &Connection) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }
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
        let builders = Builders::new(header_time, idle);
        Self { dispatcher, builders, slots, networks, large_heads, header_time, idle, pace, tasks }
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
            Protocol::Http => self.serve(HttpVersion::Any, stream, client, &self.dispatcher).await,
            Protocol::Redirect(redirect) => self.serve(HttpVersion::Any, stream, client, &redirect).await,
            Protocol::Https(tls) => match tokio::time::timeout(self.header_time, tls.accept(stream)).await {
                Ok(Ok(Some(Encrypted { stream, server_name, is_http2 }))) => {
                    let version = if is_http2 { HttpVersion::Http2 } else { HttpVersion::Http1 };
                    let client = Client { server_name, ..client };
                    self.serve(version, stream, client, &self.dispatcher).await;
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
        version: HttpVersion,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        client: Client<'_>,
        answerer: &Arc<impl Answerer>,
    ) {
        let Client { peer, server_name, counted } = client;
        let answerer = Arc::clone(answerer);
        let activity = ConnectionActivity::new();
        let client = Connection::new(peer, server_name, Arc::clone(&activity), counted.share.clone());
        let drain = Arc::clone(&self.tasks.drain);
        let service = service_fn(|request: Request<_>| {
            let version = request.version();
            let (answerer, busy) = (Arc::clone(&answerer), activity.begin(version));
            let (connection, drain) = (Arc::clone(&client), Arc::clone(&drain));
            // Boxed, because hyper keeps space for it between requests, and it is large.
            Box::pin(async move {
                let mut response = answerer.answer(request, &connection).await;
                announce_end(&mut response, drain.has_begun() && version < Version::HTTP_2);
                drop(busy);
                Ok::<_, Infallible>(response)
            })
        });
        let heads = self.large_heads.meter(counted.large_heads.clone(), version == HttpVersion::Http1);
        let mut stream = WatchedStream::new(stream, heads, Arc::clone(&activity));
        let is_closing = AtomicBool::new(false);
        let connection = async {
            let (mut version, mut read, mut answered_fast) = (version, Bytes::new(), None);
            if version != HttpVersion::Http2 && answerer.has_fast_path() {
                let fast_path = FastPath {
                    stream: &mut stream,
                    answerer: &*answerer,
                    connection: &client,
                    activity: &activity,
                    drain: &drain,
                    is_closing: &is_closing,
                };
                let Some(rest) = fast_path.serve().await? else { return Ok(()) };
                // The preface of HTTP/2 is valid only at the start.
                if rest.is_http1 {
                    version = HttpVersion::Http1;
                    answered_fast = Some(activity.requests());
                }
                read = rest.bytes;
            }
            let stream = TokioIo::new(ReplayedStream::new(read, stream));
            // Boxed, so that a connection that only the fast path serves does not have space for it.
            let mut connection = Box::pin(self.builders.of(version).serve_connection(stream, service));
            poll_fn(|cx| {
                let polled = connection.as_mut().poll(cx);
                // Only after the first poll: until then hyper does not know of a request that was handed over.
                if polled.is_pending() && is_closing.swap(false, Ordering::AcqRel) {
                    // All responses are written, and hyper would wait for the rest of a request that has only begun.
                    if answered_fast == Some(activity.requests()) {
                        return Poll::Ready(Ok(()));
                    }
                    connection.as_mut().graceful_shutdown();
                    return connection.as_mut().poll(cx);
                }
                polled
            })
            .await
        };
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
                        is_closing.store(true, Ordering::Release);
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

/// So that the client makes its next request on another connection, and this one ends, if it is to end.
fn announce_end(response: &mut Response<OutBody>, is_ending: bool) {
    if is_ending {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
}
