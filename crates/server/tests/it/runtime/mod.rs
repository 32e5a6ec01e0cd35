//! Tests the running server: start, shutdown, timeouts, storage, reloading and cleanup.

mod certificates;
mod deadline;
mod drain;
mod lists_reload;
mod operations;
mod pgbouncer;
mod released_schemas;
mod replicas;
mod scheduled_backups;
mod serve_lock;
mod start;
mod storage;
mod sweep;
mod tls;
mod tls_issued;
