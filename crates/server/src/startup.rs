//! Builds the app: opens and migrates the storage, loads or creates the server's secret.

use crate::config::{Config, Resolved};
use crate::outbound::{DnsClient, RemoteChecker, RemoteFacilitator, StripeApi, WebhookSender};
use anyhow::{Context, Result};
use dropleaf_app::{App, CardProcessor, Checker, Dependencies, DnsLookup, Facilitator, WebhookTransport};
use dropleaf_core::secret::Keys;
use dropleaf_core::{Clock, Minter, SystemClock};
use dropleaf_store::blobs::{Blobs, Credentials};
use dropleaf_store::{Db, Store};
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;

/// Opens the storage and migrates it.
pub async fn open_store(resolved: &Resolved, now: i64) -> Result<Store> {
    make_private_dir(&resolved.data_dir)?;
    let db = Db::open_with(&resolved.database_url, &resolved.database_options).await;
    let db = db.context("cannot open the database")?;
    db.migrate(now).await.context("cannot migrate the database")?;
    Ok(Store::new(db, open_blobs(resolved)?))
}

/// Builds the app over an opened store.
pub async fn open_app(resolved: &Resolved) -> Result<App> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::default());
    open_app_with(resolved, clock, Minter::system()).await
}

/// The same with the given clock and minter.
pub async fn open_app_with(resolved: &Resolved, clock: Arc<dyn Clock>, minter: Minter) -> Result<App> {
    let store = open_store(resolved, clock.now()).await?;
    let keys = keys(&resolved.config, &resolved.data_dir, &minter)?;
    make_private_dir(&resolved.settings.spool_dir)?;
    let facilitator = resolved.facilitator.as_deref().map(RemoteFacilitator::new).transpose()?;
    let facilitator = facilitator.map(|it| Arc::new(it) as Arc<dyn Facilitator>);
    let processor = resolved.stripe.as_deref().map(StripeApi::new).transpose()?;
    let checker = resolved.checker.as_deref().map(RemoteChecker::new).transpose()?;
    let dns = match DnsClient::new(&resolved.dns) {
        Ok(client) => Some(Arc::new(client) as Arc<dyn DnsLookup>),
        Err(error) => {
            // Everything else works without it.
            tracing::warn!(error = format!("{error:#}"), "custom domains cannot be verified");
            None
        }
    };
    let webhooks = WebhookSender::new(resolved, dns.clone())?;
    Ok(App::new(Dependencies {
        store,
        clock,
        minter,
        keys,
        hosts: resolved.hosts.clone(),
        settings: resolved.settings.clone(),
        mailer: resolved.mail.open(&resolved.data_dir)?,
        facilitator,
        card_processor: processor.map(|it| Arc::new(it) as Arc<dyn CardProcessor>),
        checker: checker.map(|it| Arc::new(it) as Arc<dyn Checker>),
        dns,
        webhooks: Some(Arc::new(webhooks) as Arc<dyn WebhookTransport>),
    }))
}

/// The server's secret, if there is one yet. Creates nothing.
pub(crate) fn read_keys(config: &Config, data_dir: &Path) -> Option<Keys> {
    if !config.secret_key.is_empty() {
        return parse_key(&config.secret_key);
    }
    parse_key(fs::read_to_string(data_dir.join("secret.key")).ok()?.trim())
}

/// Opens the bodies of pages.
pub(crate) fn open_blobs(resolved: &Resolved) -> Result<Blobs> {
    let config = &resolved.config;
    let credentials = (!config.s3.access_key_id.is_empty()).then(|| Credentials {
        access_key_id: config.s3.access_key_id.clone(),
        secret_access_key: config.s3.secret_access_key.clone(),
        session_token: None,
    });
    Blobs::open_with(&resolved.blobs_url, config.storage.inline_bytes, credentials.as_ref())
        .context("cannot open the blob store")
}

/// The server's secret key: from the settings, or stored in the data folder since the first start.
fn keys(config: &Config, data_dir: &Path, minter: &Minter) -> Result<Keys> {
    if !config.secret_key.is_empty() {
        return parse_key(&config.secret_key).context("`secret_key` must be 64 hexadecimal digits");
    }
    let path = data_dir.join("secret.key");
    match fs::read_to_string(&path) {
        Ok(text) => parse_key(text.trim()).with_context(|| format!("{} is damaged", path.display())),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let master = minter.bytes::<32>();
            let text = master.iter().fold(String::new(), |text, b| format!("{text}{b:02x}"));
            let stored = store_secret(data_dir, &path, text)
                .with_context(|| format!("cannot write {}", path.display()))?;
            parse_key(stored.trim()).with_context(|| format!("{} is damaged", path.display()))
        }
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

/// Stores a new secret, unless another node that shares the folder has just stored one; returns the one that is stored.
fn store_secret(data_dir: &Path, path: &Path, text: String) -> std::io::Result<String> {
    // Written to a file of its own and linked when it is complete, so that a crash never leaves half a secret. Two containers
    // may have the same process id, so its name has a random part.
    let random = RandomState::new().hash_one(std::process::id());
    let fresh = data_dir.join(format!("secret.key.{random:016x}.new"));
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    match fs::hard_link(&fresh, path) {
        Ok(()) => fs::remove_file(&fresh)?,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            fs::remove_file(&fresh)?;
            return fs::read_to_string(path);
        }
        // A file system without links.
        Err(_) => fs::rename(&fresh, path)?,
    }
    fs::File::open(data_dir)?.sync_all()?;
    Ok(text)
}

fn parse_key(text: &str) -> Option<Keys> {
    let mut master = [0; 32];
    if text.len() != 64 {
        return None;
    }
    for (at, byte) in master.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(at * 2..at * 2 + 2)?, 16).ok()?;
    }
    Some(Keys::new(master))
}

pub(crate) fn make_private_dir(dir: &Path) -> Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
        .with_context(|| format!("cannot create the data folder {}", dir.display()))
}

/// Deletes incomplete uploads left by a crash. Only the server calls it, because a running one is still writing to them.
pub(crate) fn empty_spool(dir: &Path) -> Result<()> {
    make_private_dir(dir)?;
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_file() {
            fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_that_another_node_stored_first_is_used() {
        let dir = tempfile::TempDir::new().unwrap();
        let path = dir.path().join("secret.key");
        assert_eq!(store_secret(dir.path(), &path, "first".into()).unwrap(), "first");
        assert_eq!(store_secret(dir.path(), &path, "second".into()).unwrap(), "first");
        assert_eq!(fs::read_to_string(&path).unwrap(), "first");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing else is left");
    }
}
