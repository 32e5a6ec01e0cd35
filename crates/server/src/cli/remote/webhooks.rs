//! `dropleaf webhooks`: where events of the account are sent, and what became of them.

use super::ClientEnvironment;
use super::session::explained;
use super::target::{ServerArgs, warn};
use super::webhook_listen::Listen;
use super::webhook_states::{Disable, Enable, Test};
use crate::cli::name;
use crate::cli::output::{Column, Now, Table, print_json, print_line, visible};
use anyhow::Result;
use clap::{Args, Subcommand};
use dropleaf_client::{Answer, NewWebhook, Webhook};

#[derive(Debug, Args)]
pub(crate) struct Webhooks {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List your webhooks
    List(List),
    /// Add a webhook and print its signing secret, once
    Add(Add),
    /// Send a test event to a webhook
    Test(Test),
    /// Enable a webhook that was paused, or that the server disabled after failures
    Enable(Enable),
    /// Pause a webhook: no new events are written for it, and those that wait are kept
    Disable(Disable),
    /// Delete a webhook
    Delete(Delete),
    /// Replace the signing secret; the old one works for 24 more hours
    Rotate(Rotate),
    /// List what was sent to a webhook, newest first
    Deliveries(Deliveries),
    /// Send a delivery again
    Retry(Retry),
    /// Show events in this terminal as they happen, for development
    Listen(Listen),
}

#[derive(Debug, Args)]
struct List {
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Args)]
struct Add {
    /// A public https address that accepts POST requests
    url: String,
    /// An event type, such as feedback.created; repeat it for several (default: all)
    #[arg(long = "event", value_name = "TYPE")]
    events: Vec<String>,
    /// Only events of this page: its ID, slug or token
    #[arg(long, value_name = "PAGE", allow_hyphen_values = true, value_parser = name::parse)]
    page: Option<String>,
    /// For your own reference
    #[arg(long)]
    description: Option<String>,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Args)]
struct Delete {
    /// The ID of the webhook, from `dropleaf webhooks list`
    id: String,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Args)]
struct Rotate {
    /// The ID of the webhook, from `dropleaf webhooks list`
    id: String,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Args)]
struct Deliveries {
    /// The ID of the webhook, from `dropleaf webhooks list`
    id: String,
    /// Only those in this state
    #[arg(long, value_parser = ["waiting", "delivered", "dead"])]
    state: Option<String>,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Args)]
struct Retry {
    /// The ID of the webhook
    id: String,
    /// The ID of the delivery, from `dropleaf webhooks deliveries`
    delivery: String,
    #[command(flatten)]
    server: ServerArgs,
}

impl Webhooks {
    pub(crate) async fn run(self, environment: &ClientEnvironment) -> Result<()> {
        match self.command {
            Command::List(list) => list.run(environment).await,
            Command::Add(add) => add.run(environment).await,
            Command::Test(test) => test.run(environment).await,
            Command::Enable(enable) => enable.run(environment).await,
            Command::Disable(disable) => disable.run(environment).await,
            Command::Delete(delete) => delete.run(environment).await,
            Command::Rotate(rotate) => rotate.run(environment).await,
            Command::Deliveries(deliveries) => deliveries.run(environment).await,
            Command::Retry(retry) => retry.run(environment).await,
            Command::Listen(listen) => listen.run(environment).await,
        }
    }
}

impl List {
    async fn run(self, environment: &ClientEnvironment) -> Result<()> {
        let client = self.server.client(environment)?;
        let found = client.list_webhooks().await.map_err(|error| explained(error, client.server()))?;
        if self.server.json {
            return print_json(&found.json);
        }
        if found.value.webhooks.is_empty() {
            return print_line("No webhooks. To add one: dropleaf webhooks add URL");
        }
        let mut table = Table::new([
            Column::fixed("id"),
            Column::fixed("state"),
            Column::number("waiting"),
            Column::flexible("url"),
            Column::flexible("events"),
        ]);
        for webhook in &found.value.webhooks {
            table.row([
                webhook.id.as_str().into(),
                webhook.state.as_str().into(),
                webhook.waiting.to_string().into(),
                webhook.url.as_deref().unwrap_or("(listening program)").into(),
                webhook.events.join(" ").into(),
            ]);
        }
        print_line(&table.render())
    }
}

impl Add {
    async fn run(self, environment: &ClientEnvironment) -> Result<()> {
        let client = self.server.client(environment)?;
        let new = NewWebhook {
            url: Some(self.url),
            site_id: self.page,
            events: self.events,
            description: self.description,
            listen: false,
        };
        let made = client.create_webhook(&new).await.map_err(|error| explained(error, client.server()))?;
        print_secret(&made, self.server.json)
    }
}

impl Delete {
    async fn run(self, environment: &ClientEnvironment) -> Result<()> {
        let client = self.server.client(environment)?;
        let json = client.delete_webhook(&self.id).await;
        let json = json.map_err(|error| explained(error, client.server()))?;
        if self.server.json {
            return print_json(&json);
        }
        print_line(&format!("Deleted {}.", visible(&self.id)))
    }
}

impl Rotate {
    async fn run(self, environment: &ClientEnvironment) -> Result<()> {
        let client = self.server.client(environment)?;
        let made = client.rotate_webhook(&self.id).await;
        print_secret(&made.map_err(|error| explained(error, client.server()))?, self.server.json)
    }
}

impl Deliveries {
    async fn run(self, environment: &ClientEnvironment) -> Result<()> {
        let client = self.server.client(environment)?;
        let found = client.list_webhook_deliveries(&self.id, self.state.as_deref()).await;
        let found = found.map_err(|error| explained(error, client.server()))?;
        if self.server.json {
            return print_json(&found.json);
        }
        if found.value.deliveries.is_empty() {
            return print_line("No deliveries.");
        }
        let now = Now::read();
        let mut table = Table::new([
            Column::fixed("id"),
            Column::fixed("created"),
            Column::fixed("event"),
            Column::fixed("state"),
            Column::number("attempts"),
            Column::flexible("problem"),
        ]);
        for delivery in &found.value.deliveries {
            table.row([
                delivery.id.as_str().into(),
                now.short(delivery.created_at).into(),
                delivery.event_type.as_str().into(),
                delivery.state.as_str().into(),
                delivery.attempts.to_string().into(),
                delivery.error.as_deref().unwrap_or_default().into(),
            ]);
        }
        print_line(&table.render())
    }
}

impl Retry {
    async fn run(self, environment: &ClientEnvironment) -> Result<()> {
        let client = self.server.client(environment)?;
        let sent = client.retry_webhook_delivery(&self.id, &self.delivery).await;
        let sent = sent.map_err(|error| explained(error, client.server()))?;
        if self.server.json {
            return print_json(&sent.json);
        }
        print_line(&format!("{} is sent again.", visible(&self.delivery)))
    }
}

/// The secret alone on standard output, so that scripts can use it.
fn print_secret(made: &Answer<Webhook>, json: bool) -> Result<()> {
    if json {
        return print_json(&made.json);
    }
    eprintln!("Webhook {}. Its signing secret, which is not shown again:", visible(&made.value.id));
    print_line(&visible(made.value.secret.as_deref().unwrap_or_default()))?;
    warn(&made.value.warnings);
    Ok(())
}
