//! The memory of this machine, or of the control group that the process is in.

use std::fs;
use std::path::Path;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Memory {
    pub(crate) total_bytes: u64,
    pub(crate) available_bytes: u64,
}

impl Memory {
    /// `None` if this machine does not tell.
    pub(crate) fn read() -> Option<Self> {
        let info = fs::read_to_string("/proc/meminfo").ok()?;
        let line = |name: &str| {
            let rest = info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
            rest.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|kib| kib << 10)
        };
        let (total, available) = (line("MemTotal")?, line("MemAvailable")?);
        let (total_bytes, available_bytes) = match control_group() {
            Some((limit, used)) if limit < total => (limit, available.min(limit.saturating_sub(used))),
            _ => (total, available),
        };
        Some(Self { total_bytes, available_bytes })
    }
}

/// The limit and the use of the control group that this process is in (version 2).
fn control_group() -> Option<(u64, u64)> {
    let own = fs::read_to_string("/proc/self/cgroup").ok()?;
    let path = own.lines().find_map(|line| line.strip_prefix("0::"))?.trim_start_matches('/').to_owned();
    let number = |name: &str| {
        let at = Path::new("/sys/fs/cgroup").join(&path).join(name);
        fs::read_to_string(at).ok()?.trim().parse::<u64>().ok()
    };
    Some((number("memory.max")?, number("memory.current")?))
}
