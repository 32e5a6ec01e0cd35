//! Deletes old backups from a repository, then bodies that no backup needs any more.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::pin::pin;

use dropleaf_core::Clock;
use dropleaf_core::backup_schedule::BackupRetention;
use futures_util::TryStreamExt;

use super::destination_lock::{DestinationLock, LockKind};
use super::info::BackupInfo;
use super::repository::{BODIES_LIST, Repository, is_body_name};
use super::{BackupError, files};

/// What was deleted.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Pruned {
    pub backups: u64,
    /// Interrupted backups of which something was left.
    pub incomplete: u64,
    pub bodies: u64,
    pub body_bytes: u64,
    /// Backups that cannot be read. While there are any, no bodies are deleted, because they may need them.
    pub unreadable: u64,
    /// A backup was under way, so nothing was deleted.
    pub held: bool,
}

/// Deletes backups of the same service that are older than `verified` and that `retention` does not keep. Call it only after
/// `verified` was verified. `work_dir` must be an empty folder.
pub async fn prune(
    repository: &Repository,
    retention: BackupRetention,
    verified: &BackupInfo,
    clock: &dyn Clock,
    work_dir: &Path,
) -> Result<Pruned, BackupError> {
    let lock = DestinationLock::take(repository, LockKind::Deletion, &verified.id, clock, &|_| {}).await?;
    let Some(lock) = lock else { return Ok(Pruned { held: true, ..Pruned::default() }) };
    lock.during(run(repository, retention, verified, clock, work_dir)).await
}

async fn run(
    repository: &Repository,
    retention: BackupRetention,
    verified: &BackupInfo,
    clock: &dyn Clock,
    work_dir: &Path,
) -> Result<Pruned, BackupError> {
    let mut pruned = Pruned::default();
    let mut list = repository.list().await?;
    let older = list.complete.iter().filter(|info| {
        info.service == verified.service && info.id != verified.id && info.taken_at <= verified.taken_at
    });
    let own: Vec<&BackupInfo> = std::iter::once(verified).chain(older).collect();
    let times: Vec<i64> = own.iter().map(|info| info.taken_at).collect();
    let expired: HashSet<String> =
        retention.expired(&times, clock.now()).into_iter().map(|at| own[at].id.clone()).collect();
    for id in &expired {
        repository.delete_backup(id).await?;
        pruned.backups += 1;
    }
    // No backup is under way, so these are left from interrupted ones.
    for id in &list.incomplete {
        repository.delete_backup(id).await?;
        pruned.incomplete += 1;
    }
    list.complete.retain(|info| !expired.contains(&info.id));
    pruned.unreadable = list.unreadable.len() as u64;
    if pruned.unreadable > 0 {
        return Ok(pruned);
    }
    (pruned.bodies, pruned.body_bytes) =
        delete_unused_bodies(repository, &list.complete, (&verified.id, clock), work_dir).await?;
    Ok(pruned)
}

async fn delete_unused_bodies(
    repository: &Repository,
    kept: &[BackupInfo],
    (lock_id, clock): (&str, &dyn Clock),
    work_dir: &Path,
) -> Result<(u64, u64), BackupError> {
    let mut lists = Vec::new();
    for (at, info) in kept.iter().enumerate() {
        // Without one of the lists nothing may be deleted, so an unreadable one is an error.
        let path = work_dir.join(format!("bodies-{at}.txt"));
        lists.push(fetch_list(repository, info, path).await?);
    }
    let (mut count, mut bytes) = (0, 0);
    for share in 0..=u8::MAX {
        let (read, used) = tokio::task::spawn_blocking(move || {
            let mut used = HashSet::new();
            for list in &mut lists {
                list.read_share(share, &mut used)?;
            }
            Ok::<_, BackupError>((lists, used))
        })
        .await??;
        lists = read;
        let mut unused = repository.list_bodies(share).await?;
        unused.retain(|name, _| !used.contains(name) && is_body_name(name));
        if unused.is_empty() {
            continue;
        }
        DestinationLock::check(repository, LockKind::Deletion, lock_id, clock).await?;
        for (name, size) in unused {
            repository.delete(&format!("bodies/{share:02x}/{name}")).await?;
            count += 1;
            bytes += size;
        }
    }
    Ok((count, bytes))
}

/// The names of the bodies of one backup, in the order of their shares.
struct NameList {
    lines: std::io::Lines<BufReader<File>>,
    next: Option<String>,
    path: PathBuf,
}

impl NameList {
    fn open(path: PathBuf) -> Result<Self, BackupError> {
        let file = File::open(&path).map_err(BackupError::file(&path))?;
        let mut list = Self { lines: BufReader::new(file).lines(), next: None, path };
        list.advance()?;
        Ok(list)
    }

    fn advance(&mut self) -> Result<(), BackupError> {
        self.next = self.lines.next().transpose().map_err(BackupError::file(&self.path))?;
        Ok(())
    }

    fn read_share(&mut self, share: u8, into: &mut HashSet<String>) -> Result<(), BackupError> {
        let prefix = format!("{share:02x}/");
        while let Some(name) = self.next.as_ref().and_then(|line| line.strip_prefix(&prefix)) {
            into.insert(name.to_owned());
            self.advance()?;
        }
        Ok(())
    }
}

async fn fetch_list(
    repository: &Repository,
    info: &BackupInfo,
    path: PathBuf,
) -> Result<NameList, BackupError> {
    let object = info.path(BODIES_LIST);
    let size = repository.list_under(&format!("backups/{}", info.id)).await?.remove(BODIES_LIST);
    let damaged = || BackupError::Damaged(format!("{object} in {} is missing or damaged", repository.name));
    let mut parts = pin!(repository.read_parts(&object, size.ok_or_else(damaged)?));
    let mut file = files::create_file(&path).map_err(BackupError::file(&path))?;
    let mut hasher = blake3::Hasher::new();
    while let Some(part) = parts.try_next().await? {
        hasher.update(&part);
        file.write_all(&part).map_err(BackupError::file(&path))?;
    }
    if hasher.finalize().to_hex().as_str() != info.bodies_blake3 {
        return Err(damaged());
    }
    NameList::open(path)
}
