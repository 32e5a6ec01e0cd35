//! Hellos at a steady rate, each for another name that no server has. Counts how they are answered.

use anyhow::{Result, ensure};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpSocket;
use tokio::task::JoinSet;

/// A name that is replaced in the hello, so that only one hello is built.
const MODEL: &str = "unknown-00000000.flood.example";
const DIGITS: usize = 8;
/// Each connection comes from one of these addresses, so that ports do not run out.
const ADDRESSES: usize = 50;
/// A fatal alert with the description `unrecognized_name`.
const UNRECOGNIZED: [u8; 7] = [21, 3, 3, 0, 2, 2, 112];

pub(crate) async fn run(address: SocketAddr, rate: usize, seconds: usize) -> Result<Value> {
    let (hello, at) = hello()?;
    let start = Instant::now();
    let mut open = JoinSet::new();
    let (mut sent, mut refused, mut failed) = (0, 0, 0);
    let total = rate * seconds;
    while sent < total {
        let due = usize::try_from(start.elapsed().as_micros())? * rate / 1_000_000;
        for number in sent..due.min(total) {
            let mut hello = hello.clone();
            hello[at..at + DIGITS].copy_from_slice(format!("{number:0DIGITS$}").as_bytes());
            open.spawn(async move { is_refused(address, number, &hello).await.unwrap_or(false) });
        }
        sent = due.min(total).max(sent);
        while let Some(done) = open.try_join_next() {
            if done? { refused += 1 } else { failed += 1 }
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let took = start.elapsed().as_secs_f64();
    while let Some(done) = open.join_next().await {
        if done? { refused += 1 } else { failed += 1 }
    }
    Ok(json!({ "sent": sent, "seconds": took, "refused": refused, "failed": failed }))
}

/// The bytes of a hello, and where the digits of the name begin.
fn hello() -> Result<(Vec<u8>, usize)> {
    let config = ClientConfig::builder().with_root_certificates(RootCertStore::empty()).with_no_client_auth();
    let mut client = ClientConnection::new(Arc::new(config), ServerName::try_from(MODEL)?)?;
    let mut hello = Vec::new();
    client.write_tls(&mut hello)?;
    let at = hello.windows(MODEL.len()).position(|window| window == MODEL.as_bytes());
    ensure!(at.is_some(), "the hello has no server name");
    Ok((hello, at.unwrap_or_default() + "unknown-".len()))
}

async fn is_refused(address: SocketAddr, number: usize, hello: &[u8]) -> Result<bool> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    let last = u8::try_from(1 + number % ADDRESSES)?;
    socket.bind(([127, 0, 1, last], 0).into())?;
    let mut stream = socket.connect(address).await?;
    stream.write_all(hello).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    Ok(answer == UNRECOGNIZED)
}
