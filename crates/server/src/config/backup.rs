//! The settings of backups: where they go, with which credentials and key, how often, and how long they are kept.

use super::Config;
use anyhow::{Context, Result, ensure};
use dropleaf_app::BackupSettings;
use dropleaf_core::backup_schedule::{BackupRetention, BackupSchedule};
use dropleaf_store::backup::{BackupKey, Destination};
use dropleaf_store::blobs::Credentials;
use std::path::Path;

impl Config {
    /// A place for backups, with the configured credentials and key.
    pub(crate) fn backup_destination(&self, url: &str) -> Result<Destination> {
        let set = &self.backup;
        let credentials = (!set.access_key_id.is_empty()).then(|| Credentials {
            access_key_id: set.access_key_id.clone(),
            secret_access_key: set.secret_access_key.clone(),
            session_token: None,
        });
        Ok(Destination { url: url.to_owned(), credentials, key: self.backup_key()? })
    }

    fn backup_key(&self) -> Result<Option<BackupKey>> {
        let path = &self.backup.key_file;
        if path.is_empty() {
            return Ok(None);
        }
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("`backup.key_file`: cannot read {path}"))?;
        let key = BackupKey::parse(&text);
        Ok(Some(
            key.with_context(|| format!("`backup.key_file`: {path} must contain 64 hexadecimal digits"))?,
        ))
    }

    /// `None` if no backups are scheduled.
    pub(super) fn backups(&self, data_dir: &Path) -> Result<Option<BackupSettings>> {
        let set = &self.backup;
        let schedule = match set.every.as_str() {
            "" => None,
            text => Some(
                BackupSchedule::parse(text)
                    .context("`backup.every` must be a duration from 5m to 366d, or a time such as 03:15")?,
            ),
        };
        let retention = BackupRetention::parse(&set.keep)
            .context("`backup.keep` must be a number of backups from 1 to 1000, or days such as 30d")?;
        ensure!(
            set.to.is_empty() || set.to.starts_with("s3://") || set.to.starts_with("file:"),
            "`backup.to` must begin with s3:// or file:"
        );
        let place = |url: &str| url.split('?').next().unwrap_or_default().trim_end_matches('/').to_owned();
        ensure!(
            set.to.is_empty() || place(&set.to) != place(&self.blobs_url),
            "`backup.to` must be another place than `blobs_url`"
        );
        let Some(schedule) = schedule.filter(|_| !set.to.is_empty()) else { return Ok(None) };
        Ok(Some(BackupSettings {
            destination: self.backup_destination(&set.to)?,
            schedule,
            retention,
            work_dir: data_dir.join("backup-work"),
            check_dir: data_dir.join("backup-check"),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Layers, Sources};

    fn backups(settings: &[(&str, &str)]) -> Result<Option<BackupSettings>> {
        let flags = settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        Layers::load(&Sources { flags, ..Sources::default() })?.config()?.backups(Path::new("data"))
    }

    const TO: (&str, &str) = ("backup.to", "s3://other/prefix?region=x&secret_access_key=hunter2");

    #[test]
    fn nothing_is_scheduled_without_a_destination_and_an_interval() {
        assert!(backups(&[]).unwrap().is_none());
        assert!(backups(&[TO, ("backup.every", "")]).unwrap().is_none());
        let set = backups(&[TO, ("backup.every", "03:15"), ("backup.keep", "30d")]).unwrap().unwrap();
        assert_eq!(set.schedule, BackupSchedule::DailyAt(3 * 3600 + 900));
        assert_eq!(set.retention, BackupRetention::Age(30 * 86_400));
        assert_eq!(set.destination.name(), "s3://other/prefix");
        assert!(!format!("{set:?}").contains("hunter2"));
    }

    #[test]
    fn settings_that_cannot_work_are_refused() {
        let dir = tempfile::TempDir::new().unwrap();
        let file = dir.path().join("backup.key");
        std::fs::write(&file, "not a key").unwrap();
        let cases = [
            ("backup.every", "sometimes", "`backup.every`"),
            ("backup.keep", "0", "`backup.keep`"),
            ("backup.to", "/srv/backups", "`backup.to` must begin"),
            ("blobs_url", "s3://other/prefix/?region=x", "another place"),
            ("backup.key_file", "/nonexistent/key", "cannot read"),
            ("backup.key_file", file.to_str().unwrap(), "64 hexadecimal"),
        ];
        for (key, value, problem) in cases {
            let error = format!("{:#}", backups(&[TO, (key, value)]).unwrap_err());
            assert!(error.contains(problem), "{key}: {error}");
        }
    }
}
