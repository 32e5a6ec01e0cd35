//! A small reverse proxy in front of a server under test, well or badly configured.

use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// What the proxy does to requests and responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Habit {
    /// Keeps `Host` and adds the client to `X-Forwarded-For`.
    Good,
    /// Sends the address of the server as `Host`.
    ReplacesHost,
    /// Removes `X-Forwarded-For`.
    HidesClients,
    /// Passes `X-Forwarded-For` on as it came.
    BelievesClients,
    /// Refuses bodies above 1 MiB.
    LimitsBodies,
    /// Refuses heads above 8 KiB.
    LimitsHeads,
    /// Sends a response once it is complete.
    Buffers,
}

#[derive(Debug)]
pub(crate) struct Proxy {
    /// Ends when it is dropped.
    _task: JoinSet<()>,
}

impl Proxy {
    /// Its socket and port, before the server behind it is known.
    pub(crate) async fn bind() -> (TcpListener, u16) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        (listener, port)
    }

    pub(crate) fn start(listener: TcpListener, upstream: u16, habit: Habit) -> Self {
        let mut task = JoinSet::new();
        task.spawn(async move {
            let mut open = JoinSet::new();
            loop {
                let (stream, peer) = listener.accept().await.unwrap();
                open.spawn(serve(stream, peer, upstream, habit));
            }
        });
        Self { _task: task }
    }
}

/// One request for each connection. A connection that breaks ends it.
async fn serve(mut client: TcpStream, peer: SocketAddr, upstream: u16, habit: Habit) -> Option<()> {
    let (head, rest) = read_head(&mut client).await?;
    let length = head.iter().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().unwrap())
    });
    if habit == Habit::LimitsBodies && length.is_some_and(|length| length > 1 << 20) {
        return refuse(&mut client, "413 Content Too Large").await;
    }
    if habit == Habit::LimitsHeads && head.iter().any(|line| line.len() > 8 << 10) {
        return refuse(&mut client, "400 Bad Request").await;
    }
    let mut server = TcpStream::connect(("127.0.0.1", upstream)).await.ok()?;
    let head = rewrite(head, peer, upstream, habit).join("\r\n") + "\r\n\r\n";
    server.write_all(head.as_bytes()).await.ok()?;
    server.write_all(&rest).await.ok()?;
    if habit == Habit::Buffers {
        let mut response = Vec::new();
        server.read_to_end(&mut response).await.ok()?;
        return client.write_all(&response).await.ok();
    }
    tokio::io::copy_bidirectional(&mut client, &mut server).await.ok().map(|_| ())
}

async fn refuse(client: &mut TcpStream, status: &str) -> Option<()> {
    let response = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    client.write_all(response.as_bytes()).await.ok()?;
    // Otherwise the system would reset the connection, because there is more to read.
    let mut rest = vec![0; 65_536];
    while client.read(&mut rest).await.is_ok_and(|size| size > 0) {}
    Some(())
}

/// The lines of a request's head, and what came after it.
async fn read_head(stream: &mut TcpStream) -> Option<(Vec<String>, Vec<u8>)> {
    let mut bytes = Vec::new();
    let mut part = [0; 8192];
    loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
            return Some((head.split("\r\n").map(str::to_owned).collect(), bytes[end + 4..].to_vec()));
        }
        let size = stream.read(&mut part).await.ok().filter(|size| *size > 0)?;
        bytes.extend_from_slice(&part[..size]);
    }
}

fn rewrite(head: Vec<String>, peer: SocketAddr, upstream: u16, habit: Habit) -> Vec<String> {
    const FORWARDED: &str = "x-forwarded-for:";
    let is = |line: &str, name: &str| line.to_ascii_lowercase().starts_with(name);
    let sent =
        head.iter().find(|line| is(line, FORWARDED)).map(|line| line[FORWARDED.len()..].trim().to_owned());
    let mut lines: Vec<String> =
        head.into_iter().filter(|line| !is(line, FORWARDED) && !is(line, "connection:")).collect();
    match (habit, sent) {
        (Habit::HidesClients, _) | (Habit::BelievesClients, None) => {}
        (Habit::BelievesClients, Some(sent)) => lines.push(format!("X-Forwarded-For: {sent}")),
        (_, Some(sent)) => lines.push(format!("X-Forwarded-For: {sent}, {}", peer.ip())),
        (_, None) => lines.push(format!("X-Forwarded-For: {}", peer.ip())),
    }
    if habit == Habit::ReplacesHost {
        lines.retain(|line| !is(line, "host:"));
        lines.push(format!("Host: 127.0.0.1:{upstream}"));
    }
    lines.push("Connection: close".to_owned());
    lines
}
