//! Chooses the TLS configuration for the name that a client asks for: from the operator's files, from memory, or from the
//! database. A name that this server does not serve costs no storage access.

use super::challenges::Challenges;
use super::files::{CertificateFiles, Reloaded};
use super::names::{is_own, is_own_host, page_wildcard};
use super::source::CertificateSource;
use super::template::ConfigTemplate;
use crate::acme::challenge_config;
use crate::config::Resolved;
use anyhow::Result;
use dropleaf_app::{App, TlsMode};
use dropleaf_core::certificate::ChallengeKind;
use dropleaf_core::host::Hosts;
use quick_cache::sync::Cache;
use rustls::ServerConfig;
use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::Instant;

/// Certificates kept in memory, at about 5 KB each.
const CACHED: usize = 20_000;
/// How long a name is taken to have no certificate, after a lookup and after a failed one.
const MISSING_FOR: Duration = Duration::from_secs(5);
const FAILED_FOR: Duration = Duration::from_secs(1);
/// How often the database is asked whether a certificate has changed, in case no notification arrives.
const REFRESH_EVERY: Duration = Duration::from_secs(2);
/// How often the operator's files are checked.
const CHECK_FILES_EVERY: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub struct ServedCertificates {
    hosts: Hosts,
    mode: TlsMode,
    template: ConfigTemplate,
    files: Option<CertificateFiles>,
    source: Arc<dyn CertificateSource>,
    challenges: Arc<Challenges>,
    cache: Cache<String, CachedCertificate>,
    /// The revision of the certificates in the database that the cache reflects.
    revision: AtomicI64,
    /// Changes when entries of the cache may be outdated, so that a lookup under way is not kept.
    generation: AtomicU64,
}

#[derive(Debug, Clone)]
enum CachedCertificate {
    Ready { config: Arc<ServerConfig>, serial: Arc<str> },
    Missing { until: Instant },
}

/// What to answer a client.
#[derive(Debug)]
pub(super) enum Choice {
    Serve(Arc<ServerConfig>),
    /// Proves to a certificate authority that the name leads here; nothing else follows.
    Prove(Arc<ServerConfig>),
    /// The name is not served here.
    UnknownName,
    /// The name is served, but there is no certificate or challenge for it.
    NoCertificate,
}

impl ServedCertificates {
    pub(crate) fn new(resolved: &Resolved, app: &Arc<App>) -> Result<Self> {
        let source: Arc<dyn CertificateSource> = Arc::clone(app) as _;
        let tls = &resolved.config.tls;
        Self::with_source(
            &resolved.hosts,
            resolved.settings.tls_mode,
            (!tls.cert_file.is_empty()).then_some((tls.cert_file.as_str(), tls.key_file.as_str())),
            source,
        )
    }

    pub(super) fn with_source(
        hosts: &Hosts,
        mode: TlsMode,
        files: Option<(&str, &str)>,
        source: Arc<dyn CertificateSource>,
    ) -> Result<Self> {
        let template = ConfigTemplate::new()?;
        let files =
            files.map(|(cert, key)| CertificateFiles::load(cert, key, template.clone())).transpose()?;
        Ok(Self {
            hosts: hosts.clone(),
            mode,
            template,
            files,
            challenges: Arc::new(Challenges::new(Arc::clone(&source), mode)),
            source,
            cache: Cache::new(CACHED),
            revision: AtomicI64::new(-1),
            generation: AtomicU64::new(0),
        })
    }

    pub(super) fn challenges(&self) -> Arc<Challenges> {
        Arc::clone(&self.challenges)
    }

    /// Whether the operator's files in use cover a name, in lower case.
    pub(crate) fn files_cover(&self, name: &str) -> bool {
        self.files.as_ref().is_some_and(|files| files.current().names.cover(name))
    }

    /// When the certificate of the operator's files expires.
    pub(crate) fn files_expiry(&self) -> Option<i64> {
        Some(self.files.as_ref()?.current().not_after)
    }

    /// Whether a name, in lower case, is a verified custom domain.
    pub(super) fn is_served_domain(&self, name: &str) -> bool {
        self.source.is_served(name)
    }

    /// Chooses by the server name, in lower case. Clients that connect to an IP address send none.
    pub(super) async fn choose(&self, name: Option<&str>, is_authority: bool) -> Choice {
        let server_name = name.unwrap_or(&self.hosts.base.host);
        let files = self.files.as_ref().map(CertificateFiles::current);
        let is_covered = files.as_ref().is_some_and(|files| files.names.cover(server_name));
        if !is_covered && !is_own(&self.hosts, server_name) && !self.source.is_served(server_name) {
            return Choice::UnknownName;
        }
        if is_authority {
            return self.prove(server_name).await;
        }
        // Without another source, the client decides whether it accepts the certificate for this name.
        if let Some(files) = files.filter(|_| is_covered || self.mode == TlsMode::Files) {
            return Choice::Serve(Arc::clone(&files.config));
        }
        self.find_issued(server_name).await.map_or(Choice::NoCertificate, Choice::Serve)
    }

    async fn prove(&self, name: &str) -> Choice {
        match self.challenges.find(ChallengeKind::TlsAlpn01, name).await {
            Ok(Some(key_authorization)) => match challenge_config(&key_authorization, name) {
                Ok(config) => return Choice::Prove(config),
                Err(error) => tracing::warn!(name, %error, "challenge certificate not created"),
            },
            Ok(None) => {}
            Err(error) => tracing::warn!(name, %error, "challenge not found"),
        }
        Choice::NoCertificate
    }

