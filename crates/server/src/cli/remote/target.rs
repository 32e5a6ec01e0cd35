//! The arguments that commands about published pages share: which server, which page, and `--json`.

use super::ClientEnvironment;
use super::session::explained;
use crate::cli::exit::{NotSignedIn, WrongUse};
use crate::cli::name;
use anyhow::Result;
use clap::Args;
use dropleaf_client::{Client, ClientError, PageName, visible};

// Doc comments on these types would replace the description of the command that contains them.

#[derive(Debug, Args)]
pub(super) struct ServerArgs {
    /// The server (default: `DROPLEAF_URL`, the server you last signed in to, or <http://localhost:8080>)
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct PageArgs {
    /// The page: its ID, slug, token or URL
    #[arg(allow_hyphen_values = true, value_parser = name::parse)]
    page: String,
    #[command(flatten)]
    pub(super) server: ServerArgs,
}

/// A page at a server that the user is signed in to.
pub(super) struct Target {
    pub(super) client: Client,
    /// Its ID, slug or token.
    pub(super) name: String,
}

impl ServerArgs {
    /// A client with a key for the server.
    pub(super) fn client(&self, environment: &ClientEnvironment) -> Result<Client> {
        let client = environment.client(self.server.as_deref())?;
        if client.has_key() {
            return Ok(client);
        }
        let server = client.server();
        Err(NotSignedIn(format!("not signed in to {server}; run `dropleaf login {server}`")).into())
    }
}

impl PageArgs {
    /// Finds out which page is meant.
    pub(super) async fn target(&self, environment: &ClientEnvironment) -> Result<Target> {
        target(environment, &self.server, &self.page).await
    }

    /// The same for a page that was deleted, which the server does not show. A host that is no custom domain of the account
    /// is named after a slug.
    pub(super) async fn deleted_target(&self, environment: &ClientEnvironment) -> Result<Target> {
        let name = parse(&self.page)?;
        let client = self.server.client(environment)?;
        let name = match &name {
            PageName::Given(name) => name.clone(),
            PageName::Host { host, .. } => {
                let found = client.find_page_of_domain(host).await;
                let found = found.map_err(|error| explained(error, client.server()))?;
                found.unwrap_or_else(|| name.slug().unwrap_or_default().to_owned())
            }
        };
        Ok(Target { client, name })
    }

    /// What the user typed.
    pub(super) fn text(&self) -> &str {
        &self.page
    }
}

/// Finds out which page is meant.
pub(super) async fn target(
    environment: &ClientEnvironment,
    server: &ServerArgs,
    page: &str,
) -> Result<Target> {
    let name = parse(page)?;
    let client = server.client(environment)?;
    let name = find_name(&client, &name, page).await?;
    Ok(Target { client, name })
}

/// The ID of a page of the account.
pub(super) async fn find_id(client: &Client, page: &str) -> Result<String> {
    let name = find_name(client, &parse(page)?, page).await?;
    let found = client.get_page(&name).await.map_err(|error| explained(error, client.server()))?;
    Ok(found.value.id)
}

async fn find_name(client: &Client, name: &PageName, text: &str) -> Result<String> {
    let found = client.find_page_name(name).await.map_err(|error| explained(error, client.server()))?;
    let Some(name) = found else {
        anyhow::bail!("you have no page at {} ({})", visible(text), client.server());
    };
    Ok(name)
}

impl Target {
    /// Adds what to do if the key no longer works.
    pub(super) fn explained(&self, error: ClientError) -> anyhow::Error {
        explained(error, self.client.server())
    }
}

fn parse(page: &str) -> Result<PageName> {
    let wrong = || WrongUse(format!("`{}` is not the ID, slug, token or URL of a page", visible(page)));
    Ok(PageName::parse(page).ok_or_else(wrong)?)
}

/// Prints what the server warns about, next to the result.
pub(super) fn warn(warnings: &[String]) {
    for warning in warnings {
        eprintln!("note: {}", visible(warning));
    }
}
