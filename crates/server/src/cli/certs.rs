//! `dropleaf certs …`: lists the certificates that the server obtains, and makes their renewal due. Works while the server
//! runs, which places the orders.

use super::output::{Column, Table, print_json, print_line};
use super::with_app;
use crate::config::Config;
use anyhow::{Result, ensure};
use clap::{Args, Subcommand};
use dropleaf_app::{App, COMMAND_LINE, TlsMode};
use dropleaf_core::certificate::Certificate;
use dropleaf_core::iso;
use serde_json::{Value, json};

const NOT_MANAGED: &str = "This server obtains no certificates: `tls.mode` is not acme.";

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List the names that need a certificate, with state, expiry and the last error
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Renew now instead of at the scheduled time; the running server places the order within a minute
    Renew(Renew),
}

#[derive(Debug, Args)]
pub(super) struct Renew {
    /// The name of the certificate, such as drop.example.com or *.pages.example.com
    #[arg(required_unless_present = "all")]
    name: Option<String>,
    /// Every certificate
    #[arg(long, conflicts_with = "name")]
    all: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(command: Command, config: Config) -> Result<()> {
    with_app(config, async |app| run_command(app, command).await).await
}

async fn run_command(app: &App, command: Command) -> Result<()> {
    match command {
        Command::List { json } => {
            if !json && app.settings().tls_mode != TlsMode::Acme {
                print_line(NOT_MANAGED)?;
            }
            let (found, now) = (app.list_certificates().await?, app.now());
            if json {
                let all: Vec<_> = found.iter().map(|it| as_json(it, now)).collect();
                print_json(&json!({"certificates": all}))
            } else {
                print_line(&table(&found, now))
            }
        }
        Command::Renew(Renew { name, json, .. }) => {
            ensure!(
                app.settings().tls_mode == TlsMode::Acme,
                "this server obtains no certificates: `tls.mode` is not acme"
            );
            let names = match name {
                Some(name) => {
                    app.request_renewal(COMMAND_LINE, &name).await?;
                    vec![name.to_ascii_lowercase()]
                }
                None => app.request_all_renewals().await?,
            };
            if json {
                return print_json(&json!({"due": names}));
            }
            match names.as_slice() {
                [] => print_line("No certificates."),
                [name] => print_line(&format!("Due now: {name}.")),
                names => {
                    print_line(&format!("Due now ({} certificates): {}.", names.len(), names.join(", ")))
                }
            }
        }
    }
}

fn as_json(certificate: &Certificate, now: i64) -> Value {
    json!({
        "name": certificate.name,
        "state": certificate.state(now).as_str(),
        "serial": certificate.serial,
        "not_before": certificate.not_before,
        "not_after": certificate.not_after,
        "renew_at": certificate.renew_at,
        "next_order_at": certificate.unused_since.is_none().then(|| certificate.next_order_at()),
        "failures": certificate.failures,
        "last_error": certificate.last_error,
        "unused_since": certificate.unused_since,
    })
}

fn table(found: &[Certificate], now: i64) -> String {
    if found.is_empty() {
        return "No certificates.".to_owned();
    }
    let mut table = Table::new([
        Column::fixed("name"),
        Column::fixed("state"),
        Column::fixed("expires"),
        Column::fixed("next order"),
        Column::flexible("last error"),
    ]);
    for it in found {
        let (state, next) = match it.unused_since {
            None => (it.state(now).as_str(), iso::format(it.next_order_at().max(now))),
            Some(_) => ("unused", String::new()),
        };
        table.row([
            it.name.as_str().into(),
            state.into(),
            it.not_after.map(iso::format).unwrap_or_default().into(),
            next.into(),
            it.last_error.as_deref().unwrap_or_default().into(),
        ]);
    }
    table.render()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_800_000_000;

    #[test]
    fn the_table_shows_state_expiry_and_error() {
        let issued = Certificate {
            serial: Some("0a".into()),
            not_before: Some(NOW - 86_400),
            not_after: Some(NOW + 5 * 86_400),
            renew_at: Some(NOW + 3 * 86_400),
            ..Certificate::new("*.pages.example".into(), NOW)
        };
        let failed = Certificate {
            failures: 2,
            next_attempt_at: NOW + 1800,
            last_error: Some("refused\u{1b}[31m".into()),
            ..Certificate::new("drop.example".into(), NOW)
        };
        let unused = Certificate { unused_since: Some(NOW), ..issued.clone() };
        let shown = table(&[issued, failed, unused], NOW);
        let lines: Vec<Vec<&str>> = shown.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines[1], ["*.pages.example", "issued", "2027-01-20T08:00:00Z", "2027-01-18T08:00:00Z"]);
        assert_eq!(lines[2], ["drop.example", "failed", "2027-01-15T08:30:00Z", "refused\\u{1b}[31m"]);
        assert_eq!(lines[3][1], "unused");
        assert_eq!(table(&[], NOW), "No certificates.");
    }

    #[test]
    fn json_has_no_next_order_for_a_name_that_is_no_longer_needed() {
        let mut certificate = Certificate::new("drop.example".into(), NOW);
        assert_eq!(as_json(&certificate, NOW)["next_order_at"], NOW);
        assert_eq!(as_json(&certificate, NOW)["state"], "pending");
        certificate.unused_since = Some(NOW);
        assert_eq!(as_json(&certificate, NOW)["next_order_at"], Value::Null);
    }
}
