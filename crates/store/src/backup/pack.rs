//! Takes a backup into a repository: a snapshot of the rows, then the bodies that the repository does not have yet, then the
//! manifest.

use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use dropleaf_core::{Clock, Minter, hex, iso};
use futures_util::{StreamExt, TryStreamExt, stream};

use super::destination_lock::{DestinationLock, LockKind};
use super::info::BackupInfo;
use super::repository::{BODIES_LIST, BodyPlace, DATABASE_OBJECT, Repository};
use super::rows_sqlite::{self, ObjectRow};
use super::sealing::Sealer;
use super::spool::Spool;
use super::{BackupError, DATABASE, MANIFEST, OnProgress, Progress, Report, files, lease, take};
use crate::blobs::{BlobError, Blobs, NewBody};
use crate::db::Db;

/// Bodies copied at the same time; each needs up to 8 MiB.
const TOGETHER: usize = 8;
const COMPRESSION: i32 = 3;
const READ_AT_ONCE: usize = 1 << 20;

/// What a new backup needs besides the store and the repository.
#[derive(Debug, Clone, Copy)]
pub struct NewBackup<'a> {
    /// The time of the backup, and of its lock while it runs.
    pub clock: &'a dyn Clock,
    /// A folder for temporary files that only backups use; it is emptied.
    pub work_dir: &'a Path,
    /// The address of the service.
    pub service: &'a str,
    pub minter: &'a Minter,
}

/// Backs up a running or stopped service. Safe from another process. Ends with [`BackupError::Stopped`] when `stop` ends.
pub async fn backup_to(
    db: &Db,
    blobs: &Blobs,
    repository: &Repository,
    new: NewBackup<'_>,
    stop: impl Future<Output = ()>,
    progress: OnProgress<'_>,
) -> Result<BackupInfo, BackupError> {
    take::check_source(db).await?;
    let now = new.clock.now();
    let moment: String = iso::format(now).chars().filter(|c| !"-:".contains(*c)).collect();
    let id = format!("{moment}-{}", hex::encode(&new.minter.bytes::<3>()));
    // Boxed because the state of a backup is large.
    let work = Box::pin(async {
        let lock = DestinationLock::take(repository, LockKind::Backup, &id, new.clock, progress).await?;
        let Some(lock) = lock else { return Err(BackupError::Stopped) };
        let packing = Packing { db, blobs, repository, new, now, id: &id, progress };
        let done = lock.during(async {
            tokio::select! {
                done = packing.run() => done,
                () = stop => Err(BackupError::Stopped),
            }
        });
        let done = done.await;
        let _ = std::fs::remove_dir_all(new.work_dir);
        if done.is_err() {
            // What is left is not a backup without its manifest. The bodies stay for the next attempt.
            let _ = repository.delete_backup(&id).await;
        }
        done
    });
    lease::hold(db, now, new.clock, work).await
}

struct Packing<'a> {
    db: &'a Db,
    blobs: &'a Blobs,
    repository: &'a Repository,
    new: NewBackup<'a>,
    now: i64,
    id: &'a str,
    progress: OnProgress<'a>,
}

