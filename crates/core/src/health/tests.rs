//! Each planted fault is found and its fix named: settings, storage, machine, mail.

use super::*;
use crate::certificate::Certificate;

pub(super) const NOW: i64 = 1_800_000_000;
pub(super) const DAY: i64 = 86_400;

#[track_caller]
pub(super) fn is(finding: &Finding, status: Status, fix: &str) {
    assert_eq!(finding.status, status, "{finding:?}");
    match &finding.fix {
        Some(named) => assert!(!fix.is_empty() && named.contains(fix), "{finding:?}"),
        None => assert!(fix.is_empty(), "{finding:?}"),
    }
}

#[test]
fn checks_have_different_names_and_every_group_has_one() {
    let mut ids: Vec<&str> = Check::ALL.iter().map(|check| check.id()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), Check::ALL.len());
    for group in Group::ALL {
        assert!(Check::ALL.iter().any(|check| check.group() == group), "{group:?}");
    }
}

#[test]
fn a_report_has_every_check_once_in_order() {
    let clock = Finding::ok(Check::Clock, "fine");
    let report = Report::new(vec![clock.clone(), Finding::ok(Check::Settings, "fine")], NOW);
    let checks: Vec<Check> = report.findings.iter().map(|finding| finding.check).collect();
    assert_eq!(checks, Check::ALL);
    assert_eq!(report.find(Check::Clock), Some(&clock));
    assert_eq!((report.count(Status::Ok), report.count(Status::NotChecked)), (2, Check::ALL.len() - 2));
}

#[test]
fn joined_findings_have_the_worst_status_and_each_fix_once() {
    let problem = |found: &str| Finding::problem(Check::Dns, found, "do it");
    let all = vec![
        Finding::ok(Check::Dns, "fine"),
        problem("A."),
        problem("B."),
        Finding::not_checked(Check::Dns, "?"),
    ];
    let joined = Finding::join(Check::Dns, all).unwrap();
    assert_eq!((joined.found.as_str(), joined.fix.as_deref()), ("A. B.", Some("do it")));
    assert_eq!(Finding::join(Check::Dns, Vec::new()), None);
}

#[test]
fn settings_that_cannot_be_used_or_do_not_fit_together() {
    is(&settings(&SettingsFacts::default()), Status::Ok, "");
    let broken =
        SettingsFacts { error: Some("`listen` must have a port".into()), ..SettingsFacts::default() };
    is(&settings(&broken), Status::Problem, "dropleaf config check");
    let http = SettingsFacts { is_public_http: true, shares_host: true, ..SettingsFacts::default() };
    is(&settings(&http), Status::Warning, "site_url");
    assert!(settings(&http).fix.unwrap().contains("https://"));
}

#[test]
fn the_running_server_and_its_version() {
    is(&server(&RunningServer::Own, "1", "l"), Status::Ok, "");
    is(&server(&RunningServer::Answered { version: "1".into() }, "1", "l"), Status::Ok, "");
    is(
        &server(&RunningServer::Answered { version: "0".into() }, "1", "l"),
        Status::Warning,
        "systemctl restart",
    );
    is(&server(&RunningServer::Stopped, "1", "l"), Status::NotChecked, "dropleaf serve");
    is(&second_server(Some((true, false))), Status::Problem, "database_url");
    is(&second_server(Some((false, true))), Status::Problem, "data_dir");
    for fine in [None, Some((true, true)), Some((false, false))] {
        is(&second_server(fine), Status::Ok, "");
    }
}

#[test]
fn keys_that_others_can_read() {
    let file = |mode| [KeyFile { path: "/k".into(), mode, is_folder: false }];
    is(&key_files(&file(0o600)), Status::Ok, "");
    is(&key_files(&file(0o400)), Status::Ok, "");
    is(&key_files(&file(0o640)), Status::Warning, "chmod 600 /k");
    is(&key_files(&file(0o644)), Status::Problem, "chmod 600 /k");
    is(
        &key_files(&[KeyFile { path: "/d".into(), mode: 0o755, is_folder: true }]),
        Status::Problem,
        "chmod 700 /d",
    );
}

fn postgres() -> PostgresFacts {
    PostgresFacts {
        version_number: 150_004,
        fsync: true,
        synchronous_commit: "on".into(),
        full_page_writes: true,
        encoding: "UTF8".into(),
        max_connections: 100,
        others: 0,
        pool: 22,
        now: NOW,
    }
}

