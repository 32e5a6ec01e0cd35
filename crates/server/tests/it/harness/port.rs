//! Reserves a loopback port for a test: bound without listening, so that no other program takes it while the test's
//! server is stopped, and connections to it are refused.

use std::io::{Error, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use tokio::net::TcpSocket;

/// More than enough: one port in thousands is taken on one address and free on the other.
const TRIES: usize = 100;

#[derive(Debug)]
pub(crate) struct ReservedPort {
    pub(crate) number: u16,
    _v4: TcpSocket,
    /// None without IPv6.
    _v6: Option<TcpSocket>,
}

impl ReservedPort {
    pub(crate) fn new() -> Self {
        for _ in 0..TRIES {
            let v4 = bound(Ipv4Addr::LOCALHOST.into(), 0).unwrap();
            let number = v4.local_addr().unwrap().port();
            let v6 = match bound(Ipv6Addr::LOCALHOST.into(), number) {
                Ok(v6) => Some(v6),
                Err(error) if error.kind() == ErrorKind::AddrInUse => continue,
                Err(_) => None,
            };
            return Self { number, _v4: v4, _v6: v6 };
        }
        panic!("no port is free on both loopback addresses");
    }

    /// An address where nothing listens.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.number)
    }
}

/// Servers bind with the same option; two sockets can share a port while only one of them listens.
fn bound(ip: IpAddr, port: u16) -> Result<TcpSocket, Error> {
    let socket = if ip.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    socket.bind(SocketAddr::new(ip, port))?;
    Ok(socket)
}
