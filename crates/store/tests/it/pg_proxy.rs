//! A TCP proxy before PostgreSQL. It can lose a COMMIT or the answer to it, let the connections of a moment go silent, and be
//! taken away: like a server that was killed, or one behind a firewall that drops every packet. Another server can take its
//! place at the same address.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;

/// A simple query `COMMIT`, as it is sent: its type, its length, its text and a NUL.
const COMMIT: &[u8] = b"Q\0\0\0\x0bCOMMIT\0";
/// What the answer to it contains.
const COMMITTED: &[u8] = b"COMMIT\0";

/// What happens to connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Link {
    Up,
    /// All are closed, and new ones are closed at once.
    Cut,
    /// Nothing is passed on, and nothing is closed. They are closed when this ends.
    Silent,
}

/// What happens to the next COMMIT.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum NextCommit {
    #[default]
    Passes,
    /// The server commits, and its answer is lost.
    LosesAnswer,
    /// The server does not get it, and rolls back.
    IsLost,
    /// The server gets it, and does not notice that the client is gone.
    IsForgotten,
}

#[derive(Debug)]
pub(crate) struct PgProxy {
    /// The URL of the database through the proxy.
    pub(crate) url: String,
    faults: Arc<Faults>,
    /// Ends with the proxy.
    _accepting: JoinSet<()>,
}

#[derive(Debug)]
struct Faults {
    /// The address of the server.
    server: watch::Sender<String>,
    link: watch::Sender<Link>,
    next_commit: Mutex<NextCommit>,
    /// Whether a connection that has lost a COMMIT stays open, instead of being closed.
    is_silent_after_commit: AtomicBool,
    commit_lost: Notify,
    /// Connections up to this number pass on nothing, as behind a firewall that has forgotten them.
    stranded: AtomicUsize,
    connections: AtomicUsize,
}

impl PgProxy {
    pub(crate) async fn start(url: &str) -> PgProxy {
        let (head, server, database) = split(url);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let faults = Arc::new(Faults {
            server: watch::Sender::new(server.to_owned()),
            link: watch::Sender::new(Link::Up),
            next_commit: Mutex::default(),
            is_silent_after_commit: AtomicBool::new(false),
            commit_lost: Notify::new(),
            stranded: AtomicUsize::new(0),
            connections: AtomicUsize::new(0),
        });
        let shared = Arc::clone(&faults);
        let mut accepting = JoinSet::new();
        accepting.spawn(async move {
            let mut passing = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                let number = shared.connections.fetch_add(1, Ordering::SeqCst) + 1;
                let faults = Arc::clone(&shared);
                passing.spawn(async move { faults.serve(number, client).await });
            }
        });
        PgProxy { url: format!("{head}@127.0.0.1:{port}/{database}"), faults, _accepting: accepting }
    }

    /// Connects to the server of this URL from now on, and cuts the connections to the last one.
    pub(crate) fn set_server(&self, url: &str) {
        self.faults.server.send_replace(split(url).1.to_owned());
    }

    /// The host and port of the proxy.
    pub(crate) fn address(&self) -> &str {
        split(&self.url).1
    }

    pub(crate) fn set_link(&self, link: Link) {
        self.faults.link.send_replace(link);
    }

    pub(crate) fn set_next_commit(&self, next: NextCommit) {
        *self.faults.next_commit.lock().unwrap() = next;
    }

    /// Connections that lose a COMMIT stay open and silent.
    pub(crate) fn stay_silent_after_commit(&self) {
        self.faults.is_silent_after_commit.store(true, Ordering::SeqCst);
    }

    /// Whether the fault that was set has happened.
    pub(crate) fn is_used_up(&self) -> bool {
        *self.faults.next_commit.lock().unwrap() == NextCommit::Passes
    }

    /// Waits until a COMMIT or its answer was lost; in the second case it has taken effect.
    pub(crate) async fn commit_lost(&self) {
        self.faults.commit_lost.notified().await;
    }

    /// All connections of now go silent; new ones work.
    pub(crate) fn strand_connections(&self) {
        let all = self.faults.connections.load(Ordering::SeqCst);
        self.faults.stranded.store(all, Ordering::SeqCst);
    }
}