#[test]
fn a_database_that_may_lose_data() {
    let judge = |facts: PostgresFacts| database_settings(&DatabaseFacts::Postgres(facts));
    is(&judge(postgres()), Status::Ok, "");
    is(&judge(PostgresFacts { fsync: false, ..postgres() }), Status::Problem, "fsync = on");
    is(
        &judge(PostgresFacts { full_page_writes: false, ..postgres() }),
        Status::Problem,
        "full_page_writes = on",
    );
    is(
        &judge(PostgresFacts { synchronous_commit: "off".into(), ..postgres() }),
        Status::Problem,
        "synchronous_commit = on",
    );
    is(&judge(PostgresFacts { encoding: "SQL_ASCII".into(), ..postgres() }), Status::Problem, "UTF8");
    is(&judge(PostgresFacts { max_connections: 24, ..postgres() }), Status::Problem, "max_connections");
    is(&judge(PostgresFacts { others: 90, ..postgres() }), Status::Warning, "max_connections");
    let old = PostgresFacts { version_number: 120_000, ..postgres() };
    is(&database(&DatabaseFacts::Postgres(old), true), Status::Warning, "PostgreSQL 15");
    is(&database(&DatabaseFacts::Postgres(postgres()), true), Status::Ok, "");
    is(&database(&DatabaseFacts::Failed("refused".into()), true), Status::Problem, "database_url");
    is(&database(&DatabaseFacts::NotCreated, false), Status::Ok, "");
    let sqlite = |journal_mode: &str, network_filesystem| {
        DatabaseFacts::Sqlite(SqliteFacts {
            version: "3".into(),
            journal_mode: journal_mode.into(),
            network_filesystem,
        })
    };
    is(&database(&sqlite("wal", Some("NFS")), false), Status::Problem, "local disk");
    is(&database(&sqlite("wal", None), false), Status::Ok, "");
    is(&database_settings(&sqlite("delete", None)), Status::Warning, "write-ahead log");
}

#[test]
fn a_schema_that_is_newer_or_older_than_the_program() {
    let at = |found, is_running| schema(Some(SchemaFacts { found, latest: 9, is_running }));
    is(&at(9, true), Status::Ok, "");
    is(&at(10, false), Status::Problem, "newer");
    is(&at(8, true), Status::Warning, "Restart");
    is(&at(8, false), Status::Ok, "");
    is(&schema(None), Status::NotChecked, "");
    is(&integrity(&Integrity::Damaged("row 1 missing".into())), Status::Problem, "dropleaf backup restore");
    is(&integrity(&Integrity::Sound), Status::Ok, "");
}

#[test]
fn a_bucket_without_rights() {
    use BodyStep::{Delete, List, Multipart, Read, Write};
    let tried =
        |store, steps: Vec<(BodyStep, Option<StepFailure>)>| bodies(&BodiesFacts::Tried { store, steps });
    let all = [Write, Read, List, Multipart, Delete];
    let fine = all.iter().map(|step| (*step, None)).collect::<Vec<_>>();
    is(&tried(BodyStore::Bucket, fine), Status::Ok, "");
    let bucket = |step, failure| tried(BodyStore::Bucket, vec![(step, Some(failure))]);
    is(&bucket(Write, StepFailure::Denied), Status::Problem, "s3:PutObject");
    is(&bucket(Delete, StepFailure::Denied), Status::Problem, "s3:DeleteObject");
    is(&bucket(Write, StepFailure::NoSuchBucket), Status::Problem, "Create the bucket");
    is(&bucket(Write, StepFailure::Unauthenticated), Status::Problem, "s3.secret_access_key");
    is(&bucket(Read, StepFailure::ClockSkewed), Status::Problem, "timedatectl");
    is(&tried(BodyStore::Folder, vec![(Write, Some(StepFailure::Other))]), Status::Problem, "chown");
}

#[test]
fn a_full_disk_and_a_folder_that_cannot_be_written() {
    let disk = DiskFacts {
        total_bytes: 100 << 30,
        free_bytes: 50 << 30,
        free_files: Some(1 << 20),
        upload_bytes: 25 << 20,
        parallel_uploads: 4,
    };
    is(&disk_space(&disk), Status::Ok, "");
    is(&disk_space(&DiskFacts { free_bytes: 2 << 30, ..disk }), Status::Warning, "Free some space");
    is(&disk_space(&DiskFacts { free_bytes: 50 << 20, ..disk }), Status::Problem, "data_dir");
    is(&disk_space(&DiskFacts { free_files: Some(3), ..disk }), Status::Problem, "data_dir");
    let folder =
        |error: Option<&str>| DataDirFacts { path: "/d".into(), exists: true, error: error.map(Into::into) };
    is(&data_dir(&folder(Some("read-only"))), Status::Problem, "install -d -m 700");
    is(&data_dir(&folder(None)), Status::Ok, "");
}

