//! Downloads the files of a version: the uploaded file, or a zip archive of all files.

use crate::answer::segment;
use crate::client::Client;
use crate::error::ClientError;
use crate::text::is_deceptive;
use reqwest::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use std::io::Write;

/// What a server sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Downloaded {
    /// The name that the server suggests, without folders. It is untrusted, and may be empty.
    pub name: String,
    /// Whether it is a zip archive of the files of a page.
    pub is_archive: bool,
    pub bytes: u64,
}

/// Why a download failed: the server, or the place where it is written.
#[derive(Debug, thiserror::Error)]
pub enum DownloadError {
    #[error(transparent)]
    Server(#[from] ClientError),
    #[error("cannot write the download: {0}")]
    Write(#[from] std::io::Error),
    #[error("the server sent more than {0} bytes")]
    TooLarge(u64),
}

impl Client {
    /// Writes the files of a version, or of the current one, to `out`. `most` is the largest download that is accepted.
    pub async fn download(
        &self,
        page: &str,
        version: Option<i64>,
        most: u64,
        out: &mut (impl Write + Send),
    ) -> Result<Downloaded, DownloadError> {
        let query = version.map_or_else(String::new, |version| format!("?version={version}"));
        let request = self.get(&format!("/sites/{}/download{query}", segment(page)));
        let lost = |error: reqwest::Error| ClientError::unreachable(self.server(), &error);
        let mut response = request.send().await.map_err(lost)?;
        if !response.status().is_success() {
            let status = response.status().as_u16();
            self.read_json(response).await?;
            return Err(ClientError::UnexpectedResponse { server: self.server().to_owned(), status }.into());
        }
        let header =
            |name| response.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let is_archive = header(CONTENT_TYPE).split(';').next() == Some("application/zip");
        let name = suggested_name(header(CONTENT_DISPOSITION));
        let mut bytes = 0_u64;
        while let Some(piece) = response.chunk().await.map_err(lost)? {
            bytes = bytes.saturating_add(piece.len() as u64);
            if bytes > most {
                return Err(DownloadError::TooLarge(most));
            }
            out.write_all(&piece)?;
        }
        out.flush()?;
        Ok(Downloaded { name, is_archive, bytes })
    }
}

/// The file name in `Content-Disposition`, decoded, without folders and characters that a terminal or file system interprets.
fn suggested_name(header: &str) -> String {
    let Some((_, coded)) = header.split_once("filename*=UTF-8''") else { return String::new() };
    let coded = coded.split(';').next().unwrap_or_default();
    let mut bytes = Vec::with_capacity(coded.len());
    let mut rest = coded.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex =
            after.get(..2).and_then(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
        if let (b'%', Some(byte)) = (first, hex) {
            bytes.push(byte);
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    let name = String::from_utf8_lossy(&bytes).into_owned();
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let name: String = name.chars().filter(|character| !is_deceptive(*character)).collect();
    name.trim_matches(['.', ' ']).chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suggested_name_has_no_folder_and_no_control_characters() {
        for (header, name) in [
            ("attachment; filename*=UTF-8''notes.md", "notes.md"),
            ("attachment; filename*=UTF-8''%C3%BCber%20uns.html", "über uns.html"),
            ("attachment; filename*=UTF-8''..%2F..%2Fetc%2Fpasswd", "passwd"),
            ("attachment; filename*=UTF-8''..%5C..%5Cx.html", "x.html"),
            ("attachment; filename*=UTF-8''%1B%5B2Ja%zz", "[2Ja%zz"),
            ("attachment; filename*=UTF-8''a%E2%80%AEb.html", "ab.html"),
            ("attachment; filename*=UTF-8''..", ""),
            ("attachment", ""),
        ] {
            assert_eq!(suggested_name(header), name, "{header}");
        }
    }
}
