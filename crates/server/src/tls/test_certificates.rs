//! Self-signed certificates for tests, and a database of them that counts what is read.

use super::source::CertificateSource;
use async_trait::async_trait;
use dropleaf_app::IssuedCertificate;
use dropleaf_core::certificate::ChallengeKind;
use dropleaf_core::{Code, Error, Result};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::{OwnedRwLockWriteGuard, RwLock};

#[derive(Debug, Clone)]
pub(super) struct TestCertificate {
    pub(super) chain: String,
    pub(super) key: String,
}

impl TestCertificate {
    pub(super) fn new(names: &[&str]) -> Self {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let made = rcgen::generate_simple_self_signed(names).unwrap();
        Self { chain: made.cert.pem(), key: made.signing_key.serialize_pem() }
    }
}

/// Writes `cert.pem` and `key.pem`.
pub(super) fn write(dir: &Path, certificate: &TestCertificate) {
    std::fs::write(dir.join("cert.pem"), &certificate.chain).unwrap();
    std::fs::write(dir.join("key.pem"), &certificate.key).unwrap();
}

#[derive(Debug, Default)]
pub(super) struct FakeSource {
    served: HashSet<String>,
    issued: Mutex<HashMap<String, (String, TestCertificate)>>,
    challenges: Mutex<HashMap<(ChallengeKind, String), Vec<u8>>>,
    revision: AtomicI64,
    reads: AtomicUsize,
    fails: AtomicBool,
    pause: Arc<RwLock<()>>,
}

impl FakeSource {
    /// With these custom domains.
    pub(super) fn serving(names: &[&str]) -> Arc<Self> {
        Arc::new(Self { served: names.iter().map(|name| (*name).to_owned()).collect(), ..Self::default() })
    }

    /// Stores a new certificate and returns its chain.
    pub(super) fn issue(&self, name: &str, serial: &str) -> String {
        let certificate = TestCertificate::new(&[name]);
        let chain = certificate.chain.clone();
        self.issued.lock().unwrap().insert(name.to_owned(), (serial.to_owned(), certificate));
        self.revision.fetch_add(1, Ordering::SeqCst);
        chain
    }

    pub(super) fn remove(&self, name: &str) {
        self.issued.lock().unwrap().remove(name);
        self.revision.fetch_add(1, Ordering::SeqCst);
    }

    pub(super) fn challenge(&self, kind: ChallengeKind, name: &str, key_authorization: &str) {
        self.challenges.lock().unwrap().insert((kind, name.to_owned()), key_authorization.into());
    }

    pub(super) fn fail(&self, fails: bool) {
        self.fails.store(fails, Ordering::SeqCst);
    }

    /// How many certificates and challenges were read.
    pub(super) fn reads(&self) -> usize {
        self.reads.load(Ordering::SeqCst)
    }

    /// Holds answers back, after they were read, until the guard is dropped.
    pub(super) async fn pause_reads(&self) -> OwnedRwLockWriteGuard<()> {
        Arc::clone(&self.pause).write_owned().await
    }
}

#[async_trait]
impl CertificateSource for FakeSource {
    fn is_served(&self, name: &str) -> bool {
        self.served.contains(name)
    }

    async fn find_issued(&self, name: &str) -> Result<Option<IssuedCertificate>> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        let found = self.issued.lock().unwrap().get(name).cloned();
        let _pause = self.pause.read().await;
        if self.fails.load(Ordering::SeqCst) {
            return Err(Error::plain(Code::StorageUnavailable));
        }
        Ok(found.map(|(serial, TestCertificate { chain, key })| IssuedCertificate {
            name: name.to_owned(),
            serial,
            chain_and_key_pem: format!("{chain}{key}").into_bytes(),
        }))
    }

    async fn revision(&self) -> Result<i64> {
        Ok(self.revision.load(Ordering::SeqCst))
    }

    async fn list_serials(&self) -> Result<Vec<(String, String)>> {
        let issued = self.issued.lock().unwrap();
        Ok(issued.iter().map(|(name, (serial, _))| (name.clone(), serial.clone())).collect())
    }

    async fn wait_for_change(&self) {
        std::future::pending::<()>().await;
    }

    async fn find_challenge(&self, kind: ChallengeKind, name: &str) -> Result<Option<Vec<u8>>> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        Ok(self.challenges.lock().unwrap().get(&(kind, name.to_owned())).cloned())
    }
}
