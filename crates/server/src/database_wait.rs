//! Opens and prepares the app at the start of the server, and waits for a PostgreSQL database that is not available yet. What
//! waiting cannot change, such as a wrong password or a newer schema, ends the start at once.

use crate::config::Resolved;
use crate::listeners::Listeners;
use crate::preparation::{Preparation, Prepared};
use crate::serve_lock::sqlite_path;
use crate::service_manager::ServiceManager;
use crate::{starting, startup};
use anyhow::Result;
use dropleaf_app::{App, NODE_SECRET_WAIT};
use dropleaf_store::DbError;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Requests of this first moment wait until they are served: most starts take less.
const GRACE: Duration = Duration::from_millis(250);
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// How much longer the service manager should wait, and how often it is told: migrations may take minutes.
const EXTENSION: Duration = Duration::from_mins(1);
const EXTENDED_EVERY: Duration = Duration::from_secs(20);

/// `None` if `stop` completes first.
pub(crate) async fn start_app(
    resolved: &Resolved,
    listeners: &Listeners,
    manager: &ServiceManager,
    stop: impl Future<Output = ()>,
) -> Result<Option<(Arc<App>, Prepared)>> {
    let mut start = AppStart {
        resolved,
        app: None,
        preparation: Preparation::default(),
        since: Instant::now(),
        other_secret_since: None,
    };
    let outcome = tokio::select! {
        biased;
        started = start.run() => Some(started),
        () = stop => None,
        never = meanwhile(resolved, listeners, manager) => match never {},
    };
    let started = match outcome {
        Some(Ok(started)) => return Ok(Some(started)),
        Some(Err(error)) => Err(error),
        None => Ok(None),
    };
    if let Some(app) = start.app {
        start.preparation.interrupt(resolved, &app).await;
        app.close().await;
    }
    started
}

/// Answers for the server that is starting, and tells the service manager that it is.
async fn meanwhile(resolved: &Resolved, listeners: &Listeners, manager: &ServiceManager) -> Infallible {
    tokio::time::sleep(GRACE).await;
    tokio::select! {
        never = starting::answer(listeners, resolved.settings.tls_mode) => never,
        never = extend(manager) => never,
    }
}

async fn extend(manager: &ServiceManager) -> Infallible {
    loop {
        manager.extend(EXTENSION);
        tokio::time::sleep(EXTENDED_EVERY).await;
    }
}

struct AppStart<'a> {
    resolved: &'a Resolved,
    app: Option<Arc<App>>,
    preparation: Preparation,
    /// When it began to wait for the database.
    since: Instant,
    /// When it began to wait for the end of nodes with another `secret_key`.
    other_secret_since: Option<Instant>,
}

impl AppStart<'_> {
    async fn run(&mut self) -> Result<(Arc<App>, Prepared)> {
        let mut pause = FIRST_PAUSE;
        loop {
            let error = match self.attempt().await {
                Ok(started) => return Ok(started),
                Err(error) => error,
            };
            let Some(end) = self.waits_until(&error) else { return Err(error) };
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(if self.other_secret_since.is_some() {
                    error
                } else {
                    let waited = self.since.elapsed().as_secs();
                    error.context(format!("the database did not become available in {waited} seconds"))
                });
            }
            let next = pause.min(left);
            let reason = if self.other_secret_since.is_some() {
                "nodes with another `secret_key` have not stopped yet"
            } else {
                "the database is not available yet"
            };
            tracing::warn!(error = format!("{error:#}"), retry_in = ?next, "{reason}");
            tokio::time::sleep(next).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    async fn attempt(&mut self) -> Result<(Arc<App>, Prepared)> {
        let app = if let Some(app) = &self.app {
            Arc::clone(app)
        } else {
            let app = Arc::new(startup::open_app(self.resolved).await?);
            self.since = Instant::now();
            Arc::clone(self.app.insert(app))
        };
        let prepared = self.preparation.attempt(self.resolved, &app).await?;
        Ok((app, prepared))
    }

    /// Until when this failure may pass; `None` if waiting does not help.
    fn waits_until(&mut self, error: &anyhow::Error) -> Option<Instant> {
        let limit = self.resolved.config.database.wait_seconds;
        if limit == 0 || sqlite_path(&self.resolved.database_url).is_some() {
            return None;
        }
        if self.preparation.is_other_secret {
            let since = *self.other_secret_since.get_or_insert_with(Instant::now);
            return Some(since + NODE_SECRET_WAIT);
        }
        if self.other_secret_since.take().is_some() {
            // The database was available all that time.
            self.since = Instant::now();
        }
        let cause = error.chain().find_map(|cause| cause.downcast_ref::<DbError>());
        cause.is_some_and(DbError::may_pass).then(|| self.since + Duration::from_secs(limit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Layers, Sources};
    use tempfile::TempDir;

    #[tokio::test(start_paused = true)]
    async fn waiting_for_another_secret_does_not_count_as_waiting_for_the_database() {
        let dir = TempDir::new().unwrap();
        let flags = [
            ("data_dir", dir.path().display().to_string()),
            ("database_url", "postgres://nobody@127.0.0.1:1/none".to_owned()),
            ("database.wait_seconds", "10".to_owned()),
        ];
        let flags = flags.map(|(key, value)| (key.to_owned(), value)).to_vec();
        let config = Layers::load(&Sources { flags, ..Sources::default() }).unwrap().config().unwrap();
        let resolved = config.resolve(8080).unwrap();
        let mut start = AppStart {
            resolved: &resolved,
            app: None,
            preparation: Preparation::default(),
            since: Instant::now(),
            other_secret_since: None,
        };
        let away = anyhow::Error::from(DbError::Busy);
        start.preparation.is_other_secret = true;
        assert_eq!(start.waits_until(&away), Some(Instant::now() + NODE_SECRET_WAIT));
        tokio::time::advance(Duration::from_mins(1)).await;
        start.preparation.is_other_secret = false;
        let whole = Instant::now() + Duration::from_secs(10);
        assert_eq!(start.waits_until(&away), Some(whole));
        tokio::time::advance(Duration::from_secs(4)).await;
        assert_eq!(start.waits_until(&away), Some(whole), "only once");
    }
}
