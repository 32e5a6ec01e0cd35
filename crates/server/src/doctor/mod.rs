//! Collects the facts of the health checks: for `dropleaf doctor`, and inside the server for `/operator/health`. Every check
//! has its own deadline and they run concurrently, so that a run takes at most half a minute. What the facts mean is decided in
//! `core::health`.

mod addresses;
mod client;
mod clock;
mod files;
mod machine;
mod mail;
mod presented;
mod public_requests;
mod settings;
mod storage;

pub(crate) use machine::open_files;
pub(crate) use storage::{Storage, sqlite_path};

use crate::config::Resolved;
use dropleaf_app::TlsMode;
use dropleaf_core::health::{self, Check, ClientAddressFacts, Finding, Report, RunningServer, SelfCheck};
use dropleaf_core::secret::Keys;
use dropleaf_core::{Clock, Minter};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Looking up names and finding the running server, before everything else.
const FIRST: Duration = Duration::from_secs(6);
/// Each check after that.
const EACH: Duration = Duration::from_secs(12);

/// Where the checks run.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    /// Inside the running server.
    Server,
    /// On the command line, with the settings file.
    CommandLine { config_file: Option<PathBuf> },
}

/// Everything that a run needs.
#[derive(Debug)]
pub(crate) struct Doctor {
    pub(crate) resolved: Arc<Resolved>,
    pub(crate) storage: Storage,
    /// None before the first start.
    pub(crate) keys: Option<Keys>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) minter: Minter,
    pub(crate) place: Place,
    /// Where a test email is sent.
    pub(crate) mail_to: Option<String>,
}

/// A run with settings that cannot be used.
pub(crate) fn report_of_bad_settings(error: &anyhow::Error, now: i64) -> Report {
    let facts =
        health::SettingsFacts { error: Some(format!("{error:#}")), ..health::SettingsFacts::default() };
    Report::new(vec![health::settings(&facts)], now)
}

/// The result of a check, or that it took too long.
async fn in_time(check: Check, work: impl Future<Output = Finding>) -> Finding {
    tokio::time::timeout(EACH, work).await.unwrap_or_else(|_| Finding::late(check, EACH.as_secs()))
}

impl Doctor {
    pub(crate) async fn run(&self) -> Report {
        let resolved = &*self.resolved;
        let first = async { tokio::join!(self.look_up_names(), self.is_running()) };
        let (names, is_running) = tokio::time::timeout(FIRST, first).await.unwrap_or_default();
        let public = async {
            let sent = tokio::time::timeout(EACH, Box::pin(self.send_public(&names, is_running))).await;
            sent.unwrap_or_else(|_| public_requests::PublicResults::late())
        };
        let (public, stored, certificate, rest) = tokio::join!(
            public,
            self.check_storage(is_running),
            in_time(Check::Certificate, self.check_certificates(&names, is_running)),
            self.check_others(),
        );
        let mut findings = names.findings(resolved);
        findings.push(health::reachability(&self.reachability(&names, public.first.clone())));
        let listen = resolved.config.listen.as_str();
        findings.extend(public.findings(resolved, listen));
        findings.push(health::client_address(&ClientAddressFacts {
            result: &public.first,
            local: public.local,
            claimed: client::CLAIMED,
            trusted: &resolved.trusted_proxies,
            is_https: resolved.hosts.base.scheme == "https",
        }));
        findings.push(health::trusted_proxies(&resolved.trusted_proxies));
        findings.push(health::settings(&settings::facts(resolved)));
        findings.push(health::server(&self.running_server(is_running, &public.first), VERSION, listen));
        findings.push(health::file_limit(
            self.open_files(&public.first),
            resolved.config.limits.connections as u64,
        ));
        findings.push(certificate);
        findings.extend(stored);
        findings.extend(rest);
        Report::new(findings, self.clock.now())
    }

    /// The checks that depend on nothing else.
    async fn check_others(&self) -> Vec<Finding> {
        let (mail, clock, machine) = tokio::join!(
            in_time(Check::Mail, self.check_mail()),
            in_time(Check::Clock, self.check_clock()),
            self.check_machine(),
        );
        machine.into_iter().chain([mail, clock]).collect()
    }

    fn running_server(&self, is_running: bool, first: &SelfCheck) -> RunningServer {
        match (&self.place, first) {
            (Place::Server, _) => RunningServer::Own,
            (_, SelfCheck::Answered(arrived)) => RunningServer::Answered { version: arrived.version.clone() },
            _ if is_running => RunningServer::Listening,
            _ => RunningServer::Stopped,
        }
    }

    /// The limit of the running server, or the one that a server started like this command would have.
    fn open_files(&self, first: &SelfCheck) -> Option<u64> {
        match (&self.place, first) {
            (Place::CommandLine { .. }, SelfCheck::Answered(arrived)) => arrived.open_files,
            _ => machine::open_files(),
        }
    }

    fn is_server(&self) -> bool {
        matches!(self.place, Place::Server)
    }

    fn ends_tls(&self) -> bool {
        self.resolved.settings.tls_mode != TlsMode::Off
    }
}

/// The version of this program.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");
