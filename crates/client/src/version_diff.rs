//! What changed between two versions of a page, as the server compares them.

use crate::answer::{Answer, segment};
use crate::client::Client;
use crate::error::ClientError;
use reqwest::Method;
use serde::Deserialize;

#[derive(Debug, Clone, Deserialize)]
pub struct VersionDiff {
    pub files: Vec<ChangedFile>,
    /// Something was left out because the difference is too long.
    pub truncated: bool,
}

#[derive(Debug, Clone, Deserialize)]
pub struct ChangedFile {
    pub path: String,
    /// `added`, `removed` or `changed`.
    pub status: String,
    pub binary: bool,
    pub hunks: Vec<ChangedLines>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct ChangedLines {
    pub old_start: usize,
    pub old_lines: usize,
    pub new_start: usize,
    pub new_lines: usize,
    /// As in a unified difference.
    pub lines: Vec<String>,
}

impl Client {
    pub async fn diff_versions(
        &self,
        name: &str,
        from: i64,
        to: i64,
    ) -> Result<Answer<VersionDiff>, ClientError> {
        let path = format!("/sites/{}/diff?from={from}&to={to}", segment(name));
        self.answer(Method::GET, &path, None).await
    }
}
