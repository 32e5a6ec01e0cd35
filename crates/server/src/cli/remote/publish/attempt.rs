//! An attempt to send content. If the response to a new page is lost, the same request is sent again, so that the server returns
//! the page it may have created instead of creating another.

use super::content::Content;
use super::destination::Destination;
use super::send::{Job, Sender};
use anyhow::Result;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use std::fs::File;

/// What must be the same when a request is repeated.
pub(super) struct Attempt {
    pub(super) idempotency_key: String,
    /// The key and the payload of an encrypted page: encrypting again would give other bytes.
    pub(super) encrypted: Option<([u8; 32], File)>,
}

impl std::fmt::Debug for Attempt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Attempt").finish_non_exhaustive()
    }
}

impl Attempt {
    /// The key of an encrypted page.
    pub(super) fn secret(&self) -> Option<[u8; 32]> {
        self.encrypted.as_ref().map(|(secret, _)| *secret)
    }
}

impl Sender {
    /// The attempt that failed before, if it was a new page with the same content, or a new one.
    pub(super) fn attempt(
        &self,
        job: &mut Job,
        destination: &Destination,
        content: &Content,
    ) -> Result<Attempt> {
        // A page that is gone is tried first each time; that must not discard the attempt for the new page.
        if *destination == Destination::New
            && let Some((hash, attempt)) = job.failed.take()
            && hash == content.hash()?
        {
            return Ok(attempt);
        }
        let encrypted = if self.is_encrypted {
            let secret = self.secret(job, destination);
            Some((secret, content.encrypted(secret, &self.minter)?))
        } else {
            None
        };
        let idempotency_key = URL_SAFE_NO_PAD.encode(self.minter.bytes::<16>());
        Ok(Attempt { idempotency_key, encrypted })
    }
}

#[cfg(test)]
mod tests {
    use super::super::path::PublishPath;
    use super::*;
    use dropleaf_client::{Client, PageOptions};
    use dropleaf_core::{Minter, SystemClock};
    use std::io::Read;
    use std::net::{TcpListener, TcpStream};
    use tokio::sync::OnceCell;

    /// Reads a request to its end; returns its idempotency key and its content.
    fn request(mut stream: TcpStream) -> (String, Vec<u8>) {
        let (mut seen, mut piece) = (Vec::<u8>::new(), [0; 4096]);
        loop {
            let text = String::from_utf8_lossy(&seen).into_owned();
            if let Some((head, _)) = text.split_once("\r\n\r\n") {
                let field = |name: &str| {
                    let line = head.lines().find_map(|line| line.strip_prefix(name));
                    line.unwrap().trim().to_owned()
                };
                let start = seen.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
                if seen.len() >= start + field("content-length:").parse::<usize>().unwrap() {
                    let part = &seen[start..];
                    let name = part.windows(8).position(|eight| eight == b"filename").unwrap();
                    let end = part.windows(4).rposition(|four| four == b"\r\n--").unwrap();
                    return (field("idempotency-key:"), part[name..end].to_vec());
                }
            }
            let read = stream.read(&mut piece).unwrap();
            assert_ne!(read, 0, "the request ended early");
            seen.extend_from_slice(&piece[..read]);
        }
    }

    /// Sends the file to a server that never responds; returns what it received.
    async fn lose(sender: &Sender, job: &mut Job, listener: &TcpListener) -> (String, Vec<u8>) {
        let listener = listener.try_clone().unwrap();
        let server = std::thread::spawn(move || request(listener.accept().unwrap().0));
        let content = sender.read(&job.target).await.unwrap();
        let options = PageOptions { e2e: sender.is_encrypted, ..PageOptions::default() };
        sender.send(job, &content, &options, false).await.unwrap_err();
        server.join().unwrap()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn lost_response_is_followed_by_the_same_request() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("page.html");
        for is_encrypted in [false, true] {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let server = format!("http://{}", listener.local_addr().unwrap());
            let sender = Sender {
                client: Client::new(&server, None).unwrap(),
                record: None,
                update: None,
                is_new: false,
                is_recorded: false,
                is_encrypted,
                file_name: None,
                minter: Minter::seeded(1),
                clock: SystemClock::default(),
                limits: OnceCell::new(),
            };
            std::fs::write(&path, "<p>One").unwrap();
            let mut job = sender.job(PublishPath::find(&path).unwrap()).unwrap();
            let first = lose(&sender, &mut job, &listener).await;
            // Trying another page in between changes nothing.
            let content = sender.read(&job.target).await.unwrap();
            let other_page = Destination::Own("site_1".to_owned());
            let between = sender.attempt(&mut job, &other_page, &content).unwrap();
            assert_ne!(between.idempotency_key, first.0);
            assert_eq!(lose(&sender, &mut job, &listener).await, first);
            std::fs::write(&path, "<p>Two").unwrap();
            let other = lose(&sender, &mut job, &listener).await;
            assert_ne!(other.0, first.0, "other content is another request");
            assert_ne!(other.1, first.1);
            assert_eq!(first.1.ends_with(b"<p>One"), !is_encrypted);
        }
    }
}
