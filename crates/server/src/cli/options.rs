//! The flags that choose settings: the settings file, single settings, where the data is, and where the server listens. Commands
//! for people who publish have none of them.

use crate::config::{Config, Layers, Sources};
use crate::logging;
use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// The heading of these flags in the help of a command.
pub(super) const HEADING: &str = "Settings";

// No doc comments on these types: they would replace the description of the command that contains them.

// For commands that read settings but no data.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct SettingsOptions {
    /// The settings file (default: dropleaf.toml in the current folder, if it exists)
    #[arg(long, global = true, value_name = "FILE", help_heading = HEADING)]
    config: Option<PathBuf>,
    /// Any setting, for example --set `limits.key_per_minute=600`
    #[arg(long, global = true, value_name = "KEY=VALUE", help_heading = HEADING)]
    set: Vec<String>,
}

// For commands of the operator, which work on the data of a server.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct StorageOptions {
    #[command(flatten)]
    settings: SettingsOptions,
    /// The data folder
    #[arg(long, global = true, value_name = "DIR", help_heading = HEADING)]
    data_dir: Option<String>,
    /// sqlite:PATH or postgres://…
    #[arg(long, global = true, value_name = "URL", help_heading = HEADING)]
    database_url: Option<String>,
    /// <file:PATH> or s3://…
    #[arg(long, global = true, value_name = "URL", help_heading = HEADING)]
    blobs_url: Option<String>,
}

// For the server itself.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct ServerOptions {
    #[command(flatten)]
    storage: StorageOptions,
    /// Where to listen, for example localhost:8080
    #[arg(long, global = true, value_name = "HOST:PORT", help_heading = HEADING)]
    pub(super) listen: Option<String>,
    /// The public address of the API
    #[arg(long, global = true, value_name = "URL", help_heading = HEADING)]
    base_url: Option<String>,
    /// The public address of pages
    #[arg(long, global = true, value_name = "URL", help_heading = HEADING)]
    site_url: Option<String>,
    /// The host name under which each page gets its own host
    #[arg(long, global = true, value_name = "HOST", help_heading = HEADING)]
    site_host: Option<String>,
}

// A command of the operator.
#[derive(Debug, Args)]
pub(super) struct Operator<T: Args> {
    #[command(flatten)]
    pub(super) command: T,
    #[command(flatten)]
    pub(super) storage: StorageOptions,
}

// A command of the operator that consists of other commands.
#[derive(Debug, Args)]
pub(super) struct OperatorGroup<T: Subcommand> {
    #[command(subcommand)]
    pub(super) command: T,
    #[command(flatten)]
    pub(super) storage: StorageOptions,
}

impl From<SettingsOptions> for StorageOptions {
    fn from(settings: SettingsOptions) -> Self {
        Self { settings, ..Self::default() }
    }
}

impl From<SettingsOptions> for ServerOptions {
    fn from(settings: SettingsOptions) -> Self {
        StorageOptions::from(settings).into()
    }
}

impl From<StorageOptions> for ServerOptions {
    fn from(storage: StorageOptions) -> Self {
        Self { storage, ..Self::default() }
    }
}

impl ServerOptions {
    /// The settings with short flags, in the order of their precedence.
    fn short(&self) -> [(&'static str, Option<&String>); 7] {
        [
            ("listen", self.listen.as_ref()),
            ("base_url", self.base_url.as_ref()),
            ("site_url", self.site_url.as_ref()),
            ("site_host", self.site_host.as_ref()),
            ("data_dir", self.storage.data_dir.as_ref()),
            ("database_url", self.storage.database_url.as_ref()),
            ("blobs_url", self.storage.blobs_url.as_ref()),
        ]
    }

    /// Where the settings come from.
    pub(super) fn sources(self, env: Vec<(String, String)>) -> Result<Sources> {
        let named =
            env.iter().find(|(name, _)| name == "DROPLEAF_CONFIG").map(|(_, path)| PathBuf::from(path));
        let nearby = PathBuf::from("dropleaf.toml");
        let mut flags = Vec::new();
        for pair in &self.storage.settings.set {
            let (key, value) =
                pair.split_once('=').with_context(|| format!("--set requires KEY=VALUE, not `{pair}`"))?;
            flags.push((key.to_owned(), value.to_owned()));
        }
        let short = self.short().into_iter();
        flags.extend(short.filter_map(|(key, value)| Some((key.to_owned(), value?.clone()))));
        let file = self.storage.settings.config.or(named).or_else(|| nearby.exists().then_some(nearby));
        Ok(Sources { file, env, flags })
    }

    pub(super) fn layers(self, env: Vec<(String, String)>) -> Result<Layers> {
        Layers::load(&self.sources(env)?)
    }

    pub(super) fn config(self, env: Vec<(String, String)>) -> Result<Config> {
        self.layers(env)?.config()
    }
}

/// How many tasks a thread runs before it looks for new requests, while there are any. Tokio's 61 suits tasks of some
/// microseconds; publishes take hundreds, and a view would be noticed only after dozens of them.
const EVENT_INTERVAL: u32 = 8;

/// Runs a command with the settings that these flags choose, on as many threads as they say.
pub(super) fn operate<T>(
    options: impl Into<ServerOptions>,
    env: Vec<(String, String)>,
    run: impl AsyncFnOnce(Config) -> Result<T>,
) -> Result<T> {
    let config = options.into().config(env)?;
    logging::start(&config)?;
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.event_interval(EVENT_INTERVAL);
    if config.runtime.workers > 0 {
        runtime.worker_threads(config.runtime.workers);
    }
    let runtime = runtime.enable_all().build().context("cannot start the runtime")?;
    runtime.block_on(run(config))
}
