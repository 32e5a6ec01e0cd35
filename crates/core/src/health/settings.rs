//! Judges the settings themselves, the running server, and who can read the files with keys.

use super::{Check, Finding};

/// What is known about the settings.
#[derive(Debug, Clone, Default)]
pub struct SettingsFacts {
    /// Why they cannot be used.
    pub error: Option<String>,
    /// Settings that are valid but do not fit together, each a sentence.
    pub warnings: Vec<String>,
    /// The address of the API uses plain HTTP and is not on this machine.
    pub is_public_http: bool,
    /// Pages have the same host as the API, which is not on this machine.
    pub shares_host: bool,
    /// The operator's address is still the default one on a public server.
    pub has_default_operator: bool,
}

pub fn settings(facts: &SettingsFacts) -> Finding {
    const CHECK: Check = Check::Settings;
    if let Some(error) = &facts.error {
        return Finding::problem(
            CHECK,
            format!("The server cannot start with these settings: {error}."),
            "Correct the setting, then run `dropleaf config check`.",
        );
    }
    let mut parts: Vec<Finding> = facts
        .warnings
        .iter()
        .map(|warning| {
            Finding::warning(CHECK, format!("{warning}."), "`dropleaf config show` prints every setting.")
        })
        .collect();
    if facts.is_public_http {
        parts.push(Finding::warning(
            CHECK,
            "`base_url` begins with http://, so passwords and keys cross the network unencrypted.",
            "Set `base_url` and `site_url` to https:// addresses and set up HTTPS (`tls.mode`, or a reverse proxy).",
        ));
    }
    if facts.shares_host {
        parts.push(Finding::warning(
            CHECK,
            "Pages are on the same host as the API and the dashboard.",
            "Set `site_url` to an address on a domain of its own, such as https://pages.example.net.",
        ));
    }
    if facts.has_default_operator {
        parts.push(Finding::warning(
            CHECK,
            "`operator.email` is still the default address.",
            "Set `operator.email` to your address, so that you can sign in.",
        ));
    }
    Finding::join(CHECK, parts).unwrap_or_else(|| Finding::ok(CHECK, "The settings are valid."))
}

/// The server on this machine, as far as it can be seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunningServer {
    /// The checks run inside it.
    Own,
    /// It listens, and said its version through the public address.
    Answered {
        version: String,
    },
    /// Something listens at the address.
    Listening,
    Stopped,
}

pub fn server(server: &RunningServer, own_version: &str, listen: &str) -> Finding {
    const CHECK: Check = Check::Server;
    match server {
        RunningServer::Own => Finding::ok(CHECK, format!("This server runs version {own_version}.")),
        RunningServer::Answered { version } if version == own_version => {
            Finding::ok(CHECK, format!("A server with version {version} is running."))
        }
        RunningServer::Answered { version } => Finding::warning(
            CHECK,
            format!("The running server has version {version}, this program has version {own_version}."),
            "Restart the server, so that it runs the installed version: `systemctl restart dropleaf`.",
        ),
        RunningServer::Listening => Finding::ok(CHECK, format!("A server listens on {listen}.")),
        RunningServer::Stopped => Finding::not_checked(
            CHECK,
            format!(
                "The server is not running: nothing listens on {listen}. Checks that need it were skipped."
            ),
        )
        .with_fix("Start it with `dropleaf serve`, then run `dropleaf doctor` again."),
    }
}

/// Whether the locks of an SQLite database and of the data folder are held; `None` on PostgreSQL.
pub fn second_server(locks: Option<(bool, bool)>) -> Finding {
    const CHECK: Check = Check::SecondServer;
    match locks {
        None => Finding::ok(CHECK, "Servers on PostgreSQL share the database."),
        Some((true, true)) => Finding::ok(CHECK, "One server uses the database and the data folder."),
        Some((false, false)) => Finding::ok(CHECK, "No other server uses the database or the data folder."),
        Some((true, false)) => Finding::problem(
            CHECK,
            "A server with another data folder uses this SQLite database.",
            "Stop that server, or set a different `database_url`. Several servers can share a PostgreSQL database.",
        ),
        Some((false, true)) => Finding::problem(
            CHECK,
            "A server with another database uses this data folder.",
            "Stop that server, or set a different `data_dir`.",
        ),
    }
}

/// A file or folder that only the server should read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyFile {
    pub path: String,
    /// The permission bits.
    pub mode: u32,
    pub is_folder: bool,
}

pub fn key_files(files: &[KeyFile]) -> Finding {
    const CHECK: Check = Check::KeyFiles;
    const OTHERS: u32 = 0o007;
    let parts = files.iter().filter(|file| file.mode & 0o077 != 0).map(|file| {
        let wanted = if file.is_folder { "700" } else { "600" };
        let fix = format!("`chmod {wanted} {}`", file.path);
        if file.mode & OTHERS == 0 {
            return Finding::warning(
                CHECK,
                format!("The group can access {} (mode {:o}).", file.path, file.mode),
                fix,
            );
        }
        Finding::problem(
            CHECK,
            format!("Every user of this machine can access {} (mode {:o}).", file.path, file.mode),
            fix,
        )
    });
    Finding::join(CHECK, parts.collect())
        .unwrap_or_else(|| Finding::ok(CHECK, "Only the owner can read the files with keys and data."))
}