#[test]
fn backups_that_are_missing_failing_or_late() {
    let unscheduled = |has_destination| backup(&BackupFacts::NotScheduled { has_destination }, NOW);
    is(&unscheduled(false), Status::Warning, "docs/backup.md");
    is(&unscheduled(true), Status::Warning, "backup.every");
    is(&backup(&BackupFacts::Unknown("The database cannot be used.".into()), NOW), Status::NotChecked, "");
    let scheduled = |last: Option<i64>, since: Option<i64>, failures| {
        let destination = "s3://copies/dropleaf".to_owned();
        let facts = ScheduledBackups { destination, interval: DAY, last, since, failures };
        backup(&BackupFacts::Scheduled(facts), NOW)
    };
    is(&scheduled(None, None, 0), Status::NotChecked, "");
    is(&scheduled(None, Some(NOW - 60), 0), Status::NotChecked, "");
    is(&scheduled(None, Some(NOW - 60), 1), Status::Warning, "dropleaf backup");
    is(&scheduled(None, Some(NOW - 3 * DAY), 0), Status::Problem, "dropleaf backup");
    is(&scheduled(Some(NOW - 2 * DAY), Some(NOW - 9 * DAY), 0), Status::Ok, "");
    is(&scheduled(Some(NOW - DAY), Some(NOW - 9 * DAY), 1), Status::Warning, "dropleaf backup");
    let late = scheduled(Some(NOW - 2 * DAY - 1), Some(NOW - 9 * DAY), 3);
    is(&late, Status::Problem, "docs/backup.md");
    assert!(late.found.contains("3 attempts failed"), "{}", late.found);
}

#[test]
fn a_wrong_clock_and_low_limits() {
    let with =
        |apart: i64| clock(&ClockFacts { own: NOW + apart, others: vec![("the database".into(), NOW)] });
    is(&with(2), Status::Ok, "");
    is(&with(-20), Status::Warning, "timedatectl");
    is(&with(3600), Status::Problem, "timedatectl");
    assert!(with(3600).found.contains("60 minutes ahead of the database"), "{:?}", with(3600));
    assert_eq!(clock(&ClockFacts { own: NOW, others: Vec::new() }).status, Status::NotChecked);
    is(&file_limit(Some(1 << 20), 10_000), Status::Ok, "");
    is(&file_limit(Some(1024), 10_000), Status::Problem, "LimitNOFILE=65536");
    is(&file_limit(Some(9000), 10_000), Status::Warning, "LimitNOFILE");
    let memory_of = |total: u64, available: u64| {
        memory(Some(MemoryFacts {
            total_bytes: total << 20,
            available_bytes: available << 20,
            budget_bytes: 192 << 20,
        }))
    };
    is(&memory_of(4096, 2048), Status::Ok, "");
    is(&memory_of(256, 200), Status::Warning, "storage.cache_bytes");
    is(&memory_of(4096, 64), Status::Warning, "memory");
}

#[test]
fn email_that_cannot_be_sent() {
    is(&mail(&MailFacts::Off { is_intended: false, gated_pages: 0 }), Status::Warning, "mail.smtp_url");
    is(&mail(&MailFacts::Off { is_intended: true, gated_pages: 2 }), Status::Warning, "mail.smtp_url");
    is(&mail(&MailFacts::Off { is_intended: true, gated_pages: 0 }), Status::Ok, "");
    is(&mail(&MailFacts::Connected(Err("refused".into()))), Status::Problem, "mail.smtp_url");
    is(&mail(&MailFacts::Connected(Ok(()))), Status::Ok, "");
    let sent = |result| mail(&MailFacts::Sent { to: "a@example.org".into(), result });
    is(&sent(Err("status 550".into())), Status::Problem, "mail.from");
    is(&sent(Ok(())), Status::Ok, "");
}

#[test]
fn orders_that_fail_or_are_not_placed() {
    let good = Certificate {
        not_before: Some(NOW - DAY),
        not_after: Some(NOW + 80 * DAY),
        renew_at: Some(NOW + 50 * DAY),
        ..Certificate::new("a.example".into(), NOW)
    };
    let judge = |rows: &[&Certificate]| {
        acme(&ManagedCertificates::Rows(rows.iter().map(|it| (*it).clone()).collect()), NOW)
    };
    is(&judge(&[&good]), Status::Ok, "");
    let failing = Certificate {
        failures: 3,
        last_error: Some("no TXT record".into()),
        ..Certificate::new("*.b.example".into(), NOW)
    };
    is(&judge(&[&good, &failing]), Status::Problem, "dropleaf certs renew '*.b.example'");
    is(&judge(&[&Certificate { failures: 1, ..good.clone() }]), Status::Warning, "dropleaf certs renew");
    is(&judge(&[&Certificate::new("c.example".into(), NOW - DAY)]), Status::Warning, "tls.mode");
    is(&acme(&ManagedCertificates::NotManaged, NOW), Status::Ok, "");
}
