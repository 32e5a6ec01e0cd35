//! `dropleaf whoami` and `dropleaf logout`.

use super::{ClientEnvironment, visible, warn_if_readable};
use crate::cli::exit::NotSignedIn;
use crate::cli::output::{print_json, print_line};
use anyhow::{Context, Result};
use clap::Args;
use dropleaf_client::Client;
use serde_json::json;

#[derive(Debug, Args)]
pub(crate) struct Whoami {
    /// The server (default: `DROPLEAF_URL`, the server you last signed in to, or <http://localhost:8080>)
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// Print the server's response as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Logout {
    /// The server (default: `DROPLEAF_URL`, the server you last signed in to, or <http://localhost:8080>)
    url: Option<String>,
    /// Only delete the key from this computer, without revoking it on the server
    #[arg(long)]
    local: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Whoami {
    pub(crate) async fn run(self, environment: &ClientEnvironment) -> Result<()> {
        let client = environment.client(self.server.as_deref())?;
        let server = client.server();
        if !client.has_key() {
            let text = format!("not signed in to {server}; run `dropleaf login {server}`");
            return Err(NotSignedIn(text).into());
        }
        let me = client.me().await.map_err(|error| super::session::explained(error, server))?;
        if self.json {
            return print_json(&me);
        }
        let who = me.email.as_deref().unwrap_or(&me.id);
        print_line(&format!("{} at {server} (plan {})", visible(who), visible(&me.plan)))
    }
}

impl Logout {
    pub(crate) async fn run(self, environment: &ClientEnvironment) -> Result<()> {
        let server = environment.server(self.url.as_deref())?;
        let mut credentials = environment.load()?;
        let Some(login) = credentials.find(&server).cloned() else {
            return Err(NotSignedIn(format!("not signed in to {server}")).into());
        };
        if !self.local {
            warn_if_readable(&server);
            let client = Client::new(&server, Some(login.key))?;
            let id = login.key_id.context("the key ID is not stored; use --local")?;
            match client.revoke_key(&id).await {
                Ok(()) => {}
                // The key is invalid or gone, which is what was wanted.
                Err(error) if matches!(error.status(), Some(401 | 404)) && error.code().is_some() => {}
                Err(error) => {
                    return Err(error).context(
                        "the key was not revoked; use --local to remove it from this computer anyway",
                    );
                }
            }
        }
        credentials.forget(&server)?;
        if self.json {
            return print_json(&json!({"server": server, "revoked": !self.local}));
        }
        let revoked = if self.local { "The key works until you revoke it." } else { "The key was revoked." };
        eprintln!("Signed out of {server}. {revoked}");
        Ok(())
    }
}

/// Adds what to do if the key no longer works.
pub(super) fn explained(error: dropleaf_client::ClientError, server: &str) -> anyhow::Error {
    let is_old = error.code() == Some("invalid_credential");
    let error = anyhow::Error::from(error);
    if is_old {
        error.context(format!("the key for {server} no longer works; run `dropleaf login {server}`"))
    } else {
        error
    }
}
