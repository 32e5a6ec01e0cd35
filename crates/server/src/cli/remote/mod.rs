//! Commands for users of any server, such as `login`, `publish` and `list`. They read no server settings and touch no server
//! data.

mod delete;
mod diff;
mod download;
mod edit;
mod feedback;
mod feedback_threads;
mod file_set;
mod info;
mod list;
mod login;
mod notifications;
mod pay;
mod pay_result;
mod publish;
mod session;
mod share;
mod target;
mod text_diff;
mod versions;
mod webhook_listen;
mod webhook_states;
mod webhooks;

pub(super) use delete::{Delete, Restore};
pub(super) use diff::Diff;
pub(super) use download::Download;
pub(super) use edit::Edit;
pub(super) use feedback::Feedback;
pub(super) use info::{Info, Open};
pub(super) use list::List;
pub(super) use login::Login;
pub(super) use notifications::Notifications;
pub(super) use pay::Pay;
pub(super) use publish::{FolderFile, FolderListing, Publish, is_refusal};
pub(super) use session::{Logout, Whoami};
pub(super) use share::Share;
pub(super) use versions::{Rollback, Versions};
pub(super) use webhooks::Webhooks;

use super::output::visible;
use anyhow::{Context, Result, ensure};
use dropleaf_client::{Client, Credentials, is_loopback, server_name};

const DEFAULT_SERVER: &str = "http://localhost:8080";

/// Server and credentials according to the environment.
#[derive(Debug, Clone)]
pub(super) struct ClientEnvironment {
    url: Option<String>,
    api_key: Option<String>,
    credentials: Option<std::path::PathBuf>,
    /// The password for a page that is published with `--password`.
    page_password: Option<String>,
    /// Whether there is a desktop that could show a browser.
    has_desktop: bool,
}

impl ClientEnvironment {
    pub(super) fn new(env: &[(String, String)]) -> Self {
        let find = |name: &str| {
            env.iter().find(|(key, value)| key == name && !value.is_empty()).map(|(_, value)| value.as_str())
        };
        Self {
            url: find("DROPLEAF_URL").map(str::to_owned),
            api_key: find("DROPLEAF_API_KEY").map(str::to_owned),
            page_password: find("DROPLEAF_PAGE_PASSWORD").map(str::to_owned),
            credentials: Credentials::path_in(find("XDG_CONFIG_HOME"), find("HOME")),
            has_desktop: cfg!(target_os = "macos")
                || find("DISPLAY").is_some()
                || find("WAYLAND_DISPLAY").is_some(),
        }
    }

    fn load(&self) -> Result<Credentials> {
        let path = self.credentials.clone().context("HOME or XDG_CONFIG_HOME must be set to store keys")?;
        Ok(Credentials::load(path)?)
    }

    /// The server to use: the named one, `DROPLEAF_URL`, the one signed in to last, or the default on this machine.
    pub(super) fn server(&self, named: Option<&str>) -> Result<String> {
        if let Some(text) = named.or(self.url.as_deref()) {
            return Ok(server_name(text)?);
        }
        let stored =
            if self.credentials.is_some() { self.load()?.current().map(str::to_owned) } else { None };
        Ok(stored.unwrap_or_else(|| DEFAULT_SERVER.to_owned()))
    }

    /// A client for that server with its key, if there is one.
    fn client(&self, named: Option<&str>) -> Result<Client> {
        let server = self.server(named)?;
        let key = self.key(named, &server)?;
        if key.is_some() {
            warn_if_readable(&server);
        }
        Ok(Client::new(&server, key)?)
    }

    /// The key for a server: from the environment, or stored. The one in the environment does not say which server it is for,
    /// so it is only sent to a server that was named explicitly.
    pub(super) fn key(&self, named: Option<&str>, server: &str) -> Result<Option<String>> {
        if self.api_key.is_some() && (named.is_some() || self.url.is_some()) {
            return Ok(self.api_key.clone());
        }
        let stored = match &self.credentials {
            Some(_) => self.load()?.find(server).map(|login| login.key.clone()),
            None => None,
        };
        ensure!(
            stored.is_some() || self.api_key.is_none(),
            "DROPLEAF_API_KEY is set without a server: set --server or DROPLEAF_URL, or run `dropleaf login {server}`"
        );
        Ok(stored)
    }

    /// Whether a login is stored, whatever the environment says.
    pub(super) fn is_signed_in(&self, server: &str) -> bool {
        self.credentials.is_some() && self.load().is_ok_and(|stored| stored.find(server).is_some())
    }

    /// A file next to the stored keys.
    pub(super) fn beside_credentials(&self, name: &str) -> Option<std::path::PathBuf> {
        Some(self.credentials.as_ref()?.with_file_name(name))
    }
}

/// Warns before a key is sent unencrypted.
pub(super) fn warn_if_readable(server: &str) {
    if server.starts_with("http://") && !is_loopback(server) {
        eprintln!(
            "Warning: the connection to {server} is not encrypted. Others on the network can read the key."
        );
    }
}

/// Runs one of these commands.
pub(super) fn block_on(work: impl Future<Output = Result<()>>) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.context("cannot start the runtime")?.block_on(work)
}
