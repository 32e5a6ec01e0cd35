//! Memory, free space, file systems and the limit of open files of this machine.

use super::{Doctor, EACH};
use crate::config::Resolved;
use crate::machine_memory::Memory;
use dropleaf_core::health::{self, Check, DiskFacts, Finding, MemoryFacts};
use rustix::fs::{Access, access, statfs, statvfs};
use std::path::Path;

/// File systems on a network, by the number that Linux gives them.
const NETWORK: [(u32, &str); 7] = [
    (0x6969, "NFS"),
    (0x517b, "SMB"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB2"),
    (0x0102_1997, "9P"),
    (0x00c3_6400, "Ceph"),
    (0x7461_636f, "OCFS2"),
];

/// The limit that the server can reach: it raises its own as far as it may.
pub(crate) fn open_files() -> Option<u64> {
    rlimit::Resource::NOFILE.get().ok().map(|(_, hard)| hard)
}

/// The name of the file system of a path, if it is on a network.
pub(super) fn network_filesystem(path: &Path) -> Option<&'static str> {
    let found = statfs(path).ok()?;
    // The number has 32 bits, whatever the type of the field.
    let kind = u32::try_from(found.f_type & 0xffff_ffff).ok()?;
    NETWORK.iter().find(|(number, _)| *number == kind).map(|(_, name)| *name)
}

/// Why files cannot be created in a folder.
pub(super) fn cannot_write(folder: &Path) -> Option<String> {
    access(folder, Access::WRITE_OK | Access::EXEC_OK).err().map(|error| error.to_string())
}

/// The disk of the data folder, or of the folder in which it will be created.
pub(super) fn disk(resolved: &Resolved) -> Option<DiskFacts> {
    let folder = resolved.data_dir.ancestors().find(|folder| folder.exists());
    let found = statvfs(folder.unwrap_or_else(|| Path::new("."))).ok()?;
    let limits = &resolved.config.limits;
    Some(DiskFacts {
        total_bytes: found.f_blocks.saturating_mul(found.f_frsize),
        free_bytes: found.f_bavail.saturating_mul(found.f_frsize),
        free_files: (found.f_files > 0).then_some(found.f_favail),
        upload_bytes: limits.upload_bytes,
        parallel_uploads: limits.parallel_uploads as u64,
    })
}

impl Doctor {
    pub(super) async fn check_machine(&self) -> Vec<Finding> {
        let resolved = &self.resolved;
        let budget = resolved.settings.all_caches_bytes().saturating_add(resolved.config.limits.unsent_bytes);
        let work = tokio::task::spawn_blocking(move || memory(budget));
        vec![match tokio::time::timeout(EACH, work).await {
            Ok(Ok(facts)) => health::memory(facts),
            _ => Finding::late(Check::Memory, EACH.as_secs()),
        }]
    }
}

fn memory(budget_bytes: u64) -> Option<MemoryFacts> {
    let Memory { total_bytes, available_bytes } = Memory::read()?;
    Some(MemoryFacts { total_bytes, available_bytes, budget_bytes })
}
