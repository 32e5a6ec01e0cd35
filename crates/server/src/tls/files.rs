//! The operator's certificate files: loaded at start, on SIGHUP, and when they change. Files that cannot be used change
//! nothing: the current certificate stays in use.

use super::names::{CertificateNames, expiry_of_pem};
use super::template::ConfigTemplate;
use anyhow::{Context, Result};
use rustls::ServerConfig;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// What changes about the two files when they are written or replaced. None: the file is not there.
type FilesState = [Option<(u64, u64, i64, i64)>; 2];

#[derive(Debug)]
pub(super) struct CertificateFiles {
    cert_file: PathBuf,
    key_file: PathBuf,
    template: ConfigTemplate,
    current: RwLock<Arc<LoadedFiles>>,
    known: Mutex<FilesHistory>,
}

/// A usable certificate with its key.
#[derive(Debug)]
pub(super) struct LoadedFiles {
    pub(super) config: Arc<ServerConfig>,
    pub(super) names: CertificateNames,
    pub(super) not_after: i64,
    /// To tell whether anything has changed.
    content: [Vec<u8>; 2],
}

/// The last known states of the files.
#[derive(Debug)]
struct FilesHistory {
    last: FilesState,
    /// Their state when they were last read, with or without success.
    read: FilesState,
}

/// The result of reading the files again.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reloaded {
    Unchanged,
    /// A new certificate for these names is in use.
    Changed(Vec<String>),
    Rejected(String),
}

impl CertificateFiles {
    pub(super) fn load(cert_file: &str, key_file: &str, template: ConfigTemplate) -> Result<Self> {
        let (cert_file, key_file) = (PathBuf::from(cert_file), PathBuf::from(key_file));
        let state = [&cert_file, &key_file].map(|path| state_of(path));
        let loaded = read(&cert_file, &key_file, &template)?;
        Ok(Self {
            cert_file,
            key_file,
            template,
            current: RwLock::new(Arc::new(loaded)),
            known: Mutex::new(FilesHistory { last: state, read: state }),
        })
    }

    pub(super) fn current(&self) -> Arc<LoadedFiles> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads the files if they have changed and are the same in two consecutive checks: both are written by then. None:
    /// there is nothing to read.
    pub(super) fn check(&self) -> Option<Reloaded> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.state();
        let is_still = known.last == now;
        known.last = now;
        (is_still && known.read != now).then(|| self.read_known(&mut known))
    }

    /// Reads the files now.
    pub(super) fn reload(&self) -> Reloaded {
        self.read_known(&mut self.known.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn read_known(&self, known: &mut FilesHistory) -> Reloaded {
        known.read = self.state();
        let loaded = match read(&self.cert_file, &self.key_file, &self.template) {
            Ok(loaded) => loaded,
            Err(error) => return Reloaded::Rejected(format!("{error:#}")),
        };
        if loaded.content == self.current().content {
            return Reloaded::Unchanged;
        }
        let names = loaded.names.all().to_vec();
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(loaded);
        Reloaded::Changed(names)
    }

    fn state(&self) -> FilesState {
        [&self.cert_file, &self.key_file].map(|path| state_of(path))
    }
}

/// Follows links, which is how some tools replace certificates.
fn state_of(path: &Path) -> Option<(u64, u64, i64, i64)> {
    let about = path.metadata().ok()?;
    Some((about.ino(), about.len(), about.mtime(), about.mtime_nsec()))
}

fn read(cert_file: &Path, key_file: &Path, template: &ConfigTemplate) -> Result<LoadedFiles> {
    let bytes =
        |path: &Path| std::fs::read(path).with_context(|| format!("cannot read {} for TLS", path.display()));
    let content = [bytes(cert_file)?, bytes(key_file)?];
    let about = || format!("{} with the key {}", cert_file.display(), key_file.display());
    let config = template.with_pem(&content[0], &content[1]).with_context(about)?;
    let names = CertificateNames::of_pem(&content[0]).with_context(about)?;
    let not_after = expiry_of_pem(&content[0]).with_context(about)?;
    Ok(LoadedFiles { config, names, not_after, content })
}

#[cfg(test)]
mod tests {
    use super::super::test_certificates::{TestCertificate, write};
    use super::*;
    use tempfile::TempDir;

    fn files(dir: &TempDir) -> CertificateFiles {
        let path = |name: &str| dir.path().join(name).display().to_string();
        CertificateFiles::load(&path("cert.pem"), &path("key.pem"), ConfigTemplate::new().unwrap()).unwrap()
    }

    #[test]
    fn changed_files_are_read_once_they_are_complete() {
        let dir = TempDir::new().unwrap();
        write(dir.path(), &TestCertificate::new(&["a.example"]));
        let files = files(&dir);
        assert!(files.current().names.cover("a.example"));
        assert_eq!((files.check(), files.check()), (None, None));
        write(dir.path(), &TestCertificate::new(&["b.example"]));
        assert_eq!(files.check(), None, "they may still be written");
        assert_eq!(files.check(), Some(Reloaded::Changed(vec!["b.example".into()])));
        assert!(files.current().names.cover("b.example"));
        assert_eq!(files.check(), None);
        assert_eq!(files.reload(), Reloaded::Unchanged);
    }

    #[test]
    fn unusable_files_leave_the_certificate_in_use() {
        let dir = TempDir::new().unwrap();
        let (old, new) = (TestCertificate::new(&["a.example"]), TestCertificate::new(&["b.example"]));
        write(dir.path(), &old);
        let files = files(&dir);
        std::fs::write(dir.path().join("cert.pem"), &new.chain).unwrap();
        assert_eq!(files.check(), None);
        let Some(Reloaded::Rejected(why)) = files.check() else { panic!("not of this key") };
        assert!(why.contains("do not match"), "{why}");
        assert_eq!(files.check(), None, "reported once");
        for broken in ["", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
            std::fs::write(dir.path().join("cert.pem"), broken).unwrap();
            assert!(matches!(files.reload(), Reloaded::Rejected(_)), "{broken}");
        }
        std::fs::remove_file(dir.path().join("cert.pem")).unwrap();
        assert!(matches!(files.reload(), Reloaded::Rejected(_)));
        assert!(files.current().names.cover("a.example"));
        write(dir.path(), &new);
        assert_eq!(files.reload(), Reloaded::Changed(vec!["b.example".into()]));
    }
}
