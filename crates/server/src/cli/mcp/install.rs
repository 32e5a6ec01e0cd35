//! `dropleaf mcp install` and `uninstall`: shows the changes to the settings of MCP clients, asks, and applies them.

use crate::cli::output::confirm;
use crate::cli::remote::ClientEnvironment;
use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use dropleaf_client::mcp_setup::{
    Applied, Installation, McpClient, Platform, Setup, SetupError, Step, Transport,
};

#[derive(Debug, Args)]
pub(super) struct Install {
    /// The server (default: `DROPLEAF_URL`, the server you last signed in to, or <http://localhost:8080>)
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// Connect over HTTP; the client signs in with OAuth
    #[arg(long, conflicts_with = "stdio")]
    http: bool,
    /// Connect by starting `dropleaf mcp`, with the stored login
    #[arg(long)]
    stdio: bool,
    /// Remove it, as `uninstall` does
    #[arg(long, conflicts_with_all = ["server", "http", "stdio"])]
    undo: bool,
    #[command(flatten)]
    choice: Choice,
}

#[derive(Debug, Args)]
pub(super) struct Uninstall {
    #[command(flatten)]
    choice: Choice,
}

#[derive(Debug, Args)]
struct Choice {
    /// Which clients (default: those found on this machine)
    #[arg(value_name = "CLIENT", value_parser = client_parser())]
    clients: Vec<McpClient>,
    /// The name of the server in the client
    #[arg(long, default_value = "dropleaf")]
    name: String,
    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,
    /// Only show what would change
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
}

/// Accepts the names of the supported clients.
fn client_parser() -> impl TypedValueParser<Value = McpClient> {
    let names =
        McpClient::ALL.map(|client| PossibleValue::new(client.cli_name()).aliases(client.cli_alias()));
    PossibleValuesParser::new(names).try_map(|name| {
        McpClient::find_by_name(&name).ok_or_else(|| format!("`{name}` is not a supported client"))
    })
}

/// What `uninstall` needs to know, next to the stored keys.
fn setup<'a>(environment: &ClientEnvironment, env: &'a [(String, String)]) -> Setup<'a> {
    Setup::new(env, Platform::here(), environment.beside_credentials("mcp-install.toml"))
}

impl Install {
    pub(super) fn run(self, environment: &ClientEnvironment, env: &[(String, String)]) -> Result<()> {
        if self.undo {
            return Uninstall { choice: self.choice }.run(environment, env);
        }
        let server = environment.server(self.server.as_deref())?;
        let program = std::env::current_exe().context("the path of this program is unknown")?;
        let program = program.to_str().context("the path of this program is not UTF-8")?;
        let mut setup = setup(environment, env);
        let clients = self.choice.clients(|client| setup.is_installed(client))?;
        if clients.is_empty() {
            let known: Vec<&str> = McpClient::ALL.iter().map(|client| client.cli_name()).collect();
            bail!("no supported client was found; name one of {}", known.join(", "));
        }
        let transport = match (self.http, self.stdio) {
            (true, _) => Some(Transport::Http),
            (_, true) => Some(Transport::Stdio),
            _ => None,
        };
        let wanted = Installation { name: &self.choice.name, server: &server, program, transport };
        let needs_login = clients.iter().any(|client| wanted.transport_for(*client) == Transport::Stdio)
            && !environment.is_signed_in(&server);
        let steps = clients.into_iter().map(|client| (client, setup.plan_install(client, &wanted))).collect();
        let has_written = self.choice.carry_out(steps, &mut setup, "already installed")?;
        if has_written && needs_login {
            println!("Run `dropleaf login {server}` once to give `dropleaf mcp` a key.");
        }
        Ok(())
    }
}

impl Uninstall {
    pub(super) fn run(self, environment: &ClientEnvironment, env: &[(String, String)]) -> Result<()> {
        let mut setup = setup(environment, env);
        let current = environment.server(None).ok();
        let clients = self.choice.clients(|client| setup.file(client).is_some_and(|file| file.is_file()))?;
        let plan =
            |client: McpClient| (client, setup.plan_uninstall(client, &self.choice.name, current.as_deref()));
        let steps = clients.into_iter().map(plan).collect();
        self.choice.carry_out(steps, &mut setup, "nothing to remove")?;
        Ok(())
    }
}

impl Choice {
    fn clients(&self, is_meant: impl Fn(McpClient) -> bool) -> Result<Vec<McpClient>> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        ensure!(
            !self.name.is_empty() && self.name.len() <= 64 && self.name.bytes().all(is_plain),
            "--name accepts only letters, digits, - and _"
        );
        let is_chosen = |client: &McpClient| {
            if self.clients.is_empty() { is_meant(*client) } else { self.clients.contains(client) }
        };
        Ok(McpClient::ALL.into_iter().filter(is_chosen).collect())
    }

    /// Shows the steps, asks, and applies them. Returns whether anything was written; a refused step is an error at the end.
    fn carry_out(
        &self,
        steps: Vec<(McpClient, Result<Step, SetupError>)>,
        setup: &mut Setup<'_>,
        nothing: &str,
    ) -> Result<bool> {
        let mut failed = 0;
        let mut waiting = Vec::new();
        for (client, step) in steps {
            let file = setup.file(client).unwrap_or_default();
            match step {
                Ok(step) if step.is_done() => println!("{}: {nothing} ({})", client.title(), file.display()),
                Ok(step) => {
                    println!("{}: {}\n{}", client.title(), file.display(), shown(&step));
                    waiting.push(step);
                }
                Err(error) => {
                    failed += 1;
                    let error = anyhow::Error::from(error);
                    println!("{}: not changed: {error:#} ({})", client.title(), file.display());
                }
            }
        }
        let has_work = !waiting.is_empty();
        if has_work && self.dry_run {
            println!("No files were changed.");
        } else if has_work && self.may_write()? {
            for step in waiting {
                match setup.apply(&step) {
                    Ok(applied) => print_applied(&step, &applied),
                    Err(error) => {
                        failed += 1;
                        let error = anyhow::Error::from(error);
                        println!("{}: not changed: {error:#}", step.client.title());
                    }
                }
            }
        } else if has_work {
            bail!("no files were changed");
        }
        ensure!(failed == 0, "{failed} files could not be changed");
        Ok(has_work && !self.dry_run)
    }

    fn may_write(&self) -> Result<bool> {
        Ok(self.yes || confirm("Apply these changes?")?)
    }
}

fn shown(step: &Step) -> String {
    let why =
        if step.removes_file() { "  (the file is removed, because it did not exist before)\n" } else { "" };
    format!("{}{why}", step.diff())
}

fn print_applied(step: &Step, applied: &Applied) {
    let title = step.client.title();
    match applied {
        Applied::Unchanged => {}
        Applied::Written { copy: Some(copy) } => {
            println!("{title}: written; the old file was saved as {}", copy.display());
        }
        Applied::Written { copy: None } => println!("{title}: written"),
        Applied::Removed => println!("{title}: removed"),
    }
    if let Some(next) = step.next_step() {
        println!("  {next}");
    }
}
