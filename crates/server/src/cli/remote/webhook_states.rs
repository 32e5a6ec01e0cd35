//! `dropleaf webhooks test`, `enable` and `disable`.

use super::ClientEnvironment;
use super::session::explained;
use super::target::ServerArgs;
use crate::cli::output::{print_json, print_line, visible};
use anyhow::Result;
use clap::Args;

#[derive(Debug, Args)]
pub(super) struct Test {
    /// The ID of the webhook, from `dropleaf webhooks list`
    id: String,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Args)]
pub(super) struct Enable {
    /// The ID of the webhook, from `dropleaf webhooks list`
    id: String,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Args)]
pub(super) struct Disable {
    /// The ID of the webhook, from `dropleaf webhooks list`
    id: String,
    #[command(flatten)]
    server: ServerArgs,
}

impl Test {
    pub(super) async fn run(self, environment: &ClientEnvironment) -> Result<()> {
        let client = self.server.client(environment)?;
        let sent = client.test_webhook(&self.id).await;
        let sent = sent.map_err(|error| explained(error, client.server()))?;
        if self.server.json {
            return print_json(&sent.json);
        }
        print_line(&format!(
            "Test event {} is sent. To see the result: dropleaf webhooks deliveries {}",
            visible(&sent.value.id),
            visible(&self.id)
        ))
    }
}

impl Enable {
    pub(super) async fn run(self, environment: &ClientEnvironment) -> Result<()> {
        set_enabled(environment, &self.server, &self.id, true).await
    }
}

impl Disable {
    pub(super) async fn run(self, environment: &ClientEnvironment) -> Result<()> {
        set_enabled(environment, &self.server, &self.id, false).await
    }
}

async fn set_enabled(
    environment: &ClientEnvironment,
    server: &ServerArgs,
    id: &str,
    enabled: bool,
) -> Result<()> {
    let client = server.client(environment)?;
    let changed = client.set_webhook_enabled(id, enabled).await;
    let changed = changed.map_err(|error| explained(error, client.server()))?;
    if server.json {
        return print_json(&changed.json);
    }
    print_line(&format!("{} is {}.", visible(&changed.value.id), visible(&changed.value.state)))
}
