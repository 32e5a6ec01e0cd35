//! `dropleaf login`: shows a code, waits until the user approves it in a browser, and stores the key.

use super::{ClientEnvironment, DEFAULT_SERVER, visible, warn_if_readable};
use crate::cli::output::print_json;
use anyhow::{Result, bail};
use clap::Args;
use dropleaf_client::{Client, DeviceCode, Key, Login as Kept, Polled, server_name, wait_for_answer};
use std::io::{IsTerminal, Write};
use std::process::{Command, Stdio};
use std::time::Duration;
use tokio::time::{Instant, MissedTickBehavior, interval};

#[derive(Debug, Args)]
pub(crate) struct Login {
    /// The server (default: `DROPLEAF_URL`, or <http://localhost:8080>)
    url: Option<String>,
    /// The name of the key in the list of keys
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Only print the address; do not open a browser
    #[arg(long)]
    no_browser: bool,
    /// Print the account as JSON once you are signed in
    #[arg(long)]
    json: bool,
}

impl Login {
    pub(crate) async fn run(self, environment: &ClientEnvironment) -> Result<()> {
        let server =
            server_name(self.url.as_deref().or(environment.url.as_deref()).unwrap_or(DEFAULT_SERVER))?;
        let mut credentials = environment.load()?;
        let client = Client::new(&server, None)?;
        warn_if_readable(&server);
        let code = client.start_device(&self.name.unwrap_or_else(own_name)).await?;
        let address = visible(&code.verification_uri);
        eprintln!("Open  {address}\nand enter  {}\n", visible(&code.user_code));
        let on_terminal = std::io::stderr().is_terminal();
        if on_terminal && environment.has_desktop && !self.no_browser {
            open_browser(code.verification_uri_complete.as_deref().unwrap_or(&code.verification_uri));
        }
        let answer = tokio::select! {
            answer = wait(&client, &code, on_terminal) => answer?,
            _ = tokio::signal::ctrl_c() => {
                end_line(on_terminal);
                bail!("interrupted; nothing was saved");
            }
        };
        end_line(on_terminal);
        let key = match answer {
            Polled::Ready(key) => key,
            Polled::Denied => bail!("you denied access; nothing was saved"),
            _ => bail!("the code has expired; run `dropleaf login` again"),
        };
        let before = credentials.find(&server).cloned();
        let client = client.with_key(Some(key.access_token.clone()));
        // Stored before anything else can fail: the key exists on the server now.
        let mut kept = Kept { key: key.access_token, key_id: key.key_id, email: None };
        credentials.keep(&server, kept.clone())?;
        let me = client.me().await?;
        kept.email = me.email.as_deref().map(visible);
        credentials.keep(&server, kept)?;
        if let Some(before) = before {
            retire(&server, before).await;
        }
        if self.json {
            return print_json(&me);
        }
        let who = me.email.as_deref().unwrap_or(&me.id);
        eprintln!(
            "Signed in to {server} as {}. The key was saved in {}.",
            visible(who),
            credentials.path().display()
        );
        Ok(())
    }
}

/// Revokes the key of an earlier login. If that fails, the key stays listed under Keys and can be revoked there.
async fn retire(server: &str, before: Kept) {
    if let (Some(id), Ok(client)) = (before.key_id, Client::new(server, Some(before.key))) {
        let _ = client.revoke_key(&id).await;
    }
}

/// Waits for approval, with the remaining time on a line that overwrites itself.
async fn wait(client: &Client, code: &DeviceCode, on_terminal: bool) -> Result<Polled<Key>> {
    let answer = wait_for_answer(code, async || client.poll_device(&code.device_code).await);
    if !on_terminal {
        eprintln!("Waiting for confirmation in your browser…");
        return Ok(answer.await?);
    }
    let mut answer = std::pin::pin!(answer);
    let ends = Instant::now() + Duration::from_secs(code.expires_in);
    let mut tick = interval(Duration::from_secs(1));
    tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        tokio::select! {
            answer = &mut answer => return Ok(answer?),
            _ = tick.tick() => {
                let left = ends.saturating_duration_since(Instant::now()).as_secs();
                eprint!("\rWaiting for confirmation in your browser… {}:{:02} left\x1b[K", left / 60, left % 60);
                let _ = std::io::stderr().flush();
            }
        }
    }
}

fn end_line(on_terminal: bool) {
    if on_terminal {
        eprint!("\r\x1b[K");
    }
}

/// `dropleaf on <machine>`, so that the list of keys shows where each one is.
fn own_name() -> String {
    let machine = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let machine: String = machine.trim().chars().filter(|c| !c.is_control()).take(60).collect();
    if machine.is_empty() { "dropleaf command line".to_owned() } else { format!("dropleaf on {machine}") }
}

/// Best effort: the address was printed too.
pub(super) fn open_browser(address: &str) {
    let is_web = address.starts_with("https://") || address.starts_with("http://");
    if !is_web || !address.bytes().all(|b| b.is_ascii_graphic()) {
        return;
    }
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let quiet = || Stdio::null();
    let _ = Command::new(opener).arg(address).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn();
}
