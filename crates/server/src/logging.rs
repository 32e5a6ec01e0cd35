//! Structured logs: text on a terminal, JSON otherwise. Secrets are never passed to the logger: no token, key, password,
//! query string or Authorization header is put into a field anywhere.

use crate::config::Config;
use anyhow::{Context, Result};
use std::io::IsTerminal;
use tracing_subscriber::EnvFilter;

/// Limits for libraries, unless the operator names them in the setting: the PostgreSQL driver repeats the server's notices,
/// which belong in its own log; the MCP library logs whole messages of clients.
const OTHERS: [(&str, &str); 2] = [("tokio_postgres", "warn"), ("rmcp", "off")];

fn filter(level: &str) -> String {
    let unnamed = OTHERS.iter().filter(|(name, _)| !level.contains(name));
    unnamed.fold(level.to_owned(), |filter, (name, most)| format!("{filter},{name}={most}"))
}

/// Starts logging to standard error; standard output is for the output of commands.
pub fn start(config: &Config) -> Result<()> {
    let filter = EnvFilter::try_new(filter(&config.log.level)).context("`log.level` is invalid")?;
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_target(false)
        // Reporting that nothing can be written would end the server in the middle of its work.
        .log_internal_errors(false);
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
    // A second start in one process happens only in tests; the first one stays.
    let _ = started;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_that_repeat_what_clients_send_are_silent_unless_named() {
        assert_eq!(filter("debug"), "debug,tokio_postgres=warn,rmcp=off");
        assert_eq!(filter("info,rmcp=debug"), "info,rmcp=debug,tokio_postgres=warn");
        assert_eq!(
            filter("rmcp::service=info,tokio_postgres=info"),
            "rmcp::service=info,tokio_postgres=info"
        );
        EnvFilter::try_new(filter("trace")).unwrap();
    }
}
