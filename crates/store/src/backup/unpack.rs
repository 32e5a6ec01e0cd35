//! Reads backups in a repository: fetches the rows, finds and checks the bodies.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::{StreamExt, TryStreamExt, stream};

use super::info::BackupInfo;
use super::repository::{BodyPlace, DATABASE_OBJECT, Repository};
use super::rows_sqlite::{self, ObjectRow};
use super::sealing::Opener;
use super::spool::Spool;
use super::{BackupError, DATABASE, OnProgress, Progress, files};
use crate::blobs::{BlobError, Check};

const TOGETHER: usize = 8;
/// Problems that are named in a message; the rest is counted.
const NAMED_MOST: usize = 5;

/// How thoroughly a backup is verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// The rows against their checksum, and that every body is there in its full size.
    Presence,
    /// Also the bytes of every body against their hash.
    Contents {
        /// Deletes bodies that are damaged, so that the next backup copies them again.
        delete_damaged: bool,
    },
}

/// Verifies a backup. `work_dir` must be an empty folder; what is written there is left to the caller.
pub async fn verify_in(
    repository: &Repository,
    info: &BackupInfo,
    depth: Depth,
    work_dir: &Path,
    progress: OnProgress<'_>,
) -> Result<(), BackupError> {
    let file = fetch_database(repository, info, work_dir, progress).await?;
    check_bodies(repository, info, &file, depth, progress).await
}

/// Fetches the rows into a new SQLite file, decrypted, decompressed and checked.
pub(super) async fn fetch_database(
    repository: &Repository,
    info: &BackupInfo,
    work_dir: &Path,
    progress: OnProgress<'_>,
) -> Result<PathBuf, BackupError> {
    let key = repository.check_key(info)?;
    progress(Progress::Database);
    let packed = work_dir.join("database.zst");
    let mut opener = Opener::new(key, &info.context());
    let mut file = files::create_file(&packed).map_err(BackupError::file(&packed))?;
    let mut parts = pin!(repository.read_parts(&info.path(DATABASE_OBJECT), info.database_stored_bytes));
    let mut out = Vec::new();
    while let Some(part) = parts.try_next().await? {
        opener.push(&part, &mut out)?;
        file.write_all(&out).map_err(BackupError::file(&packed))?;
        out.clear();
    }
    opener.finish(&mut out)?;
    file.write_all(&out).map_err(BackupError::file(&packed))?;
    drop(file);
    let (target, expected) = (work_dir.join(DATABASE), info.clone());
    tokio::task::spawn_blocking(move || {
        let damaged = || BackupError::Damaged(format!("{} does not match its checksum", expected.context()));
        let source = File::open(&packed).map_err(BackupError::file(&packed))?;
        let decoder = zstd::stream::read::Decoder::new(source).map_err(BackupError::file(&packed))?;
        let mut file = files::create_file(&target).map_err(BackupError::file(&target))?;
        let mut limited = decoder.take(expected.database_bytes + 1);
        let mut buffer = vec![0; 1 << 20];
        let mut hasher = blake3::Hasher::new();
        loop {
            match limited.read(&mut buffer) {
                Ok(0) => break,
                Ok(n) => {
                    hasher.update(&buffer[..n]);
                    file.write_all(&buffer[..n]).map_err(BackupError::file(&target))?;
                }
                Err(_) => return Err(damaged()),
            }
        }
        let bytes = expected.database_bytes + 1 - limited.limit();
        if bytes != expected.database_bytes || hasher.finalize().to_hex().as_str() != expected.database_blake3
        {
            return Err(damaged());
        }
        std::fs::remove_file(&packed).map_err(BackupError::file(&packed))?;
        let (objects, object_bytes) = rows_sqlite::count_objects(&rows_sqlite::open_readonly(&target)?)?;
        if (objects, object_bytes) != (expected.report.objects, expected.report.object_bytes) {
            return Err(damaged());
        }
        Ok(target)
    })
    .await?
}