impl Packing<'_> {
    async fn run(&self) -> Result<BackupInfo, BackupError> {
        let Self { repository, new, progress, .. } = *self;
        files::empty_folder(new.work_dir)?;
        progress(Progress::Database);
        let file = new.work_dir.join(DATABASE);
        take::snapshot(self.db, &file).await?;
        let mut info = self.summarise(file.clone()).await?;
        let list = new.work_dir.join(BODIES_LIST);
        (info.new_objects, info.new_object_bytes) =
            self.copy_bodies(&file, &list, info.report.objects).await?;

        progress(Progress::Database);
        let packed = new.work_dir.join(DATABASE_OBJECT);
        info.database_stored_bytes = self.pack_database(file, packed.clone(), &info.context()).await?;
        repository.put(&info.path(DATABASE_OBJECT), file_body(&packed)?).await?;
        info.bodies_blake3 = files::measure(&list)?.1;
        repository.put(&info.path(BODIES_LIST), file_body(&list)?).await?;
        DestinationLock::check(repository, LockKind::Backup, self.id, new.clock).await?;
        repository.put_text(&info.path(MANIFEST), info.to_text()).await?;
        Ok(info)
    }

    async fn summarise(&self, file: PathBuf) -> Result<BackupInfo, BackupError> {
        let (id, service, taken_at) = (self.id.to_owned(), self.new.service.to_owned(), self.now);
        let key_id = self.repository.key.as_ref().map(super::BackupKey::id);
        tokio::task::spawn_blocking(move || {
            let connection = rows_sqlite::open_readonly(&file)?;
            let (objects, object_bytes) = rows_sqlite::count_objects(&connection)?;
            let (database_bytes, database_blake3) = files::measure(&file)?;
            Ok(BackupInfo {
                id,
                service,
                taken_at,
                schema: rows_sqlite::schema(&connection)?,
                key_id,
                database_bytes,
                database_stored_bytes: 0,
                database_blake3,
                bodies_blake3: String::new(),
                report: Report { rows: rows_sqlite::count_rows(&connection)?, objects, object_bytes },
                new_objects: 0,
                new_object_bytes: 0,
            })
        })
        .await?
    }

    /// Copies the bodies that are missing and lists the names of all. One of 256 shares at a time, so that neither side is
    /// ever in memory as a whole. Returns the number and bytes of those copied.
    async fn copy_bodies(&self, database: &Path, list: &Path, total: u64) -> Result<(u64, u64), BackupError> {
        let mut names = BufWriter::new(files::create_file(list).map_err(BackupError::file(list))?);
        let (done, copied, copied_bytes) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
        (self.progress)(Progress::Objects { done: 0, total });
        for share in 0..=u8::MAX {
            let objects = rows_sqlite::objects_of_share(database, share).await?;
            if objects.is_empty() {
                continue;
            }
            let present = self.repository.list_bodies(share).await?;
            for object in &objects {
                let place = BodyPlace::of(object, self.repository.key.as_ref());
                writeln!(names, "{share:02x}/{}", place.name).map_err(BackupError::file(list))?;
            }
            stream::iter(&objects)
                .map(Ok::<_, BackupError>)
                .try_for_each_concurrent(TOGETHER, |object| {
                    let (present, done, copied, copied_bytes) = (&present, &done, &copied, &copied_bytes);
                    async move {
                        let place = BodyPlace::of(object, self.repository.key.as_ref());
                        if present.get(&place.name) != Some(&place.size) {
                            self.copy_body(object, &place).await?;
                            copied.fetch_add(1, Ordering::Relaxed);
                            copied_bytes.fetch_add(place.size, Ordering::Relaxed);
                        }
                        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                        (self.progress)(Progress::Objects { done, total });
                        Ok(())
                    }
                })
                .await?;
        }
        let file = names.into_inner().map_err(|error| BackupError::file(list)(error.into_error()))?;
        file.sync_all().map_err(BackupError::file(list))?;
        Ok((copied.into_inner(), copied_bytes.into_inner()))
    }

    async fn copy_body(&self, object: &ObjectRow, place: &BodyPlace) -> Result<(), BackupError> {
        let found = self.blobs.open_object(
            object.hash,
            object.encoding,
            object.size_bytes,
            object.stored_bytes,
            &object.key,
        );
        let failed = |error: BlobError| match error {
            BlobError::Missing | BlobError::Corrupt => {
                BackupError::Damaged(format!("object {} of the source: {error}", object.key))
            }
            other => other.into(),
        };
        let mut bytes = found.stream().await.map_err(failed)?;
        let mut sealer = Sealer::new(self.repository.key.as_ref(), &place.context(), self.new.minter);
        let mut spool = Spool::new(place.size, self.new.work_dir)?;
        let mut out = Vec::new();
        while let Some(chunk) = bytes.try_next().await.map_err(failed)? {
            sealer.push(&chunk, &mut out)?;
            spool.write(&out).await?;
            out.clear();
        }
        sealer.finish(&mut out)?;
        spool.write(&out).await?;
        self.repository.put(&place.path(), spool.into_body().await?).await
    }

    /// Compresses and encrypts the rows into another file; returns its size.
    async fn pack_database(&self, from: PathBuf, to: PathBuf, context: &str) -> Result<u64, BackupError> {
        let sealer = Sealer::new(self.repository.key.as_ref(), context, self.new.minter);
        tokio::task::spawn_blocking(move || {
            let target = files::create_file(&to).map_err(BackupError::file(&to))?;
            let output = SealedFile { sealer, out: Vec::new(), target };
            let pack = || -> std::io::Result<u64> {
                let mut encoder = zstd::stream::write::Encoder::new(output, COMPRESSION)?;
                let mut source = File::open(&from)?;
                let mut buffer = vec![0; READ_AT_ONCE];
                loop {
                    match source.read(&mut buffer)? {
                        0 => break,
                        n => encoder.write_all(&buffer[..n])?,
                    }
                }
                let file = encoder.finish()?.finish()?;
                file.sync_all()?;
                Ok(file.metadata()?.len())
            };
            let size = pack().map_err(BackupError::file(&to))?;
            // Its room may be needed for the upload.
            std::fs::remove_file(&from).map_err(BackupError::file(&from))?;
            Ok(size)
        })
        .await?
    }
}

/// Writes what is written to it into a file, encrypted.
struct SealedFile {
    sealer: Sealer,
    out: Vec<u8>,
    target: File,
}

impl SealedFile {
    fn finish(mut self) -> std::io::Result<File> {
        self.sealer.finish(&mut self.out).map_err(std::io::Error::other)?;
        self.target.write_all(&self.out)?;
        Ok(self.target)
    }
}

impl Write for SealedFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.sealer.push(bytes, &mut self.out).map_err(std::io::Error::other)?;
        self.target.write_all(&self.out)?;
        self.out.clear();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.target.flush()
    }
}

fn file_body(path: &Path) -> Result<NewBody, BackupError> {
    let opened = || -> std::io::Result<NewBody> {
        let file = File::open(path)?;
        let stored_bytes = file.metadata()?.len();
        Ok(NewBody::File { file, stored_bytes })
    };
    opened().map_err(BackupError::file(path))
}
