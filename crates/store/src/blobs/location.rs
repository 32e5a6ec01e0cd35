//! Opens the object store for large bodies from a blobs URL (`file:PATH` or `s3://bucket[/prefix]?endpoint=…`).

use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::local::LocalFileSystem;
use object_store::prefix::PrefixStore;
use object_store::{ClientOptions, ObjectStore, RetryConfig};
use percent_encoding::percent_decode_str;

use super::BlobError;

/// Credentials for an S3 server, if they are not in the URL.
#[derive(Clone)]
pub struct Credentials {
    pub access_key_id: String,
    pub secret_access_key: String,
    pub session_token: Option<String>,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Credentials")
    }
}

/// The object store, and its folder if it is a local one.
pub(crate) type OpenedObjectStore = (Arc<dyn ObjectStore>, Option<PathBuf>);

pub(crate) fn open(url: &str, credentials: Option<&Credentials>) -> Result<OpenedObjectStore, BlobError> {
    if let Some(path) = url.strip_prefix("file:") {
        return folder(PathBuf::from(path.strip_prefix("//").unwrap_or(path)));
    }
    if let Some(rest) = url.strip_prefix("s3://") {
        return Ok((bucket(rest, credentials)?, None));
    }
    Err(BlobError::internal("a blobs URL starts with file: or s3://"))
}

fn folder(path: PathBuf) -> Result<OpenedObjectStore, BlobError> {
    // Objects get ordinary modes; the private folder around them keeps out other users of the machine.
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&path)?;
    let store = LocalFileSystem::new_with_prefix(&path)?.with_fsync(true);
    Ok((Arc::new(store), Some(path)))
}

fn bucket(rest: &str, credentials: Option<&Credentials>) -> Result<Arc<dyn ObjectStore>, BlobError> {
    let (bucket_path, options) = rest.split_once('?').unwrap_or((rest, ""));
    let (name, prefix) = bucket_path.split_once('/').unwrap_or((bucket_path, ""));
    // Viewers wait for these requests; the library's defaults are meant for batch work.
    let retry =
        RetryConfig { max_retries: 3, retry_timeout: Duration::from_secs(10), ..RetryConfig::default() };
    // No limit for a whole request: a large body may take as long as its viewer needs, if only each read goes on.
    let client = ClientOptions::new()
        .with_connect_timeout(Duration::from_secs(3))
        .with_read_timeout(Duration::from_secs(20))
        .with_timeout_disabled();
    let mut builder =
        AmazonS3Builder::new().with_bucket_name(name).with_retry(retry).with_client_options(client);
    if let Some(credentials) = credentials {
        builder = builder
            .with_access_key_id(&credentials.access_key_id)
            .with_secret_access_key(&credentials.secret_access_key);
        if let Some(token) = &credentials.session_token {
            builder = builder.with_token(token);
        }
    }
    for (key, value) in options.split('&').filter_map(|pair| pair.split_once('=')) {
        let value = percent_decode_str(value)
            .decode_utf8()
            .map_err(|_| BlobError::internal(format!("{key} in the blobs URL is not UTF-8")))?;
        builder = match key {
            "endpoint" => builder.with_endpoint(value),
            "region" => builder.with_region(value),
            "access_key_id" => builder.with_access_key_id(value),
            "secret_access_key" => builder.with_secret_access_key(value),
            "session_token" => builder.with_token(value),
            "allow_http" => builder.with_allow_http(value == "true"),
            "virtual_hosted" => builder.with_config(AmazonS3ConfigKey::VirtualHostedStyleRequest, value),
            other => return Err(BlobError::internal(format!("unknown option {other} in the blobs URL"))),
        };
    }
    let store = builder.build()?;
    Ok(if prefix.is_empty() { Arc::new(store) } else { Arc::new(PrefixStore::new(store, prefix)) })
}
