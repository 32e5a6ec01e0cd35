//! A server for tests that sends scripted responses, byte for byte.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

pub(super) struct ScriptedServer {
    pub(super) url: String,
    requests: Arc<Mutex<Vec<String>>>,
    connections: Arc<AtomicUsize>,
}

/// A response with this status and body.
pub(super) fn answer(status: u16, body: &str) -> String {
    format!(
        "HTTP/1.1 {status} x\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

impl ScriptedServer {
    /// Instead of a response: the connection stays open and nothing is sent.
    pub(super) const SILENCE: &str = "(silence)";

    /// Sends these responses, one for each request, and then ends. An empty one closes the connection.
    pub(super) fn new(answers: Vec<String>) -> Self {
        let mut answers = answers.into_iter();
        Self::answering(move |_| answers.next())
    }

    /// Responds to each request (head and body) with the result of `reply`; `None` ends the server.
    pub(super) fn answering(mut reply: impl FnMut(&str) -> Option<String> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (requests, connections) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicUsize::new(0)));
        let (recorded, opened) = (Arc::clone(&requests), Arc::clone(&connections));
        thread::spawn(move || {
            let mut silent = Vec::new();
            for stream in listener.incoming() {
                opened.fetch_add(1, Ordering::SeqCst);
                let mut stream = BufReader::new(stream.unwrap());
                while let Some(request) = read(&mut stream) {
                    let Some(sent) = reply(&request) else { return };
                    recorded.lock().unwrap().push(request);
                    if sent == Self::SILENCE {
                        silent.push(stream);
                        break;
                    }
                    let sent_whole = stream.get_mut().write_all(sent.as_bytes()).is_ok();
                    // Only the result of `answer` is a complete response, after which the connection can be reused.
                    if !sent_whole || !sent.contains("content-type: application/json") {
                        break;
                    }
                }
            }
        });
        Self { url, requests, connections }
    }

    pub(super) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    pub(super) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// One request; `None` at the end.
fn read(stream: &mut BufReader<TcpStream>) -> Option<String> {
    let mut text = String::new();
    while !text.ends_with("\r\n\r\n") {
        if stream.read_line(&mut text).ok()? == 0 {
            return None;
        }
    }
    let length = text
        .lines()
        .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).ok()?;
    Some(text + &String::from_utf8(body).unwrap())
}
