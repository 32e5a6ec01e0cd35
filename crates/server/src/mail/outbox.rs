//! Writes emails to a folder, one file each, so that everything that needs mail works on a laptop without a mail server.

use super::{Sender, compose};
use dropleaf_app::{Email, MailError, Mailer};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{Result, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// How many emails are kept; codes expire after ten minutes.
const KEPT: usize = 500;

#[derive(Debug)]
pub struct Outbox {
    dir: PathBuf,
    from: Sender,
}

impl Outbox {
    pub fn new(dir: PathBuf, from: Sender) -> Self {
        Self { dir, from }
    }
}

impl Mailer for Outbox {
    fn is_ready(&self) -> bool {
        make(&self.dir).is_ok()
    }

    fn send<'a>(&'a self, letter: &'a Email) -> BoxFuture<'a, std::result::Result<(), MailError>> {
        async move {
            let (_, bytes) = compose::message(letter, &self.from)?;
            // The name sorts by time, so that the oldest can be found.
            let name = format!("{:012}-{}.eml", letter.written_at, letter.id);
            let (dir, file) = (self.dir.clone(), self.dir.join(&name));
            let written = tokio::task::spawn_blocking(move || write(&dir, &name, &bytes)).await;
            match written {
                Ok(Ok(())) => {
                    tracing::info!(file = %file.display(), "email queued in outbox (no SMTP server configured)");
                    Ok(())
                }
                Ok(Err(error)) => Err(MailError::Temporary(format!("the outbox cannot be written to: {error}"))),
                Err(_) => Err(MailError::Ambiguous("writing to the outbox was cut short".into())),
            }
        }
        .boxed()
    }
}

fn make(dir: &Path) -> Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

/// Writes to a temporary file and renames it, so that readers of the folder see only complete emails.
fn write(dir: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    make(dir)?;
    let temporary = dir.join(format!("{name}.new"));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
    file.write_all(bytes)?;
    fs::rename(&temporary, dir.join(name))?;
    forget_old(dir)
}

fn forget_old(dir: &Path) -> Result<()> {
    let mut emails: Vec<PathBuf> = fs::read_dir(dir)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "eml"))
        .collect();
    emails.sort();
    let old = emails.len().saturating_sub(KEPT);
    for path in &emails[..old] {
        // Two concurrent writes may both see the same oldest one.
        let _ = fs::remove_file(path);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_emails_are_kept() {
        let dir = tempfile::TempDir::new().unwrap();
        let outbox = dir.path().join("outbox");
        for n in 0..KEPT + 3 {
            write(&outbox, &format!("{n:012}-x.eml"), b"letter").unwrap();
        }
        assert_eq!(fs::read_dir(&outbox).unwrap().count(), KEPT);
        assert!(!outbox.join("000000000002-x.eml").exists());
        assert!(outbox.join("000000000003-x.eml").exists());
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_not_ready() {
        let dir = tempfile::TempDir::new().unwrap();
        let blocked = dir.path().join("outbox");
        fs::write(&blocked, "a file in the way").unwrap();
        let from: Sender = "a@example.org".parse().unwrap();
        assert!(!Outbox::new(blocked, from.clone()).is_ready());
        assert!(Outbox::new(dir.path().join("other"), from).is_ready());
    }
}