impl Faults {
    async fn serve(&self, number: usize, mut client: TcpStream) {
        let mut address = self.server.subscribe();
        let server = address.borrow_and_update().clone();
        let mut link = self.link.subscribe();
        let state = *link.borrow();
        if state == Link::Up {
            let Ok(mut server) = TcpStream::connect(server).await else { return };
            tokio::select! {
                () = self.pass(number, &mut client, &mut server) => return,
                () = until(&mut link, |state| state != Link::Up) => {}
                _ = address.changed() => return,
            }
            // Both stay open.
            until(&mut link, |state| state != Link::Silent).await;
        } else {
            until(&mut link, |state| state != Link::Silent).await;
        }
    }

    async fn pass(&self, number: usize, client: &mut TcpStream, server: &mut TcpStream) {
        let (from_client, to_client) = client.split();
        let (from_server, to_server) = server.split();
        let lost = tokio::select! {
            lost = self.pass_up(number, from_client, to_server) => lost,
            () = self.pass_down(number, from_server, to_client) => NextCommit::Passes,
        };
        match lost {
            NextCommit::Passes => return,
            NextCommit::LosesAnswer => swallow_commit(server).await,
            NextCommit::IsLost => drop(server.shutdown().await),
            NextCommit::IsForgotten => {
                drop(client.shutdown().await);
                self.commit_lost.notify_one();
                let mut ignored = [0; 1024];
                while server.read(&mut ignored).await.is_ok_and(|length| length > 0) {}
                return;
            }
        }
        self.commit_lost.notify_one();
        if self.is_silent_after_commit.load(Ordering::SeqCst) {
            // Until the client gives up.
            let mut ignored = [0; 1024];
            while client.read(&mut ignored).await.is_ok_and(|length| length > 0) {}
        }
    }

    /// Ends with what became of a COMMIT, or with the connection.
    async fn pass_up(
        &self,
        number: usize,
        mut from: impl AsyncRead + Unpin,
        mut to: impl AsyncWrite + Unpin,
    ) -> NextCommit {
        let mut buffer = vec![0; 64 << 10];
        while let Ok(length @ 1..) = from.read(&mut buffer).await {
            self.wait_if_stranded(number).await;
            let message = &buffer[..length];
            let next = if message.ends_with(COMMIT) { self.take_next_commit() } else { NextCommit::Passes };
            if next == NextCommit::IsLost {
                return next;
            }
            if to.write_all(message).await.is_err() {
                break;
            }
            if next != NextCommit::Passes {
                return next;
            }
        }
        NextCommit::Passes
    }

    async fn pass_down(
        &self,
        number: usize,
        mut from: impl AsyncRead + Unpin,
        mut to: impl AsyncWrite + Unpin,
    ) {
        let mut buffer = vec![0; 64 << 10];
        while let Ok(length @ 1..) = from.read(&mut buffer).await {
            self.wait_if_stranded(number).await;
            if to.write_all(&buffer[..length]).await.is_err() {
                return;
            }
        }
    }

    fn take_next_commit(&self) -> NextCommit {
        std::mem::take(&mut *self.next_commit.lock().unwrap())
    }

    async fn wait_if_stranded(&self, number: usize) {
        if number <= self.stranded.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
    }
}

/// The user, the address and the database of a URL.
fn split(url: &str) -> (&str, &str, &str) {
    let (head, tail) = url.rsplit_once('@').unwrap();
    let (server, database) = tail.split_once('/').unwrap();
    (head, server, database)
}

/// Reads until the database says that it has committed.
async fn swallow_commit(server: &mut TcpStream) {
    let (mut answer, mut part) = (Vec::new(), [0; 1024]);
    while !answer.windows(COMMITTED.len()).any(|window| window == COMMITTED) {
        let length = server.read(&mut part).await.unwrap();
        assert_ne!(length, 0, "the database closed the connection");
        answer.extend_from_slice(&part[..length]);
    }
}

async fn until(link: &mut watch::Receiver<Link>, is_it: fn(Link) -> bool) {
    let _ = link.wait_for(|state| is_it(*state)).await.map(|state| *state);
}
