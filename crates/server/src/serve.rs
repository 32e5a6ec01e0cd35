//! The listeners: accepting, TLS, HTTP/1.1 and HTTP/2 on one port, limits on the wire, and a graceful end.

use crate::config::{Config, Layers, Listen, Resolved};
use crate::http::Door;
use crate::metrics::Metrics;
use crate::pulse::Pulse;
use crate::startup;
use crate::tasks::{Every, Tasks};
use crate::tls;
use anyhow::{Context, Result};
use dropleaf_app::App;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;

/// How long requests under way may take to end when the server stops.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server that is up.
#[derive(Debug)]
pub struct Running {
    pub app: Arc<App>,
    pub resolved: Arc<Resolved>,
    pub metrics: Arc<Metrics>,
    /// The operator's new key, when this was the first start.
    pub first_key: Option<String>,
    tasks: Tasks,
}

impl Running {
    /// Stops taking requests, lets those under way end, writes out what is in memory.
    pub async fn stop(self) {
        self.tasks.finish(PATIENCE).await;
        self.app.close().await;
    }
}

/// Binds, opens the storage and starts serving.
pub async fn start(config: Config) -> Result<Running> {
    tls::install_provider();
    raise_file_limit();
    let listeners = bind(&Listen::parse(&config.listen).context("in `listen`")?).await?;
    let port = listeners.first().context("nothing to listen on")?.local_addr()?.port();
    let resolved = Arc::new(config.resolve(port)?);
    let app = Arc::new(startup::open_app(&resolved).await?);
    start_with(resolved, app, listeners).await
}

/// Serves an app that is open already.
pub async fn start_with(
    resolved: Arc<Resolved>,
    app: Arc<App>,
    listeners: Vec<TcpListener>,
) -> Result<Running> {
    let first_key = app.ensure_operator(&resolved.config.operator.email).await?.map(|(_, key)| key);
    let tls = match resolved.config.tls.cert_file.as_str() {
        "" => None,
        cert => Some(tls::acceptor(cert, &resolved.config.tls.key_file)?),
    };
    let metrics = Arc::new(Metrics::default());
    let tasks = Tasks::default();
    let door =
        Arc::new(Door::new(Arc::clone(&app), Arc::clone(&resolved), Arc::clone(&metrics), tasks.clone()));
    let wire = Arc::new(Wire::new(&resolved.config, Arc::clone(&door), tls, tasks.clone()));
    for listener in listeners {
        tasks.spawn(Arc::clone(&wire).accept(listener));
    }
    if !resolved.config.metrics.listen.is_empty() {
        for listener in bind(&Listen::parse(&resolved.config.metrics.listen)?).await? {
            tasks.spawn(crate::http::metrics_page::serve(
                listener,
                Arc::clone(&metrics),
                tasks.stopping.clone(),
            ));
        }
    }
    let every = Every {
        sweep: Duration::from_secs(resolved.config.sweep.every_seconds.max(1)),
        collect: Duration::from_secs(resolved.config.sweep.collect_every_minutes.max(1) * 60),
    };
    tasks.start_all(&app, &metrics, every);
    Ok(Running { app, resolved, metrics, first_key, tasks })
}

/// Runs until the process is told to stop.
pub async fn run(layers: &Layers, config: Config) -> Result<()> {
    for warning in &layers.warnings {
        tracing::warn!("{warning}");
    }
    let running = start(config).await?;
    crate::cli::welcome::print(&running);
    wait_for_signal().await?;
    tracing::info!("stopping: requests under way may end");
    running.stop().await;
    Ok(())
}

async fn wait_for_signal() -> Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut term, mut int) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    tokio::select! { _ = term.recv() => {}, _ = int.recv() => {} }
    Ok(())
}

/// Listens on an address; on both loopback addresses for `localhost`.
pub async fn bind(listen: &Listen) -> Result<Vec<TcpListener>> {
    let open = async |ip: IpAddr, port: u16| -> Result<TcpListener> {
        let addr = SocketAddr::new(ip, port);
        let socket =
            if ip.is_ipv4() { tokio::net::TcpSocket::new_v4()? } else { tokio::net::TcpSocket::new_v6()? };
        socket.set_reuseaddr(true)?;
        socket
            .bind(addr)
            .with_context(|| format!("cannot listen on {addr}; is another server running there?"))?;
        Ok(socket.listen(4096)?)
    };
    if listen.host == "localhost" {
        let v4 = open(Ipv4Addr::LOCALHOST.into(), listen.port).await?;
        let port = v4.local_addr()?.port();
        // A machine without IPv6 serves IPv4 alone.
        let v6 = open(Ipv6Addr::LOCALHOST.into(), port).await.ok();
        return Ok([Some(v4), v6].into_iter().flatten().collect());
    }
    if let Ok(ip) = listen.host.parse() {
        return Ok(vec![open(ip, listen.port).await?]);
    }
    let mut listeners = Vec::new();
    for addr in tokio::net::lookup_host((listen.host.as_str(), listen.port))
        .await
        .context("`listen` names no address")?
    {
        listeners.push(open(addr.ip(), addr.port()).await?);
    }
    Ok(listeners)
}

/// One connection needs one file: take as many as the system lets us.
fn raise_file_limit() {
    if let Err(error) = rlimit::increase_nofile_limit(u64::MAX) {
        tracing::debug!(%error, "the limit of open files stays as it is");
    }
}

/// Everything a connection needs.
struct Wire {
    door: Arc<Door>,
    tls: Option<TlsAcceptor>,
    builder: auto::Builder<TokioExecutor>,
    places: Arc<Semaphore>,
    header_time: Duration,
    idle: Duration,
    tasks: Tasks,
}

impl Wire {
    fn new(config: &Config, door: Arc<Door>, tls: Option<TlsAcceptor>, tasks: Tasks) -> Self {
        let limits = &config.limits;
        let header_time = Duration::from_secs(limits.header_seconds.max(1));
        let idle = Duration::from_secs(limits.idle_seconds.max(1));
        let mut builder = auto::Builder::new(TokioExecutor::new());
        // hyper reads at most 100 headers by itself. Asking it to gather pipelined answers would make it copy every body.
        builder.http1().timer(TokioTimer::new()).header_read_timeout(header_time).max_buf_size(32 * 1024);
        builder
            .http2()
            .timer(TokioTimer::new())
            .max_concurrent_streams(100)
            .max_header_list_size(32 * 1024)
            .max_pending_accept_reset_streams(Some(20))
            .max_local_error_reset_streams(Some(100))
            .keep_alive_interval(Some(idle))
            .keep_alive_timeout(header_time);
        let places = Arc::new(Semaphore::new(limits.connections.max(1)));
        Self { door, tls, builder, places, header_time, idle, tasks }
    }

    async fn accept(self: Arc<Self>, listener: TcpListener) {
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
        let service = service_fn(move |request| {
            let (door, busy) = (Arc::clone(&door), beat.begin());
            async move {
                let response = door.answer(request, peer).await;
                drop(busy);
                Ok::<_, Infallible>(response)
            }
        });
        let connection = builder.serve_connection(TokioIo::new(stream), service);
        tokio::pin!(connection);
        let outcome = tokio::select! {
            biased;
            outcome = connection.as_mut() => outcome,
            () = self.tasks.stopping.cancelled() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
            () = pulse.stopped(self.header_time, self.idle) => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
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
