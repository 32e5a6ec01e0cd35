//! A file on its way to the server: sent from the disk, as often as needed, with its progress.

use crate::client::Outgoing;
use crate::multipart::{FilePart, FormBody};
use std::fmt::Write;
use std::fs::File;
use std::io;
use std::sync::Arc;
use tokio::sync::watch;

/// An open file and the name under which it is sent.
#[derive(Debug)]
pub struct Upload {
    name: String,
    part: FilePart,
    boundary: String,
}

impl Upload {
    /// Sends the file with the length it has now. The random `nonce` makes the boundary of the form unguessable, so that no
    /// content can contain it.
    pub fn new(name: String, file: File, nonce: [u8; 16]) -> io::Result<Self> {
        let length = file.metadata()?.len();
        let boundary = nonce.iter().fold("----dropleaf-".to_owned(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        });
        let part = FilePart { file: Arc::new(file), length, sent: watch::Sender::new(0) };
        Ok(Self { name, part, boundary })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub const fn length(&self) -> u64 {
        self.part.length
    }

    /// How many bytes of the file were handed to the connection.
    pub fn progress(&self) -> watch::Receiver<u64> {
        self.part.sent.subscribe()
    }

    pub(crate) fn form(&self, fields: &[(&str, String)]) -> Outgoing {
        self.part.sent.send_replace(0);
        let body = FormBody::new(&self.boundary, &self.name, self.part.clone(), fields);
        (format!("multipart/form-data; boundary={}", self.boundary), reqwest::Body::wrap(body))
    }
}
