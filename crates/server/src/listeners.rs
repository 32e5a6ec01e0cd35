//! The sockets that the server listens on: `listen`, and with TLS also `tls.listen` and `tls.http_listen`.

use crate::config::{Config, Listen, Resolved};
use crate::http::readiness::Readiness;
use crate::metrics::Metrics;
use crate::tls::{Redirect, ServedCertificates, TlsHandshake};
use crate::wire::Protocol;
use anyhow::{Context, Result};
use dropleaf_app::TlsMode;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use tokio::net::TcpListener;

#[derive(Debug)]
pub struct Listeners {
    main: Vec<TcpListener>,
    /// Empty: `main` speaks HTTPS if that is on.
    https: Vec<TcpListener>,
    redirect: Vec<TcpListener>,
}

impl Listeners {
    pub async fn bind(config: &Config) -> Result<Self> {
        let optional = async |address: &str, key: &str| match address {
            "" => Ok(Vec::new()),
            address => bind(&Listen::parse(address).with_context(|| format!("in `{key}`"))?).await,
        };
        Ok(Self {
            main: bind(&Listen::parse(&config.listen).context("in `listen`")?).await?,
            https: optional(&config.tls.listen, "tls.listen").await?,
            redirect: optional(&config.tls.http_listen, "tls.http_listen").await?,
        })
    }

    /// The port that clients connect to.
    pub fn public_port(&self) -> Result<u16> {
        let listener = self.https.first().or(self.main.first());
        Ok(listener.context("no address to listen on")?.local_addr()?.port())
    }

    /// Each listener, and whether it speaks plain HTTP.
    pub(crate) fn all(&self, tls_mode: TlsMode) -> impl Iterator<Item = (&TcpListener, bool)> {
        let is_main_plain = tls_mode == TlsMode::Off || !self.https.is_empty();
        let main = self.main.iter().map(move |listener| (listener, is_main_plain));
        let https = self.https.iter().map(|listener| (listener, false));
        main.chain(https).chain(self.redirect.iter().map(|listener| (listener, true)))
    }

    /// Each listener with what it speaks.
    pub(crate) fn protocols(
        self,
        readiness: &Arc<Readiness>,
        resolved: &Resolved,
        certificates: Option<&Arc<ServedCertificates>>,
        metrics: &Arc<Metrics>,
    ) -> Vec<(TcpListener, Protocol)> {
        let Self { main, https, redirect } = self;
        let Some(certificates) = certificates else {
            return main.into_iter().map(|listener| (listener, Protocol::Http)).collect();
        };
        let encrypted = Protocol::Https(TlsHandshake::new(Arc::clone(certificates), Arc::clone(metrics)));
        let of_main = if https.is_empty() { encrypted.clone() } else { Protocol::Http };
        let redirects =
            Protocol::Redirect(Arc::new(Redirect::new(readiness, &resolved.hosts, certificates, metrics)));
        [(main, of_main), (https, encrypted), (redirect, redirects)]
            .into_iter()
            .flat_map(|(listeners, protocol)| listeners.into_iter().map(move |it| (it, protocol.clone())))
            .collect()
    }
}

/// Listens on an address; on both loopback addresses for `localhost`.
pub async fn bind(listen: &Listen) -> Result<Vec<TcpListener>> {
    let open = async |ip: IpAddr, port: u16| -> Result<TcpListener> {
        let addr = SocketAddr::new(ip, port);
        let socket =
            if ip.is_ipv4() { tokio::net::TcpSocket::new_v4()? } else { tokio::net::TcpSocket::new_v6()? };
        socket.set_reuseaddr(true)?;
        socket.bind(addr).with_context(|| format!("cannot listen on {addr}; is another server running?"))?;
        Ok(socket.listen(4096)?)
    };
    if listen.host == "localhost" {
        let v4 = open(Ipv4Addr::LOCALHOST.into(), listen.port).await?;
        let port = v4.local_addr()?.port();
        // A machine without IPv6 serves only IPv4.
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
