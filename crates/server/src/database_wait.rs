//! Opens the app at the start of the server, and waits for a PostgreSQL database that is not available yet. What waiting
//! cannot change, such as a wrong password or a newer schema, ends the start at once.

use crate::config::Resolved;
use crate::listeners::Listeners;
use crate::serve_lock::sqlite_path;
use crate::service_manager::ServiceManager;
use crate::{starting, startup};
use anyhow::{Context, Result};
use dropleaf_app::App;
use dropleaf_store::DbError;
use std::pin::pin;
use std::time::Duration;
use tokio::time::Instant;

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// How much longer than the pause the service manager should wait: an attempt has time limits of its own.
const ATTEMPT: Duration = Duration::from_mins(1);

/// `None` if `stop` completes first.
pub(crate) async fn open_app(
    resolved: &Resolved,
    listeners: &Listeners,
    manager: &ServiceManager,
    stop: impl Future<Output = ()>,
) -> Result<Option<App>> {
    let start = Instant::now();
    let mut stop = pin!(stop);
    let opened = tokio::select! {
        biased;
        opened = startup::open_app(resolved) => opened,
        () = &mut stop => return Ok(None),
    };
    let error = match opened {
        Err(error) if may_wait(resolved, &error) => error,
        opened => return opened.map(Some),
    };
    let limit = Duration::from_secs(resolved.config.database.wait_seconds);
    tokio::select! {
        biased;
        opened = try_again(resolved, manager, start + limit, error) => {
            let waited = start.elapsed().as_secs();
            opened.map(Some).with_context(|| format!("the database did not become available in {waited} seconds"))
        }
        () = stop => Ok(None),
        never = starting::answer(listeners, resolved.settings.tls_mode) => match never {},
    }
}

async fn try_again(
    resolved: &Resolved,
    manager: &ServiceManager,
    end: Instant,
    mut error: anyhow::Error,
) -> Result<App> {
    let mut pause = FIRST_PAUSE;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() || !may_wait(resolved, &error) {
            return Err(error);
        }
        let next = pause.min(left);
        tracing::warn!(
            error = format!("{error:#}"),
            "the database is not available yet; trying again in {next:?}"
        );
        manager.extend(next + ATTEMPT);
        tokio::time::sleep(next).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
        match startup::open_app(resolved).await {
            Ok(app) => return Ok(app),
            Err(failed) => error = failed,
        }
    }
}

fn may_wait(resolved: &Resolved, error: &anyhow::Error) -> bool {
    let is_remote = sqlite_path(&resolved.database_url).is_none();
    let may_pass = error.downcast_ref::<DbError>().is_some_and(DbError::may_pass);
    resolved.config.database.wait_seconds > 0 && is_remote && may_pass
}
