//! A version of a site: the immutable content of one upload. Spec §2.

use crate::version_maker::VersionMaker;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteVersion {
    pub site_id: String,
    pub version: i64,
    pub bundle_id: String,
    pub title: String,
    pub byte_size: i64,
    pub file_count: i64,
    pub e2e: bool,
    pub restored_from: Option<i64>,
    /// None for versions made before this was recorded.
    pub maker: Option<VersionMaker>,
    pub created_at: i64,
}
