//! A proxy in front of PostgreSQL that can lose a COMMIT or the answer to it.

use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinSet;

/// What happens to the next COMMIT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    /// It does not reach the database, which rolls back.
    Before,
    /// The database commits, and the answer is lost.
    After,
}

#[derive(Debug)]
pub(super) struct CutProxy {
    /// The address of the database behind the proxy.
    pub(super) url: String,
    commit_cut: Arc<CommitCut>,
    _accepting: JoinSet<()>,
}

impl CutProxy {
    pub(super) async fn start(database_url: &str) -> Self {
        let (_, rest) = database_url.split_once('@').unwrap();
        let (server, _) = rest.split_once('/').unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = database_url.replace(server, &listener.local_addr().unwrap().to_string());
        let (commit_cut, server) = (Arc::<CommitCut>::default(), server.to_owned());
        let mut accepting = JoinSet::new();
        let shared = Arc::clone(&commit_cut);
        accepting.spawn(async move {
            let mut open = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                let upstream = TcpStream::connect(&server).await.unwrap();
                let commit_cut = Arc::clone(&shared);
                open.spawn(async move { commit_cut.pass(client, upstream).await });
            }
        });
        Self { url, commit_cut, _accepting: accepting }
    }

    pub(super) fn arm(&self, cut: Cut) {
        *self.commit_cut.armed.lock().unwrap() = Some(cut);
    }

    /// Waits until the COMMIT was cut, and in the second case until it has taken effect.
    pub(super) async fn cut(&self) {
        self.commit_cut.done.notified().await;
    }
}

#[derive(Debug, Default)]
struct CommitCut {
    armed: Mutex<Option<Cut>>,
    done: Notify,
}

impl CommitCut {
    async fn pass(&self, mut client: TcpStream, mut upstream: TcpStream) {
        let (mut sent, mut received) = (vec![0; 16 << 10], vec![0; 16 << 10]);
        loop {
            tokio::select! {
                length = client.read(&mut sent) => {
                    let Ok(length @ 1..) = length else { return };
                    let message = &sent[..length];
                    let commits = contains(message, b"COMMIT");
                    let cut = if commits { self.armed.lock().unwrap().take() } else { None };
                    if cut == Some(Cut::Before) {
                        drop(upstream);
                        return self.stall(client).await;
                    }
                    upstream.write_all(message).await.unwrap();
                    if cut == Some(Cut::After) {
                        swallow_commit(&mut upstream).await;
                        return self.stall(client).await;
                    }
                }
                length = upstream.read(&mut received) => {
                    let Ok(length @ 1..) = length else { return };
                    if client.write_all(&received[..length]).await.is_err() {
                        return;
                    }
                }
            }
        }
    }

    /// Keeps the connection open and silent until the client gives up.
    async fn stall(&self, mut client: TcpStream) {
        self.done.notify_one();
        let mut ignored = [0; 1024];
        while client.read(&mut ignored).await.is_ok_and(|length| length > 0) {}
    }
}

/// Reads until the database says that it has committed.
async fn swallow_commit(upstream: &mut TcpStream) {
    let (mut answer, mut part) = (Vec::new(), [0; 1024]);
    while !contains(&answer, b"COMMIT\0") {
        let length = upstream.read(&mut part).await.unwrap();
        assert_ne!(length, 0, "the database closed the connection");
        answer.extend_from_slice(&part[..length]);
    }
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}
