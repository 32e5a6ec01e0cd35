//! Tests the running server: start, shutdown, timeouts, storage, reloading and cleanup.

mod certificates;
mod deadline;
mod lists_reload;
mod operations;
mod released_schemas;
mod scheduled_backups;
mod serve_lock;
mod storage;
mod sweep;
mod tls;
mod tls_issued;
