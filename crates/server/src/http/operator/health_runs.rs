//! Runs the health checks inside the server and keeps the last result, so that reloading the page costs nothing. One run at a
//! time.

use crate::doctor::{Doctor, Place, Storage};
use crate::http::state::ApiState;
use dropleaf_app::HealthParts;
use dropleaf_core::Minter;
use dropleaf_core::health::Report;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A result that is younger than this is not replaced.
const FRESH_SECONDS: i64 = 10;

#[derive(Debug, Default)]
pub(in crate::http) struct HealthRuns(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    last: Option<Arc<Report>>,
    is_running: bool,
}

impl HealthRuns {
    /// The last result, and whether a new one is under way.
    pub(super) fn last(&self) -> (Option<Arc<Report>>, bool) {
        let state = self.lock();
        (state.last.clone(), state.is_running)
    }

    /// Starts a run in the background, unless one is under way or has just finished.
    pub(super) fn start(self: &Arc<Self>, state: &ApiState) {
        {
            let mut own = self.lock();
            let now = state.app.now();
            let is_fresh =
                own.last.as_ref().is_some_and(|last| (now - last.checked_at).abs() < FRESH_SECONDS);
            if own.is_running || is_fresh {
                return;
            }
            own.is_running = true;
        }
        let HealthParts { store, keys, clock } = state.app.health_parts();
        let doctor = Doctor {
            resolved: Arc::clone(&state.resolved),
            storage: Storage::Open(store),
            keys: Some(keys),
            clock,
            minter: Minter::system(),
            place: Place::Server,
            mail_to: None,
        };
        let (runs, stopping) = (Running(Arc::clone(self)), state.tasks.stopping.clone());
        state.tasks.spawn(async move {
            if let Some(report) = stopping.run_until_cancelled(Box::pin(doctor.run())).await {
                runs.0.lock().last = Some(Arc::new(report));
            }
        });
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the run, also after a panic.
struct Running(Arc<HealthRuns>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.lock().is_running = false;
    }
}
