//! The memory of this machine, or of the control groups that the process is in.

use std::fs;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Memory {
    pub(crate) total_bytes: u64,
    pub(crate) available_bytes: u64,
}

impl Memory {
    /// `None` if this machine does not tell.
    pub(crate) fn read() -> Option<Self> {
        let machine = of_machine()?;
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        Some(machine.limited(Path::new("/sys/fs/cgroup"), &own))
    }

    /// What the control groups leave of it. The lowest limit counts, and may be that of a group around the process's own.
    fn limited(mut self, root: &Path, own: &str) -> Self {
        for (folder, files) in control_groups(root, own) {
            let number = |name| fs::read_to_string(folder.join(name)).ok()?.trim().parse::<u64>().ok();
            if let Some(limit) = number(files.limit) {
                self.total_bytes = self.total_bytes.min(limit);
                let used = number(files.used).unwrap_or_default();
                let used = used.saturating_sub(freeable(&folder, files.freeable));
                self.available_bytes = self.available_bytes.min(limit.saturating_sub(used));
            }
        }
        self
    }
}

/// A service may be kept from seeing `/proc/meminfo`, so the kernel is asked first.
#[cfg(target_os = "linux")]
fn of_machine() -> Option<Memory> {
    let info = rustix::system::sysinfo();
    let total_bytes = in_bytes(info.totalram, info.mem_unit)?;
    let free_bytes = in_bytes(info.freeram, info.mem_unit)?;
    Some(Memory { total_bytes, available_bytes: available().unwrap_or(free_bytes) })
}

/// How large the kernel's numbers are depends on the processor.
#[cfg(target_os = "linux")]
fn in_bytes(units: impl Into<u64>, unit_bytes: u32) -> Option<u64> {
    units.into().checked_mul(u64::from(unit_bytes))
}

#[cfg(not(target_os = "linux"))]
fn of_machine() -> Option<Memory> {
    None
}

/// Free memory, and what the kernel could free.
#[cfg(target_os = "linux")]
fn available() -> Option<u64> {
    let info = fs::read_to_string("/proc/meminfo").ok()?;
    let rest = info.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    rest.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|kib| kib << 10)
}

/// What the kernel would free of a group's memory before it refuses any: parts of files that have not been read for a while.
fn freeable(folder: &Path, name: &str) -> u64 {
    let stat = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
    let value = stat.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    value.and_then(|value| value.trim().parse().ok()).unwrap_or_default()
}

/// What the files of a control group are called.
#[derive(Debug, Clone, Copy)]
struct Files {
    limit: &'static str,
    used: &'static str,
    /// In `memory.stat`.
    freeable: &'static str,
}

const VERSION_1: Files =
    Files { limit: "memory.limit_in_bytes", used: "memory.usage_in_bytes", freeable: "total_inactive_file" };
const VERSION_2: Files = Files { limit: "memory.max", used: "memory.current", freeable: "inactive_file" };

/// The folders of the control groups that this process is in: its own and those around it. In a container, the kernel may tell a
/// path that is only known outside of it.
fn control_groups(root: &Path, own: &str) -> Vec<(PathBuf, Files)> {
    let mut found = Vec::new();
    for line in own.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let (root, files) = if controllers.is_empty() {
            (root.to_owned(), VERSION_2)
        } else if controllers.split(',').any(|name| name == "memory") {
            (root.join("memory"), VERSION_1)
        } else {
            continue;
        };
        let path = Path::new(path.trim_start_matches('/'));
        found.extend(path.ancestors().map(|group| (root.join(group), files)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const MACHINE: Memory = Memory { total_bytes: 1000, available_bytes: 800 };

    fn limited(files: &[(&str, &str)], own: &str) -> (u64, u64) {
        let root = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let Memory { total_bytes, available_bytes } = MACHINE.limited(root.path(), own);
        (total_bytes, available_bytes)
    }

    #[test]
    fn lowest_limit_of_all_groups_counts() {
        let own = "0::/a.slice/b.service\n";
        let of = |files: &[(&str, &str)]| limited(files, own);
        assert_eq!(of(&[]), (1000, 800));
        assert_eq!(of(&[("a.slice/b.service/memory.max", "max\n")]), (1000, 800));
        let leaf = [("a.slice/b.service/memory.max", "500\n"), ("a.slice/b.service/memory.current", "100\n")];
        assert_eq!(of(&leaf), (500, 400));
        assert_eq!(of(&leaf[..1]), (500, 500), "its use cannot be read");
        let stat = ("a.slice/b.service/memory.stat", "anon 20\ninactive_file 70\nactive_file 10\n");
        assert_eq!(of(&[leaf[0], leaf[1], stat]), (500, 470));
        let around = [leaf[0], leaf[1], ("a.slice/memory.max", "300"), ("a.slice/memory.current", "290")];
        assert_eq!(of(&around), (300, 10));
        let higher = [("a.slice/memory.max", "2000"), ("a.slice/memory.current", "1900")];
        assert_eq!(of(&higher), (1000, 100));
    }

    #[test]
    fn limits_of_containers_count() {
        let container = [("memory.max", "400"), ("memory.current", "150")];
        assert_eq!(limited(&container, "0::/\n"), (400, 250));
        assert_eq!(
            limited(&container, "0::/system.slice/docker-1.scope\n"),
            (400, 250),
            "known only outside"
        );
        let old = "5:cpu,cpuacct:/docker/1\n4:memory:/docker/1\n1:name=systemd:/docker/1\n";
        let unlimited = ("memory/memory.limit_in_bytes", "9223372036854771712\n");
        let files = [
            unlimited,
            ("memory/docker/1/memory.limit_in_bytes", "512"),
            ("memory/docker/1/memory.usage_in_bytes", "12"),
            ("cpu,cpuacct/docker/1/memory.max", "1"),
        ];
        assert_eq!(limited(&files, old), (512, 500));
        assert_eq!(limited(&files[..1], old), (1000, 800));
        assert_eq!(limited(&files, "nonsense\n0:"), (1000, 800));
    }

    #[test]
    fn this_machine_tells() {
        let memory = Memory::read().unwrap();
        assert!(memory.available_bytes <= memory.total_bytes, "{memory:?}");
    }
}
