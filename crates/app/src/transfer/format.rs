//! The records of an account export, as documented in `docs/export.md`. Unknown fields are refused: a record that this
//! version does not understand must not be imported in part.

use dropleaf_core::hex;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(super) const FORMAT: &str = "dropleaf-account";
/// Rises when an older program could not import the export correctly.
pub(super) const FORMAT_VERSION: i64 = 1;
pub(super) const MANIFEST: &str = "manifest.json";

/// A BLAKE3 hash, written in hexadecimal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Digest(pub(super) [u8; 32]);

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex::encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        hex::digest(&text)
            .map(Self)
            .ok_or_else(|| serde::de::Error::custom("a BLAKE3 hash is 64 hexadecimal digits"))
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    pub(super) format: String,
    pub(super) version: i64,
    pub(super) created_at: i64,
    /// The address of the server that wrote it; for people.
    pub(super) server: String,
    pub(super) account: AccountRecord,
    pub(super) domains: Vec<DomainRecord>,
    /// Every other file of the archive.
    pub(super) files: Vec<FileRecord>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AccountRecord {
    pub(super) email: Option<String>,
    pub(super) plan: String,
    pub(super) created_at: i64,
    /// Which emails the owner chose; left out if there was no choice, so that older servers can import the rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) notify: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DomainRecord {
    pub(super) hostname: String,
    /// The id of its page in the export.
    pub(super) page: String,
    pub(super) primary: bool,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileRecord {
    pub(super) name: String,
    pub(super) size: u64,
    pub(super) blake3: Digest,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PageRecord {
    pub(super) id: String,
    pub(super) token: String,
    pub(super) slug: Option<String>,
    pub(super) visibility: String,
    pub(super) title: String,
    /// Left out unless the owner set the title, so that older servers can import the rest.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) title_set: bool,
    pub(super) version: i64,
    pub(super) created_at: i64,
    pub(super) updated_at: i64,
    pub(super) expires_at: Option<i64>,
    pub(super) agentation: bool,
    /// Left out for the default, so that an older program can import the page.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) live: bool,
    /// Left out unless viewers see changes, so that an older program can import the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) changes_since: Option<i64>,
    pub(super) csp_strict: bool,
    /// Left out for the default, so that an older program can import the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) feedback_visible: Option<String>,
    /// Whether it has a password. The password does not travel, not even as a hash.
    pub(super) has_password: bool,
    pub(super) email_gate_domain: Option<String>,
    pub(super) view_count: i64,
    pub(super) last_viewed_at: Option<i64>,
    /// Newest first.
    pub(super) versions: Vec<VersionRecord>,
    pub(super) feedback: Vec<FeedbackRecord>,
    pub(super) share_links: Vec<ShareLinkRecord>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VersionRecord {
    pub(super) version: i64,
    pub(super) title: String,
    pub(super) kind: String,
    pub(super) file_name: Option<String>,
    pub(super) spa: bool,
    pub(super) restored_from: Option<i64>,
    /// Left out for versions made before makers were recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) made_by: Option<MakerRecord>,
    pub(super) created_at: i64,
    /// What was uploaded: one file, or all files of an archive.
    pub(super) files: Vec<BodyRecord>,
}

/// Who or what made a version. The ID of the key or program does not travel: it means nothing elsewhere.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MakerRecord {
    pub(super) kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BodyRecord {
    pub(super) path: String,
    pub(super) size: u64,
    pub(super) blake3: Digest,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FeedbackRecord {
    pub(super) comment: String,
    pub(super) element: Option<String>,
    pub(super) element_path: Option<String>,
    pub(super) selected_text: Option<String>,
    pub(super) page_url: Option<String>,
    pub(super) intent: Option<String>,
    pub(super) severity: Option<String>,
    pub(super) created_at: i64,
    pub(super) resolved_at: Option<i64>,
    pub(super) resolved_note: Option<String>,
    // Left out if they are empty, so that an older program can import a comment without a thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) resolved_by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) reopened_at: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) reopened_by: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) replies: Vec<ReplyRecord>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReplyRecord {
    pub(super) author: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    pub(super) text: String,
    pub(super) reopens: bool,
    pub(super) created_at: i64,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ShareLinkRecord {
    pub(super) note: Option<String>,
    pub(super) bypass_email_gate: bool,
    pub(super) max_uses: Option<i64>,
    pub(super) uses: i64,
    pub(super) created_at: i64,
    pub(super) expires_at: Option<i64>,
    pub(super) last_used_at: Option<i64>,
}

/// The name of a page's record in the archive.
pub(super) fn page_name(id: &str) -> String {
    format!("pages/{id}.json")
}

/// The name of a body in the archive.
pub(super) fn body_name(hash: &Digest) -> String {
    format!("bodies/{}", hex::encode(&hash.0))
}
