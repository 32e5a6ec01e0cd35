//! Receives webhooks over HTTP on loopback: records each message, and answers with the status that the test chose.

use super::in_time;
use dropleaf_core::webhook::{Secret, verify};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinSet;

/// One request.
#[derive(Debug, Clone)]
pub(crate) struct ReceivedMessage {
    head: String,
    pub(crate) body: String,
}

impl ReceivedMessage {
    pub(crate) fn header(&self, name: &str) -> &str {
        let value = self.head.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
        value.unwrap_or_else(|| panic!("no {name} in {}", self.head))
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap()
    }

    pub(crate) fn event_type(&self) -> String {
        self.json()["type"].as_str().unwrap().to_owned()
    }

    pub(crate) fn is_signed_by(&self, secret: &str, now: i64) -> bool {
        let secret = Secret::parse(secret).unwrap();
        let timestamp = self.header("webhook-timestamp").parse().unwrap();
        let (id, signature) = (self.header("webhook-id"), self.header("webhook-signature"));
        verify(&secret, signature, id, timestamp, &self.body, now)
    }
}

#[derive(Debug)]
struct State {
    status: u16,
    received: Vec<ReceivedMessage>,
}

/// Stops when it is dropped.
#[derive(Debug)]
pub(crate) struct WebhookReceiver {
    port: u16,
    state: Arc<Mutex<State>>,
    arrived: Arc<Notify>,
    _accepting: JoinSet<()>,
}

impl WebhookReceiver {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(Mutex::new(State { status: 204, received: Vec::new() }));
        let arrived = Arc::new(Notify::new());
        let (shared, signal) = (Arc::clone(&state), Arc::clone(&arrived));
        let mut accepting = JoinSet::new();
        accepting.spawn(async move {
            let mut open = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                open.spawn(receive(stream, Arc::clone(&shared), Arc::clone(&signal)));
            }
        });
        Self { port, state, arrived, _accepting: accepting }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/hook", self.port)
    }

    /// The status of every answer from now on.
    pub(crate) fn answer(&self, status: u16) {
        self.state.lock().unwrap().status = status;
    }

    pub(crate) fn received(&self) -> Vec<ReceivedMessage> {
        self.state.lock().unwrap().received.clone()
    }

    /// Waits until this many messages have arrived since the start.
    pub(crate) async fn wait_for(&self, count: usize) -> Vec<ReceivedMessage> {
        self.wait_until(|received| received.len() >= count).await
    }

    /// Waits until the messages since the start satisfy a condition.
    pub(crate) async fn wait_until(&self, is: impl Fn(&[ReceivedMessage]) -> bool) -> Vec<ReceivedMessage> {
        in_time("messages of webhooks", async {
            loop {
                let arrived = self.arrived.notified();
                let received = self.received();
                if is(&received) {
                    return received;
                }
                arrived.await;
            }
        })
        .await
    }
}

async fn receive(mut stream: TcpStream, state: Arc<Mutex<State>>, arrived: Arc<Notify>) {
    let mut bytes = Vec::new();
    let message = loop {
        let mut piece = [0; 4096];
        match stream.read(&mut piece).await {
            Ok(0) | Err(_) => return,
            Ok(read) => bytes.extend_from_slice(&piece[..read]),
        }
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
        if body.len() >= length.unwrap_or(0) {
            break ReceivedMessage { head: head.to_owned(), body: body.to_owned() };
        }
    };
    let status = {
        let mut state = state.lock().unwrap();
        state.received.push(message);
        state.status
    };
    let _ = stream.write_all(format!("HTTP/1.1 {status} x\r\ncontent-length: 0\r\n\r\n").as_bytes()).await;
    arrived.notify_waiters();
    // Like a server that closes an idle connection just when a request is on its way: a second one is lost.
    let _ = stream.read(&mut [0]).await;
}
