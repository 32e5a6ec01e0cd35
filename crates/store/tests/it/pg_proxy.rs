//! A TCP proxy before PostgreSQL that can lose the answer to a COMMIT, lose the COMMIT itself, or stop passing on anything.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// A simple query `COMMIT`, as it is sent: its type, its length, its text and a NUL.
const COMMIT: &[u8] = b"Q\0\0\0\x0bCOMMIT\0";

/// What happens to the next COMMIT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum NextCommit {
    Passes = 0,
    /// The server gets it, and the connection is cut before its answer.
    LosesAnswer = 1,
    /// The connection is cut before the server gets it.
    IsLost = 2,
}

#[derive(Debug, Default)]
struct Plan {
    next_commit: AtomicU8,
    /// Connections up to this number pass on nothing, as behind a firewall that has forgotten them.
    stranded: AtomicUsize,
    connections: AtomicUsize,
}

#[derive(Debug)]
pub(crate) struct PgProxy {
    /// The URL of the database through the proxy.
    pub(crate) url: String,
    plan: Arc<Plan>,
    /// Ends with the proxy.
    _accepting: JoinSet<()>,
}

impl PgProxy {
    pub(crate) async fn start(url: &str) -> PgProxy {
        let (head, tail) = url.rsplit_once('@').unwrap();
        let (server, database) = tail.split_once('/').unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let plan = Arc::new(Plan::default());
        let (server, shared) = (server.to_owned(), Arc::clone(&plan));
        let mut accepting = JoinSet::new();
        accepting.spawn(async move {
            let mut passing = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(&server).await.unwrap();
                let number = shared.connections.fetch_add(1, Ordering::SeqCst) + 1;
                let (from_client, to_client) = client.into_split();
                let (from_server, to_server) = server.into_split();
                let plan = Arc::clone(&shared);
                passing.spawn(async move {
                    let up = plan.pass_up(number, from_client, to_server);
                    plan.pass_down(number, from_server, to_client, up).await;
                });
            }
        });
        PgProxy { url: format!("{head}@127.0.0.1:{port}/{database}"), plan, _accepting: accepting }
    }

    pub(crate) fn set_next_commit(&self, next: NextCommit) {
        self.plan.next_commit.store(next as u8, Ordering::SeqCst);
    }

    /// Whether the fault that was set has happened.
    pub(crate) fn is_used_up(&self) -> bool {
        self.plan.next_commit.load(Ordering::SeqCst) == NextCommit::Passes as u8
    }

    /// All connections of now go silent; new ones work.
    pub(crate) fn strand_connections(&self) {
        let all = self.plan.connections.load(Ordering::SeqCst);
        self.plan.stranded.store(all, Ordering::SeqCst);
    }
}

/// How the way to the server ended.
enum Ended {
    Closed,
    /// The answer to what was sent last must not arrive.
    BeforeAnswer(OwnedWriteHalf),
}

impl Plan {
    async fn wait_if_stranded(&self, number: usize) {
        if number <= self.stranded.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
    }

    async fn pass_up(&self, number: usize, mut from: OwnedReadHalf, mut to: OwnedWriteHalf) -> Ended {
        let mut buffer = vec![0; 64 << 10];
        while let Ok(len @ 1..) = from.read(&mut buffer).await {
            self.wait_if_stranded(number).await;
            if &buffer[..len] == COMMIT {
                let next = self.next_commit.swap(NextCommit::Passes as u8, Ordering::SeqCst);
                if next == NextCommit::IsLost as u8 {
                    return Ended::Closed;
                }
                if next == NextCommit::LosesAnswer as u8 {
                    to.write_all(COMMIT).await.unwrap();
                    return Ended::BeforeAnswer(to);
                }
            }
            if to.write_all(&buffer[..len]).await.is_err() {
                break;
            }
        }
        Ended::Closed
    }

    async fn pass_down(
        &self,
        number: usize,
        mut from: OwnedReadHalf,
        mut to: OwnedWriteHalf,
        up: impl Future<Output = Ended>,
    ) {
        let mut up = pin!(up);
        let mut buffer = vec![0; 64 << 10];
        loop {
            tokio::select! {
                ended = &mut up => {
                    if let Ended::BeforeAnswer(_still_open) = ended {
                        // The answer proves that the commit is done.
                        assert_ne!(from.read(&mut buffer).await.unwrap(), 0);
                    }
                    return;
                }
                read = from.read(&mut buffer) => {
                    let Ok(len @ 1..) = read else { return };
                    self.wait_if_stranded(number).await;
                    if to.write_all(&buffer[..len]).await.is_err() {
                        return;
                    }
                }
            }
        }
    }
}
