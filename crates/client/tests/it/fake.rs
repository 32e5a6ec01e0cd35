//! A fake server whose every response the test supplies, and a bridge connected to it.

use dropleaf_client::mcp::{Bridge, BridgeOptions, Line};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Longer than any test takes unless it hangs.
const LONG: Duration = Duration::from_mins(2);

/// A received request, with the connection to respond on.
pub(crate) struct Asked {
    pub(crate) method: String,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: Value,
    stream: TcpStream,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    pub(crate) async fn answer(mut self, status: &str, headers: &str, body: &str) {
        let length = body.len();
        let text = format!(
            "HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        );
        self.stream.write_all(text.as_bytes()).await.unwrap();
        self.stream.shutdown().await.unwrap();
    }

    pub(crate) async fn accept(self) {
        self.answer("202 Accepted", "", "").await;
    }

    /// Responds with a JSON-RPC result, as JSON.
    pub(crate) async fn result(self, headers: &str, result: Value) {
        let body = json!({"jsonrpc": "2.0", "id": self.body["id"], "result": result}).to_string();
        self.answer("200 OK", &format!("{headers}Content-Type: application/json\r\n"), &body).await;
    }

    /// Responds with an event stream that stays open until it is dropped.
    pub(crate) async fn stream(mut self) -> Stream {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
        self.stream.write_all(head.as_bytes()).await.unwrap();
        Stream(self.stream)
    }
}

pub(crate) struct Stream(TcpStream);

impl Stream {
    pub(crate) async fn event(&mut self, id: Option<&str>, message: &Value) {
        let id = id.map_or_else(String::new, |id| format!("id: {id}\n"));
        self.0.write_all(format!("{id}data: {message}\n\n").as_bytes()).await.unwrap();
    }

    pub(crate) async fn text(&mut self, text: &str) {
        self.0.write_all(text.as_bytes()).await.unwrap();
    }

    /// Waits until the peer has closed the connection.
    pub(crate) async fn closed(mut self) {
        let mut rest = [0; 64];
        assert_eq!(timeout(LONG, self.0.read(&mut rest)).await.unwrap().unwrap_or(0), 0);
    }
}

/// The port of a stopped server: bound without listening, so that connections are refused and no other program takes it.
pub(crate) struct Left(TcpSocket);

impl Left {
    fn new() -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        // As on listeners: both sockets may be bound to the port while only one listens.
        socket.set_reuseaddr(true).unwrap();
        socket.bind(([127, 0, 0, 1], 0).into()).unwrap();
        Self(socket)
    }
}

pub(crate) struct Fake {
    pub(crate) url: String,
    place: Left,
    asked: mpsc::UnboundedReceiver<Asked>,
    task: JoinHandle<()>,
}

impl Fake {
    pub(crate) async fn start() -> Self {
        Self::back(Left::new()).await
    }

    pub(crate) async fn back(place: Left) -> Self {
        let listener = TcpListener::bind(place.0.local_addr().unwrap()).await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (send, asked) = mpsc::unbounded_channel();
        #[expect(clippy::disallowed_methods, reason = "the test ends it")]
        let task = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                if let Some(asked) = read(stream).await {
                    let _ = send.send(asked);
                }
            }
        });
        Self { url, place, asked, task }
    }

    /// Stops listening, so that connections are refused; returns the port, for restarting with `back`.
    pub(crate) async fn leave(self) -> Left {
        self.task.abort();
        let _ = self.task.await;
        self.place
    }

    pub(crate) async fn next(&mut self) -> Asked {
        timeout(LONG, self.asked.recv()).await.expect("no request came").unwrap()
    }

    /// The next request, asserting that it is a POST of this JSON-RPC method.
    pub(crate) async fn next_post(&mut self, method: &str) -> Asked {
        let asked = self.next().await;
        assert_eq!(
            (asked.method.as_str(), asked.body["method"].as_str()),
            ("POST", Some(method)),
            "{}",
            asked.body
        );
        asked
    }
}

async fn read(mut stream: TcpStream) -> Option<Asked> {
    let mut seen = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&seen).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let mut lines = head.lines();
            let method = lines.next()?.split(' ').next()?.to_owned();
            let headers: HashMap<String, String> = lines
                .filter_map(|line| line.split_once(": "))
                .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
                .collect();
            let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
            if body.len() >= length {
                let body = serde_json::from_str(body).unwrap_or_default();
                return Some(Asked { method, headers, body, stream });
            }
        }
        let read = stream.read(&mut piece).await.ok().filter(|read| *read > 0)?;
        seen.extend_from_slice(&piece[..read]);
    }
}

/// A running bridge, seen from the client's side.
pub(crate) struct Side {
    lines: Option<mpsc::Sender<Line>>,
    out: mpsc::Receiver<Vec<u8>>,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
    pub(crate) notes: Arc<Mutex<Vec<String>>>,
    pub(crate) key: Arc<Mutex<Option<String>>>,
}

impl Side {
    pub(crate) fn of(url: &str, patience: Duration) -> Self {
        let (lines, taken) = mpsc::channel(8);
        let (sent, out) = mpsc::channel(8);
        let (stop, stopped) = oneshot::channel();
        let notes = Arc::new(Mutex::new(Vec::new()));
        let key = Arc::new(Mutex::new(Some("k".to_owned())));
        let (written, found) = (Arc::clone(&notes), Arc::clone(&key));
        let options = BridgeOptions {
            server: url.to_owned(),
            keys: Box::new(move || found.lock().unwrap().clone()),
            patience,
            notes: Box::new(move |words| written.lock().unwrap().push(words.to_owned())),
        };
        let bridge = Bridge::new(options, sent).unwrap();
        #[expect(clippy::disallowed_methods, reason = "the test waits for it")]
        let task = tokio::spawn(bridge.run(taken, async {
            let _ = stopped.await;
        }));
        Self { lines: Some(lines), out, stop: Some(stop), task, notes, key }
    }

    pub(crate) async fn line(&self, line: Line) {
        self.lines.as_ref().unwrap().send(line).await.unwrap();
    }

    pub(crate) async fn send(&self, message: Value) {
        self.line(Line::Whole(message.to_string().into_bytes())).await;
    }

    pub(crate) async fn next(&mut self) -> Value {
        let line = timeout(LONG, self.out.recv()).await.expect("nothing was said").unwrap();
        assert!(!line.contains(&b'\n'));
        serde_json::from_slice(&line).unwrap()
    }

    /// Closes the client's input; the bridge then shuts down.
    pub(crate) fn leave(&mut self) {
        self.lines = None;
    }

    pub(crate) fn stop(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
    }

    pub(crate) async fn ended(self) {
        timeout(LONG, self.task).await.expect("the bridge did not end").unwrap();
    }

    /// Starts a session as clients do; the next request to the server opens the notification stream.
    pub(crate) async fn begin(&mut self, fake: &mut Fake) {
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {"roots": {}}});
        self.send(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})).await;
        let asked = fake.next_post("initialize").await;
        assert_eq!((asked.header("mcp-session-id"), asked.header("mcp-protocol-version")), (None, None));
        asked.result("Mcp-Session-Id: one\r\n", json!({"protocolVersion": "2025-11-25"})).await;
        assert_eq!(self.next().await["id"], 0);
        self.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        fake.next_post("notifications/initialized").await.accept().await;
    }
}
