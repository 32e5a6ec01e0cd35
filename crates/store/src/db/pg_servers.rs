//! The servers that a URL of PostgreSQL names, and how to connect to one of them.
//!
//! The driver limits only the time until a connection is open. A server that is paused accepts connections and says nothing, so
//! each address has its own limit for everything up to the first query; otherwise the next address would never be tried.

use std::net::IpAddr;
use std::time::Duration;

use deadpool_postgres::Connect;
use futures_util::future::BoxFuture;
use tokio::task::JoinHandle;
use tokio_postgres::config::Host;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Config, Connection, Error, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::pg_pool::{self, CONNECT, CONNECT_ANY};
use super::{DbError, pg_tls};

type Stream = <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream;

#[derive(Clone)]
pub(super) struct Servers {
    /// One for each, in the order of the URL.
    configs: Vec<Config>,
    tls: MakeRustlsConnect,
}

impl Servers {
    pub(super) fn parse(url: &str) -> Result<Self, DbError> {
        let configs = each_server(url).iter().map(|url| configure(url)).collect::<Result<Vec<_>, _>>()?;
        let first =
            configs.first().ok_or_else(|| DbError::internal("not a PostgreSQL URL: it names no server"))?;
        let tls = pg_tls::connector(first.get_ssl_mode())?;
        Ok(Self { configs, tls })
    }

    /// How long connecting may take altogether: each server has its turn.
    pub(super) fn limit(&self) -> Duration {
        CONNECT_ANY.max(self.configs.iter().map(attempt_limit).sum::<Duration>() + CONNECT)
    }

    /// Connects to the first server that answers and is of the kind that the URL asks for.
    pub(super) async fn open(&self) -> Result<(Client, Connection<Socket, Stream>), Error> {
        let mut last = None;
        for config in &self.configs {
            match tokio::time::timeout(attempt_limit(config), config.connect(self.tls.clone())).await {
                Ok(Ok(opened)) => return Ok(opened),
                Ok(Err(error)) => last = Some(error),
                Err(_) => {}
            }
        }
        match (last, self.configs.last()) {
            (Some(error), _) => Err(error),
            // None has answered at all: the caller's limit ends this attempt.
            (None, Some(config)) => config.connect(self.tls.clone()).await,
            (None, None) => Config::new().connect(self.tls.clone()).await,
        }
    }
}

impl Connect for Servers {
    fn connect(&self, _: &Config) -> BoxFuture<'_, Result<(Client, JoinHandle<()>), Error>> {
        Box::pin(async move {
            let (client, connection) = self.open().await?;
            #[expect(
                clippy::disallowed_methods,
                reason = "it ends with its connection, which the pool closes"
            )]
            let driver = tokio::spawn(async move {
                if let Err(error) = connection.await {
                    tracing::debug!(%error, "connection to PostgreSQL ended");
                }
            });
            Ok((client, driver))
        })
    }
}

/// The limit of one attempt. A name may have two addresses, and a URL that is not taken apart names several servers.
fn attempt_limit(config: &Config) -> Duration {
    let is_address = |host: &Host| matches!(host, Host::Tcp(name) if name.parse::<IpAddr>().is_ok());
    let addresses = match config.get_hostaddrs() {
        [] => config.get_hosts().iter().map(|host| if is_address(host) { 1 } else { 2 }).sum(),
        given => given.len(),
    };
    CONNECT * u32::try_from(addresses).unwrap_or(u32::MAX).max(1)
}

fn configure(url: &str) -> Result<Config, DbError> {
    let mut config: Config =
        url.parse().map_err(|error| DbError::internal(format!("not a PostgreSQL URL: {error}")))?;
    pg_pool::configure(&mut config);
    if config.get_application_name().is_none() {
        config.application_name("dropleaf");
    }
    Ok(config)
}

/// The same URL once for each of its servers. One whose parameters concern all servers together stays as it is.
fn each_server(url: &str) -> Vec<String> {
    let Some((scheme, rest)) = url.split_once("://") else { return vec![url.to_owned()] };
    // The user and the password end at the first @, as the driver reads them; they may contain any other character.
    let (user, rest) = rest.split_once('@').map_or(("", rest), |(user, rest)| (user, rest));
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (hosts, tail) = rest.split_at(end);
    let parameters = tail.split_once('?').map_or("", |(_, parameters)| parameters).split('&');
    let mut names = parameters.map(|parameter| parameter.split('=').next().unwrap_or_default());
    if names.any(|name| ["host", "hostaddr", "port", "load_balance_hosts"].contains(&name)) {
        return vec![url.to_owned()];
    }
    let at = if user.is_empty() { "" } else { "@" };
    hosts.split(',').map(|host| format!("{scheme}://{user}{at}{host}{tail}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_server_keeps_the_rest_of_the_url() {
        let url = "postgres://me:p%40ss@a:1,b,[::1]:3/db?target_session_attrs=read-write";
        let tail = "/db?target_session_attrs=read-write";
        let expected = ["a:1", "b", "[::1]:3"].map(|host| format!("postgres://me:p%40ss@{host}{tail}"));
        assert_eq!(each_server(url), expected);
        let odd = ["a", "b"].map(|host| format!("postgres://me:a,b/c@{host}/db"));
        assert_eq!(each_server("postgres://me:a,b/c@a,b/db"), odd);
        for whole in [
            "postgres://localhost",
            "postgres:///db?host=/run",
            "postgres://a,b/db?hostaddr=127.0.0.1,127.0.0.2",
            "postgres://a,b/db?connect_timeout=3&port=1,2",
            "postgres://a,b/db?load_balance_hosts=random",
        ] {
            assert_eq!(each_server(whole), [whole]);
            assert!(Servers::parse(whole).is_ok(), "{whole}");
        }
        assert_eq!(Servers::parse(url).map(|servers| servers.configs.len()).ok(), Some(3));
    }
}
