//! An MCP client that starts `dropleaf mcp` and uses its standard input and output.

use super::mcp::{LEGACY, MODERN};
use super::{Dropleaf, Node, in_time};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::thread::JoinHandle;
use tempfile::TempDir;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

#[derive(Debug)]
pub(crate) struct Pipe {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: UnboundedReceiver<String>,
    complaints: Option<JoinHandle<String>>,
    /// Messages that arrived while waiting for another.
    early: Vec<Value>,
    next_id: u32,
    is_modern: bool,
    /// The home folder of the program; empty except for what a test puts there.
    home: Option<TempDir>,
}

impl Node {
    /// Started with a key for this server.
    pub(crate) fn pipe(&self, key: &str) -> Pipe {
        let home = TempDir::new().unwrap();
        let dropleaf = Dropleaf::in_dir(home.path())
            .env("HOME", home.path().to_str().unwrap())
            .env("DROPLEAF_URL", &self.base_url())
            .env("DROPLEAF_API_KEY", key);
        let mut pipe = Pipe::start(&dropleaf, &["mcp", "--wait", "60"]);
        pipe.home = Some(home);
        pipe
    }
}

impl Pipe {
    pub(crate) fn start(dropleaf: &Dropleaf, args: &[&str]) -> Self {
        let mut command = dropleaf.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (send, lines) = unbounded_channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let _ = send.send(line);
            }
        });
        let mut stderr = child.stderr.take().unwrap();
        let complaints = std::thread::spawn(move || {
            let mut text = String::new();
            let _ = stderr.read_to_string(&mut text);
            text
        });
        let stdin = child.stdin.take();
        let complaints = Some(complaints);
        Self { child, stdin, lines, complaints, early: Vec::new(), next_id: 1, is_modern: false, home: None }
    }

    /// Makes every message self-contained, as since 2026-07-28.
    pub(crate) fn modern(mut self) -> Self {
        self.is_modern = true;
        self
    }

    /// Begins a session.
    pub(crate) async fn begun(mut self) -> Self {
        let params = json!({
            "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"},
        });
        let begun = self.request("initialize", params).await;
        assert_eq!(
            (&begun["protocolVersion"], &begun["serverInfo"]["name"]),
            (&json!(LEGACY), &json!("dropleaf"))
        );
        self.notify("notifications/initialized", &json!({}));
        self
    }

    /// Sends a line unchanged.
    pub(crate) fn line(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(line.as_bytes()).unwrap();
        stdin.write_all(b"\n").unwrap();
        stdin.flush().unwrap();
    }

    /// Sends a request and returns its id.
    pub(crate) fn ask(&mut self, method: &str, mut params: Value) -> u32 {
        let id = self.next_id;
        self.next_id += 1;
        if self.is_modern {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
            });
        }
        self.line(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
        id
    }

    pub(crate) fn notify(&mut self, method: &str, params: &Value) {
        self.line(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
    }

    /// The next message that matches; others are kept for later.
    async fn first(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        if let Some(index) = self.early.iter().position(&is_it) {
            return self.early.remove(index);
        }
        let wait = async {
            loop {
                let line = self.lines.recv().await.expect("it has ended");
                let message: Value =
                    serde_json::from_str(&line).unwrap_or_else(|_| panic!("not JSON: {line}"));
                if is_it(&message) {
                    return message;
                }
                self.early.push(message);
            }
        };
        in_time("a message from `dropleaf mcp`", wait).await
    }

    /// The whole response to a request.
    pub(crate) async fn answer(&mut self, id: u32) -> Value {
        self.first(|message| message["id"] == id && message.get("method").is_none()).await
    }

    /// The error response to a message without an id.
    pub(crate) async fn complaint(&mut self) -> Value {
        self.first(|message| message["id"].is_null() && message.get("method").is_none()).await["error"]
            .clone()
    }

    /// The parameters of the next notification of this kind.
    pub(crate) async fn news(&mut self, method: &str) -> Value {
        self.first(|message| message["method"] == method).await["params"].clone()
    }

    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        let answer = self.answer(id).await;
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    pub(crate) async fn error(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        let answer = self.answer(id).await;
        assert!(answer.get("result").is_none(), "{method}: {answer}");
        answer["error"].clone()
    }

    /// The structured result of a tool that succeeds.
    pub(crate) async fn give(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.request("tools/call", json!({"name": tool, "arguments": arguments})).await;
        assert_ne!(result["isError"], true, "{tool}: {result}");
        result["structuredContent"].clone()
    }

    /// Closes the input. Returns the remaining messages, whether the program succeeded, and its error output.
    pub(crate) async fn leave(mut self) -> (Vec<Value>, bool, String) {
        self.stdin = None;
        let mut rest = std::mem::take(&mut self.early);
        let wait = async {
            while let Some(line) = self.lines.recv().await {
                rest.push(serde_json::from_str(&line).unwrap());
            }
        };
        in_time("the end of `dropleaf mcp`", wait).await;
        let status = self.child.wait().unwrap();
        let complaints = self.complaints.take().unwrap().join().unwrap();
        drop(self.home.take());
        (rest, status.success(), complaints)
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
