//! Structured logs: text on a terminal, JSON otherwise. What may never be logged is never handed to it:
//! no token, key, password, query string or Authorization header is put into a field anywhere.

use crate::config::Config;
use anyhow::{Context, Result};
use std::io::IsTerminal;
use tracing_subscriber::EnvFilter;

/// Starts logging to standard error, so that standard output stays for what a command prints.
pub fn start(config: &Config) -> Result<()> {
    let level = &config.log.level;
    // The PostgreSQL driver repeats the server's notices; they are for its log, not for ours.
    let level =
        if level.contains("tokio_postgres") { level.clone() } else { format!("{level},tokio_postgres=warn") };
    let filter = EnvFilter::try_new(level).context("`log.level` is not understood")?;
    let builder =
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_target(false);
    let json = match config.log.format.as_str() {
        "json" => true,
        "text" => false,
        _ => !std::io::stderr().is_terminal(),
    };
    let started = if json {
        builder.json().flatten_event(true).try_init()
    } else {
        builder.with_ansi(std::io::stderr().is_terminal()).try_init()
    };
    // A second start in one process happens in tests only; the first stays.
    let _ = started;
    Ok(())
}
