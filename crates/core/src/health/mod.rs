//! Judges whether an installation works: each function turns collected facts into a finding with a status and a fix. Facts
//! are collected elsewhere, so every judgement can be tested without a network, a disk or a clock.

mod addresses;
mod bodies;
mod certificates;
mod check;
mod client_address;
mod database;
mod database_servers;
mod finding;
mod machine;
mod mail;
mod proxy;
mod settings;
mod storage;

pub use addresses::{Addresses, NameFacts, Reachability, WildcardFacts, dns, reachability, wildcard_dns};
pub use bodies::{BodiesFacts, BodyStep, BodyStore, StepFailure, bodies};
pub use certificates::{
    CertificateSource, ManagedCertificates, NamedCertificate, Presented, acme, certificates,
};
pub use check::{Check, Group};
pub use client_address::{ClientAddressFacts, client_address, trusted_proxies};
pub use database::{
    DatabaseFacts, Integrity, POSTGRES_TESTED, PostgresFacts, SchemaFacts, SqliteFacts, database,
    database_settings, integrity, schema,
};
pub use database_servers::{OtherServer, ServerState, database_servers};
pub use finding::{Finding, Report, Status};
pub use machine::{ClockFacts, MemoryFacts, clock, file_limit, memory};
pub use mail::{MailFacts, mail};
pub use proxy::{Arrived, Delivery, SelfCheck, host, large_headers, public_address, streaming, upload_size};
pub use settings::{KeyFile, RunningServer, SettingsFacts, key_files, second_server, server, settings};
pub use storage::{BackupFacts, DataDirFacts, DiskFacts, ScheduledBackups, backup, data_dir, disk_space};

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_network;

/// A size for people: whole MiB, or GiB with one digit.
fn size(bytes: u64) -> String {
    const MIB: u64 = 1 << 20;
    if bytes >= 1024 * MIB {
        let tenths = bytes / (1024 * MIB / 10);
        format!("{}.{} GiB", tenths / 10, tenths % 10)
    } else {
        format!("{} MiB", bytes / MIB)
    }
}

/// A duration for people, in the largest whole unit.
fn span(seconds: i64) -> String {
    let (count, unit) = match seconds.unsigned_abs() {
        n @ 0..120 => (n, "second"),
        n @ 120..7200 => (n / 60, "minute"),
        n @ 7200..172_800 => (n / 3600, "hour"),
        n => (n / 86_400, "day"),
    };
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
}
