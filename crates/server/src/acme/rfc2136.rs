//! Sends a dynamic DNS update over TCP and checks the signed response.

use super::dns_update::{self, Change};
use crate::config::Rfc2136Settings;
use anyhow::{Context, Result, ensure};
use sha2::{Digest, Sha256};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Adds or removes a TXT record.
pub(super) async fn change(
    set: &Rfc2136Settings,
    change: Change,
    name: &str,
    value: &str,
    now: i64,
) -> Result<()> {
    // The signature protects the exchange; the ID only has to differ from one update to the next.
    let digest = Sha256::digest(format!("{change:?} {name} {value}"));
    let update =
        dns_update::update(set, change, name, value, u16::from_be_bytes([digest[0], digest[1]]), now)?;
    let response = tokio::time::timeout(set.timeout, exchange(&set.server, &update.message)).await;
    let response = response.with_context(|| format!("the DNS server {} did not respond", set.server))??;
    dns_update::check_response(set, &update, &response)
}

async fn exchange(server: &str, message: &[u8]) -> Result<Vec<u8>> {
    let stream = TcpStream::connect(server).await;
    let mut stream = stream.with_context(|| format!("cannot connect to the DNS server {server}"))?;
    let len = u16::try_from(message.len())?.to_be_bytes();
    stream.write_all(&[&len[..], message].concat()).await?;
    let len = usize::from(stream.read_u16().await?);
    ensure!(len > 0, "the DNS server sent an empty response");
    let mut response = vec![0; len];
    stream.read_exact(&mut response).await?;
    Ok(response)
}
