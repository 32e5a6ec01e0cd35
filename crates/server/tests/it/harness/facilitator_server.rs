//! Serves the fake facilitator over HTTP on loopback.

use super::{Call, FakeFacilitator, NOW};
use dropleaf_core::{Clock, ManualClock};
use std::ops::Deref;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// Stops when it is dropped.
#[derive(Debug)]
pub(crate) struct FacilitatorServer {
    fake: FakeFacilitator,
    port: u16,
    _accepting: JoinSet<()>,
}

impl Deref for FacilitatorServer {
    type Target = FakeFacilitator;

    fn deref(&self) -> &FakeFacilitator {
        &self.fake
    }
}

impl FacilitatorServer {
    /// For nodes whose clock is fixed at [`NOW`].
    pub(crate) async fn start() -> Self {
        Self::start_with(Arc::new(ManualClock::at(NOW))).await
    }

    pub(crate) async fn start_with(clock: Arc<dyn Clock>) -> Self {
        Self::serve(FakeFacilitator::new(clock)).await
    }

    pub(crate) async fn serve(fake: FakeFacilitator) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (served, mut accepting) = (fake.clone(), JoinSet::new());
        accepting.spawn(async move {
            let mut open = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                open.spawn(talk(stream, served.clone()));
            }
        });
        Self { fake, port, _accepting: accepting }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

/// Handles one request on one connection.
async fn talk(mut stream: TcpStream, fake: FakeFacilitator) {
    let Some((path, body)) = read(&mut stream).await else { return };
    let call = match path.as_str() {
        "/supported" => Call::Supported,
        "/verify" => Call::Verify,
        "/settle" => Call::Settle,
        other => panic!("a facilitator has no {other}"),
    };
    match fake.answer(call, &body).await {
        Ok((status, text)) => {
            let head = format!(
                "HTTP/1.1 {status} x\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                text.len()
            );
            // The client may have disconnected.
            let _ = stream.write_all(format!("{head}{text}").as_bytes()).await;
        }
        Err("hangs") => std::future::pending().await,
        Err(_) => {}
    }
}

async fn read(stream: &mut TcpStream) -> Option<(String, String)> {
    let mut bytes = Vec::new();
    loop {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().unwrap())
        });
        if body.len() >= length.unwrap_or(0) {
            return Some((head.split(' ').nth(1)?.to_owned(), body.to_owned()));
        }
    }
}
