//! What a database on several servers or nodes has besides: replicas, and the changes of other nodes. SQLite has none of it.

use super::{Db, Engine};
use std::time::Duration;

impl Db {
    /// Whether each replica answers and is current, in the order of the settings. `None` for one that was not measured yet:
    /// replicas are measured while they are read from.
    pub fn replicas_current(&self) -> Vec<Option<bool>> {
        match &self.0 {
            Engine::Sqlite(_) => Vec::new(),
            Engine::Pg(db) => db.replicas.current(),
        }
    }

    /// A replica that holds every change of `name` that this process has made or was notified of, and everything that was
    /// committed `max_age` ago; by default, the configured lag. It is read only. With the age of what it is known to hold.
    pub fn find_replica(&self, name: &str, max_age: Option<Duration>) -> Option<(Db, Duration)> {
        match &self.0 {
            Engine::Sqlite(_) => None,
            Engine::Pg(db) => db.replicas.find(name, max_age),
        }
    }

    /// Any replica, however far behind; for what never changes under its key.
    pub fn any_replica(&self) -> Option<Db> {
        match &self.0 {
            Engine::Sqlite(_) => None,
            Engine::Pg(db) => db.replicas.any(),
        }
    }

    pub fn has_replicas(&self) -> bool {
        matches!(&self.0, Engine::Pg(db) if !db.replicas.is_empty())
    }

    /// Records a change by a name that its batch did not notify of, so that it is not read from a replica without it.
    pub fn mark_changed(&self, name: &str) {
        if let Engine::Pg(db) = &self.0 {
            db.replicas.mark_changed(name);
        }
    }

    /// Finds out how current the replicas are, without end; `None` if there are none. The caller runs the future.
    pub fn watch_replicas(&self) -> Option<impl Future<Output = ()> + Send + use<>> {
        match &self.0 {
            Engine::Sqlite(_) => None,
            Engine::Pg(db) => db.watch_replicas(),
        }
    }

    /// Receives the changes of other nodes; `None` on SQLite. The caller runs the future. It reconnects forever, and passes
    /// [`super::LISTENING`] (anything may have changed) whenever it starts to listen.
    pub fn listen<F>(&self, on_change: F) -> Option<impl Future<Output = ()> + Send + use<F>>
    where
        F: Fn(&str) + Send + Sync + 'static,
    {
        match &self.0 {
            Engine::Sqlite(_) => None,
            Engine::Pg(db) => Some(db.listen(on_change)),
        }
    }
}