    async fn find_issued(&self, name: &str) -> Option<Arc<ServerConfig>> {
        if self.mode != TlsMode::Acme {
            return None;
        }
        // The names that certificates are ordered for, so that hosts of pages share one lookup.
        if (is_own_host(&self.hosts, name) || self.source.is_served(name))
            && let Some(config) = self.cached(name).await
        {
            return Some(config);
        }
        self.cached(&page_wildcard(&self.hosts, name)?).await
    }

    /// The certificate with this name. Concurrent lookups of one name share one query.
    async fn cached(&self, name: &str) -> Option<Arc<ServerConfig>> {
        let now = Instant::now();
        match self.cache.get(name) {
            Some(CachedCertificate::Ready { config, .. }) => return Some(config),
            Some(CachedCertificate::Missing { until }) if until > now => return None,
            Some(CachedCertificate::Missing { .. }) => {
                self.cache.remove_if(
                    name,
                    |found| matches!(found, CachedCertificate::Missing { until } if *until <= now),
                );
            }
            None => {}
        }
        let generation = self.generation.load(Ordering::SeqCst);
        let load = async { Ok::<_, Infallible>(self.load(name).await) };
        let Ok(found) = self.cache.get_or_insert_async(name, load).await;
        if self.generation.load(Ordering::SeqCst) != generation {
            self.cache.remove(name);
        }
        match found {
            CachedCertificate::Ready { config, .. } => Some(config),
            CachedCertificate::Missing { .. } => None,
        }
    }

    async fn load(&self, name: &str) -> CachedCertificate {
        let missing = |time| CachedCertificate::Missing { until: Instant::now() + time };
        match self.source.find_issued(name).await {
            Ok(None) => missing(MISSING_FOR),
            Ok(Some(found)) => {
                match self.template.with_pem(&found.chain_and_key_pem, &found.chain_and_key_pem) {
                    Ok(config) => CachedCertificate::Ready { config, serial: found.serial.into() },
                    Err(error) => {
                        tracing::error!(name, error = format!("{error:#}"), "stored certificate not usable");
                        missing(MISSING_FOR)
                    }
                }
            }
            Err(error) => {
                tracing::warn!(name, %error, "certificate not loaded");
                missing(FAILED_FOR)
            }
        }
    }

    /// Forgets the certificate with this name: a new one was stored.
    pub fn invalidate(&self, name: &str) {
        self.generation.fetch_add(1, Ordering::SeqCst);
        self.cache.remove(name);
    }

    /// Forgets certificates that were replaced or removed in the database, by any node.
    pub async fn refresh(&self) -> dropleaf_core::Result<()> {
        let revision = self.source.revision().await?;
        if revision == self.revision.load(Ordering::SeqCst) {
            return Ok(());
        }
        let serials: HashMap<String, String> = self.source.list_serials().await?.into_iter().collect();
        self.generation.fetch_add(1, Ordering::SeqCst);
        self.cache.retain(|name, cached| match cached {
            CachedCertificate::Ready { serial, .. } => {
                serials.get(name).is_some_and(|current| **current == **serial)
            }
            CachedCertificate::Missing { .. } => false,
        });
        self.revision.store(revision, Ordering::SeqCst);
        Ok(())
    }

    /// Follows changes in the database.
    pub(crate) async fn follow(self: Arc<Self>) {
        if self.mode != TlsMode::Acme {
            return;
        }
        loop {
            if let Err(error) = self.refresh().await {
                tracing::warn!(%error, "changes of certificates not read, will retry");
            }
            let _ = tokio::time::timeout(REFRESH_EVERY, self.source.wait_for_change()).await;
        }
    }

    /// Follows changes of the operator's files.
    pub(crate) async fn watch_files(self: Arc<Self>) {
        while self.files.is_some() {
            tokio::time::sleep(CHECK_FILES_EVERY).await;
            let certificates = Arc::clone(&self);
            let check = move || certificates.files.as_ref().and_then(CertificateFiles::check);
            match tokio::task::spawn_blocking(check).await {
                Ok(None) => {}
                Ok(Some(reloaded)) => log_reloaded(&reloaded),
                Err(error) => tracing::warn!(%error, "certificate files not checked"),
            }
        }
    }

    /// Reads the operator's files now and logs the result.
    pub async fn reload_files(self: &Arc<Self>) {
        let certificates = Arc::clone(self);
        let reload = move || certificates.files.as_ref().map(CertificateFiles::reload);
        match tokio::task::spawn_blocking(reload).await {
            Ok(None) => {}
            Ok(Some(reloaded)) => log_reloaded(&reloaded),
            Err(error) => tracing::warn!(%error, "certificate files not reloaded"),
        }
    }
}

fn log_reloaded(reloaded: &Reloaded) {
    match reloaded {
        Reloaded::Unchanged => tracing::info!("certificate files reloaded, no changes"),
        Reloaded::Changed(names) => tracing::info!(names = names.join(" "), "certificate files reloaded"),
        Reloaded::Rejected(why) => {
            tracing::warn!(why, "certificate files rejected; the previous certificate stays in use");
        }
    }
}

#[cfg(test)]
mod tests;