/// Checks every body that the rows refer to, and reports all problems together.
pub(super) async fn check_bodies(
    repository: &Repository,
    info: &BackupInfo,
    database: &Path,
    depth: Depth,
    progress: OnProgress<'_>,
) -> Result<(), BackupError> {
    let key = repository.check_key(info)?;
    let total = info.report.objects;
    let done = AtomicU64::new(0);
    let problems = Problems::default();
    progress(Progress::Verifying { done: 0, total });
    for share in 0..=u8::MAX {
        let objects = rows_sqlite::objects_of_share(database, share).await?;
        if objects.is_empty() {
            continue;
        }
        let present = repository.list_bodies(share).await?;
        stream::iter(&objects)
            .map(Ok::<_, BackupError>)
            .try_for_each_concurrent(TOGETHER, |object| {
                let (done, problems, present) = (&done, &problems, &present);
                async move {
                    let place = BodyPlace::of(object, key);
                    match present.get(&place.name) {
                        None => problems.add(format!("{} is missing", place.path())),
                        Some(size) if *size != place.size => {
                            problems.add(format!("{} has the wrong size", place.path()));
                        }
                        Some(_) if depth == Depth::Presence => {}
                        Some(_) => match read_body(repository, info, object, None).await {
                            Err(BackupError::Damaged(why)) => {
                                problems.add(why);
                                if depth == (Depth::Contents { delete_damaged: true }) {
                                    repository.delete(&place.path()).await?;
                                }
                            }
                            read => read?,
                        },
                    }
                    let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                    progress(Progress::Verifying { done, total });
                    Ok(())
                }
            })
            .await?;
    }
    problems.into_result(&info.id)
}

/// Reads a body, checks it against its hash, and writes it to `sink`.
pub(super) async fn read_body(
    repository: &Repository,
    info: &BackupInfo,
    object: &ObjectRow,
    mut sink: Option<&mut Spool>,
) -> Result<(), BackupError> {
    let key = repository.check_key(info)?;
    let place = BodyPlace::of(object, key);
    let damaged = || BackupError::Damaged(format!("{} does not match its hash", place.path()));
    let not_matching = |error: BlobError| match error {
        BlobError::Corrupt => damaged(),
        other => other.into(),
    };
    let mut opener = Opener::new(key, &place.context());
    let mut check = Check::new(object.encoding).map_err(not_matching)?;
    let (path, mut seen) = (place.path(), 0);
    let mut parts = pin!(repository.read_parts(&path, place.size));
    let mut out = Vec::new();
    loop {
        let part = parts.try_next().await?;
        match &part {
            Some(part) => opener.push(part, &mut out),
            None => std::mem::replace(&mut opener, Opener::new(None, "")).finish(&mut out),
        }
        .map_err(|_| damaged())?;
        seen += out.len() as u64;
        check.take(&out).map_err(not_matching)?;
        if let Some(sink) = &mut sink {
            sink.write(&out).await?;
        }
        out.clear();
        if part.is_none() {
            break;
        }
    }
    let is_whole = seen == object.stored_bytes && check.hash().map_err(not_matching)? == object.hash;
    if is_whole { Ok(()) } else { Err(damaged()) }
}

/// Collects problems; keeps the first few.
#[derive(Default)]
struct Problems {
    named: Mutex<Vec<String>>,
    count: AtomicU64,
}

impl Problems {
    fn add(&self, problem: String) {
        self.count.fetch_add(1, Ordering::Relaxed);
        let mut named = self.named.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if named.len() < NAMED_MOST {
            named.push(problem);
        }
    }

    fn into_result(self, id: &str) -> Result<(), BackupError> {
        let count = self.count.into_inner();
        if count == 0 {
            return Ok(());
        }
        let named = self.named.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        let more = match count - named.len() as u64 {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        let bodies = if count == 1 { "body is" } else { "bodies are" };
        Err(BackupError::Damaged(format!(
            "backup {id} is damaged: {count} {bodies} missing or wrong: {}{more}",
            named.join("; ")
        )))
    }
}
