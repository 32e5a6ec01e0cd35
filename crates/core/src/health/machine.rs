//! Judges the clock, the limit of open files, and memory.

use super::{Check, Finding, size, span};

#[derive(Debug, Clone)]
pub struct ClockFacts {
    /// Epoch seconds of this server's clock, read when the others were.
    pub own: i64,
    /// Other clocks, each with its name.
    pub others: Vec<(String, i64)>,
}

/// Reading another clock takes time, and `Date` headers have whole seconds.
const TOLERATED: i64 = 5;
const TOO_FAR: i64 = 60;

pub fn clock(facts: &ClockFacts) -> Finding {
    const CHECK: Check = Check::Clock;
    const FIX: &str =
        "Turn time synchronisation on: `timedatectl set-ntp true` (on both machines, if they are yours).";
    let parts: Vec<Finding> = facts
        .others
        .iter()
        .map(|(name, other)| {
            let apart = facts.own - other;
            let direction = if apart > 0 { "ahead of" } else { "behind" };
            let found = format!("The clock is {} {direction} {name}.", span(apart));
            if apart.abs() <= TOLERATED {
                Finding::ok(CHECK, format!("The clock agrees with {name}."))
            } else if apart.abs() <= TOO_FAR {
                Finding::warning(CHECK, found, FIX)
            } else {
                Finding::problem(CHECK, found, FIX)
            }
        })
        .collect();
    Finding::join(CHECK, parts).unwrap_or_else(|| {
        Finding::not_checked(
            CHECK,
            "No other clock is known: the database is on this machine, and neither S3 nor ACME is used.",
        )
        .with_fix("Run `timedatectl` to see whether the clock is synchronised.")
    })
}

/// Descriptors for everything but connections of clients: databases, bodies, listeners, logs.
const OTHER_FILES: u64 = 256;

pub fn file_limit(limit: Option<u64>, connections: u64) -> Finding {
    const CHECK: Check = Check::FileLimit;
    let Some(limit) = limit else {
        return Finding::not_checked(CHECK, "The limit of open files could not be read.");
    };
    let needed = connections + OTHER_FILES;
    if limit >= needed {
        return Finding::ok(
            CHECK,
            format!("{limit} files may be open; {needed} are needed for {connections} connections."),
        );
    }
    let found =
        format!("Only {limit} files may be open, but `limits.connections` = {connections} needs {needed}.");
    let least = needed.max(65_536);
    let fix = format!(
        "Set `LimitNOFILE={least}` in the systemd unit (or `ulimit -n {least}`), or lower `limits.connections`."
    );
    if limit < needed / 2 { Finding::problem(CHECK, found, fix) } else { Finding::warning(CHECK, found, fix) }
}

#[derive(Debug, Clone, Copy)]
pub struct MemoryFacts {
    /// Of the machine, or of the control group if that has less.
    pub total_bytes: u64,
    pub available_bytes: u64,
    /// What caches and unsent responses may hold.
    pub budget_bytes: u64,
}

const LEAST_AVAILABLE: u64 = 128 << 20;

pub fn memory(facts: Option<MemoryFacts>) -> Finding {
    const CHECK: Check = Check::Memory;
    let Some(facts) = facts else {
        return Finding::not_checked(CHECK, "The memory of this machine could not be read.");
    };
    let (available, total, budget) =
        (size(facts.available_bytes), size(facts.total_bytes), size(facts.budget_bytes));
    if facts.budget_bytes > facts.total_bytes / 2 {
        return Finding::warning(
            CHECK,
            format!(
                "The caches (`storage.cache_bytes`) and `limits.unsent_bytes` allow {budget}, more than half of the memory ({total})."
            ),
            "Lower `storage.cache_bytes` and `limits.unsent_bytes`, or add memory.",
        );
    }
    if facts.available_bytes < LEAST_AVAILABLE {
        return Finding::warning(
            CHECK,
            format!("Only {available} of {total} of memory are available."),
            "Add memory, or stop other programs on this machine.",
        );
    }
    Finding::ok(CHECK, format!("{available} of {total} of memory are available."))
}
