//! A TCP proxy in front of PostgreSQL that can be taken away: like a server that was killed, or one behind a firewall that
//! drops every packet.

use super::Database;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// What happens to connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Link {
    Up,
    /// All are closed, and new ones are closed at once.
    Cut,
    /// Nothing is passed on, and nothing is closed. They are closed when this ends.
    Silent,
}

#[derive(Debug)]
pub(crate) struct DatabaseProxy {
    /// The database through the proxy.
    pub(crate) database: Database,
    link: watch::Sender<Link>,
    /// Ends when it is dropped.
    _task: JoinSet<()>,
}

impl DatabaseProxy {
    pub(crate) async fn start(database: &Database) -> Self {
        let Database::Postgres(url) = database else { panic!("SQLite has no connections") };
        let (head, tail) = url.rsplit_once('@').unwrap();
        let (server, name) = tail.split_once('/').unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (link, state) = watch::channel(Link::Up);
        let mut task = JoinSet::new();
        let server = server.to_owned();
        task.spawn(async move {
            let mut open = JoinSet::new();
            loop {
                let (client, _) = listener.accept().await.unwrap();
                open.spawn(pass(client, server.clone(), state.clone()));
            }
        });
        Self { database: Database::Postgres(format!("{head}@127.0.0.1:{port}/{name}")), link, _task: task }
    }

    pub(crate) fn set(&self, link: Link) {
        self.link.send_replace(link);
    }
}

async fn pass(mut client: TcpStream, server: String, mut link: watch::Receiver<Link>) {
    let state = *link.borrow();
    if state == Link::Up {
        let Ok(mut server) = TcpStream::connect(server).await else { return };
        tokio::select! {
            _ = copy_bidirectional(&mut client, &mut server) => {}
            () = until(&mut link, |state| state != Link::Up) => until(&mut link, |state| state != Link::Silent).await,
        }
    } else {
        until(&mut link, |state| state != Link::Silent).await;
    }
}

async fn until(link: &mut watch::Receiver<Link>, is_it: fn(Link) -> bool) {
    let _ = link.wait_for(|state| is_it(*state)).await.map(|state| *state);
}
