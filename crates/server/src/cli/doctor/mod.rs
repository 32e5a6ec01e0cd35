//! `dropleaf doctor`: checks whether this installation works, while the server runs or not. Repairs nothing, deletes the
//! small file and object that it writes to try the storage, and prints no secret. Exits with 3 if it found a problem.

mod print;

use super::output::{print_json, print_line};
use crate::config::{Layers, Resolved, Sources};
use crate::doctor::{self, Place, Storage, sqlite_path};
use crate::{startup, tls};
use anyhow::{Context, Result};
use clap::Args;
use dropleaf_core::health::{Report, Status};
use dropleaf_core::{Clock, Minter, SystemClock};
use dropleaf_store::{Db, Store};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// How long opening the database may take.
const OPEN: Duration = Duration::from_secs(8);
/// How long the end waits for work that cannot be interrupted, such as a disk that hangs.
const END: Duration = Duration::from_millis(500);

#[derive(Debug, Args)]
pub(super) struct Doctor {
    /// Send a test email to this address
    #[arg(long, value_name = "ADDRESS")]
    mail: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The error of a run that found problems, which have already been printed.
#[derive(Debug)]
pub(super) struct ProblemsFound(usize);

impl fmt::Display for ProblemsFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} found", self.0, if self.0 == 1 { "problem" } else { "problems" })
    }
}

impl std::error::Error for ProblemsFound {}

impl Doctor {
    pub(super) fn run(self, sources: &Sources) -> Result<()> {
        let to = self.mail.as_deref().map(dropleaf_core::email::address).transpose();
        let to = to.map_err(|_| super::exit::WrongUse("--mail needs an email address".to_owned()))?;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let runtime = runtime.context("cannot start the runtime")?;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::default());
        let report = match resolve(sources) {
            Ok(resolved) => runtime.block_on(Box::pin(examine(resolved, sources, Arc::clone(&clock), to))),
            Err(error) => doctor::report_of_bad_settings(&error, clock.now()),
        };
        runtime.shutdown_timeout(END);
        if self.json {
            print_json(&print::as_json(&report))?;
        } else {
            print_line(&print::for_people(&report))?;
        }
        match report.count(Status::Problem) {
            0 => Ok(()),
            problems => Err(ProblemsFound(problems).into()),
        }
    }
}

fn resolve(sources: &Sources) -> Result<Resolved> {
    let config = Layers::load(sources)?.config()?;
    let port = config.public_listen()?.port;
    config.resolve(port)
}

async fn examine(
    resolved: Resolved,
    sources: &Sources,
    clock: Arc<dyn Clock>,
    mail_to: Option<String>,
) -> Report {
    tls::install_provider();
    let storage = open(&resolved).await;
    let keys = startup::read_keys(&resolved.config, &resolved.data_dir);
    let doctor = doctor::Doctor {
        resolved: Arc::new(resolved),
        storage,
        keys,
        clock,
        minter: Minter::system(),
        place: Place::CommandLine { config_file: sources.file.clone() },
        mail_to,
    };
    let report = Box::pin(doctor.run()).await;
    if let Storage::Open(store) = &doctor.storage {
        store.db.close().await;
    }
    report
}

/// Opens what exists; creates and migrates nothing.
async fn open(resolved: &Resolved) -> Storage {
    if sqlite_path(resolved).is_some_and(|path| !path.exists()) {
        return Storage::NotCreated;
    }
    let blobs = match startup::open_blobs(resolved) {
        Ok(blobs) => blobs,
        Err(error) => return Storage::Failed { database: None, bodies: Some(format!("{error:#}")) },
    };
    match tokio::time::timeout(OPEN, Db::open_with(&resolved.database_url, &resolved.database_options)).await
    {
        Ok(Ok(db)) => Storage::Open(Store::new(db, blobs)),
        Ok(Err(error)) => Storage::Failed { database: Some(error.to_string()), bodies: None },
        Err(_) => Storage::Failed { database: Some("it does not respond".to_owned()), bodies: None },
    }
}
