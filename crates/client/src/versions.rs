//! The versions of a page.

use crate::answer::{Answer, segment};
use crate::client::{Client, json_body};
use crate::error::ClientError;
use crate::sites::PageInfo;
use reqwest::Method;
use serde::Deserialize;
use serde_json::json;

#[derive(Debug, Clone, Deserialize)]
pub struct PageVersion {
    pub version: i64,
    #[serde(default)]
    pub current: bool,
    #[serde(default)]
    pub title: String,
    #[serde(default)]
    pub byte_size: i64,
    #[serde(default)]
    pub files: i64,
    /// The version that this one restored.
    #[serde(default)]
    pub restored_from: Option<i64>,
    #[serde(default)]
    pub created_at: i64,
}

#[derive(Debug, Clone, Deserialize)]
pub struct PageVersions {
    /// Newest first.
    pub versions: Vec<PageVersion>,
}

impl PageVersions {
    /// The version before the one whose content is shown: after a rollback to 2, that is 1.
    pub fn before_current(&self) -> Option<i64> {
        let current = self.versions.iter().find(|version| version.current)?;
        let shown = current.restored_from.unwrap_or(current.version);
        self.versions.iter().map(|version| version.version).filter(|version| *version < shown).max()
    }
}

impl Client {
    pub async fn list_versions(&self, name: &str) -> Result<Answer<PageVersions>, ClientError> {
        self.answer(Method::GET, &format!("/sites/{}/versions", segment(name)), None).await
    }

    /// Publishes the content of an older version again, as a new one.
    pub async fn roll_back(&self, name: &str, version: i64) -> Result<Answer<PageInfo>, ClientError> {
        let body = json_body(&json!({ "version": version }));
        self.answer(Method::POST, &format!("/sites/{}/rollback", segment(name)), Some(body)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn versions(all: &[(i64, Option<i64>)]) -> PageVersions {
        let last = all.iter().map(|(version, _)| *version).max();
        let one = |(version, from): &(i64, Option<i64>)| json!({ "version": version, "restored_from": from, "current": Some(*version) == last });
        let json = json!({ "versions": all.iter().rev().map(one).collect::<Vec<_>>() });
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn one_rollback_after_the_other_goes_further_back() {
        for (all, before) in [
            (vec![(1, None)], None),
            (vec![(1, None), (2, None), (3, None)], Some(2)),
            (vec![(1, None), (2, None), (3, None), (4, Some(2))], Some(1)),
            (vec![(2, None), (3, None), (4, Some(2))], None),
        ] {
            assert_eq!(versions(&all).before_current(), before, "{all:?}");
        }
    }
}
