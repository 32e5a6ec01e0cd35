//! `dropleaf pay`: prints a link at which a person pays by card, waits for the payment, and saves or prints what was bought.

use super::pay_result::{self, report};
use super::session::explained;
use super::{ClientEnvironment, visible, warn_if_readable};
use crate::cli::exit::{NotSignedIn, WrongUse};
use crate::cli::name;
use crate::cli::output::{print_json, print_line};
use anyhow::{Context, Result, bail};
use clap::Args;
use clap::builder::PossibleValuesParser;
use dropleaf_client::{Client, ClientError, PaySession, PolledPaySession, wait_for_payment};
use dropleaf_core::ledger;
use dropleaf_core::pay_session::Feature;
use std::cell::Cell;
use std::io::{IsTerminal, Write};
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Mutex;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

/// How long an interrupted command waits for the response to a poll, which may contain the key.
const LAST_RESPONSE: Duration = Duration::from_secs(5);
/// A QR code with more lines or columns is not printed: it would not fit into a terminal.
const QR_LINES: usize = 60;
const QR_COLUMNS: usize = 80;

#[derive(Debug, Args)]
pub(crate) struct Pay {
    /// What to pay for: a key for a new account (the default if you are not signed in), prepaid balance, or an unlock
    #[arg(value_parser = PossibleValuesParser::new(Feature::ALL.map(Feature::as_str)))]
    feature: Option<String>,
    /// In US dollars, such as 10.00; what exceeds the price becomes prepaid balance (default: the price; `topup`: 10.00)
    #[arg(long, value_name = "DOLLARS", value_parser = dollars)]
    amount: Option<i64>,
    /// The server (default: `DROPLEAF_URL`, the server you last signed in to, or <http://localhost:8080>)
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// Print the link and do not wait for the payment
    #[arg(long)]
    no_wait: bool,
    /// Wait for the payment of a link that was created before
    #[arg(
        long, value_name = "CODE", allow_hyphen_values = true, value_parser = name::parse,
        conflicts_with_all = ["feature", "amount", "no_wait"]
    )]
    code: Option<String>,
    /// Print the server's last response as JSON; a new key is printed with it and is not saved
    #[arg(long)]
    json: bool,
}

/// How waiting ended.
enum Waited {
    Ended(PolledPaySession),
    Interrupted,
}

impl Pay {
    pub(crate) async fn run(self, environment: &ClientEnvironment) -> Result<()> {
        let server = environment.server(self.server.as_deref())?;
        if !self.json {
            // A damaged file is reported before anything is paid.
            pay_result::free_credentials(environment, &server)?;
        }
        warn_if_readable(&server);
        let code = if let Some(code) = self.code.clone() {
            code
        } else {
            let session = self.create(environment, &server).await?;
            if self.no_wait {
                return self.leave(&session);
            }
            session.code
        };
        let keep_going = format!("to continue, run `{}`", self.continuation(&code));
        // Polling needs no key, and one that was revoked would only be in the way.
        let waited = wait(&Client::new(&server, None)?, &code, Interruption::listen()?).await;
        let polled = match waited {
            Ok(Waited::Ended(polled)) => polled,
            Ok(Waited::Interrupted) => bail!("interrupted; the link can still be paid; {keep_going}"),
            Err(error) if error.status() == Some(404) && error.code().is_some() => {
                return Err(WrongUse(format!("{server} has no pay session with this code")).into());
            }
            Err(error) => return Err(error).context(format!("stopped waiting; {keep_going}")),
        };
        if self.json {
            print_json(&polled)?;
        }
        match polled.status.as_str() {
            "completed" if polled.lacks_key() => match polled.key_delivered {
                Some(true) => {
                    bail!("paid, but the key was already delivered to the program that polled first")
                }
                _ => bail!("paid, but the server did not return the key yet; {keep_going}"),
            },
            "completed" if self.json => Ok(()),
            "completed" => {
                let key = environment.key(self.server.as_deref(), &server).ok().flatten();
                report(environment, &server, key, polled).await
            }
            "expired" => bail!("the link expired before it was paid; nothing was charged"),
            "failed" => bail!("the payment failed; nothing was charged"),
            other => bail!("the server returned an unknown status: {}", visible(other)),
        }
    }

    async fn create(&self, environment: &ClientEnvironment, server: &str) -> Result<PaySession> {
        let named = self.server.as_deref();
        let feature = match self.feature.as_deref() {
            Some(feature) => feature,
            // Someone who is signed in rarely wants another account.
            None if environment.key(named, server)?.is_some() => {
                let all = Feature::ALL.map(Feature::as_str).join(", ");
                let text = format!("you are signed in to {server}; name what to pay for: {all}");
                return Err(WrongUse(text).into());
            }
            None => Feature::Provision.as_str(),
        };
        let mut key = None;
        if Feature::parse(feature).is_none_or(Feature::needs_account) {
            key = environment.key(named, server)?;
            if key.is_none() {
                let text = format!("`{feature}` is for your account; run `dropleaf login {server}` first");
                return Err(NotSignedIn(text).into());
            }
        }
        let created = Client::new(server, key)?.create_pay_session(feature, self.amount).await;
        let session = match created {
            Ok(session) => session,
            Err(error) if error.status() == Some(400) && error.code().is_some() => {
                return Err(WrongUse(error.to_string()).into());
            }
            Err(error) => return Err(explained(error, server)),
        };
        show(&session);
        Ok(session)
    }

    /// Ends without waiting; the link is on standard output for scripts.
    fn leave(&self, session: &PaySession) -> Result<()> {
        if self.json {
            return print_json(session);
        }
        eprintln!("To wait for the payment, run `{}`.", self.continuation(&session.code));
        print_line(&visible(&session.url))
    }

    /// The command that waits for the same payment.
    fn continuation(&self, code: &str) -> String {
        let code: String = code.chars().filter(|c| c.is_ascii_alphanumeric() || "-_".contains(*c)).collect();
        let server =
            self.server.as_ref().map_or_else(String::new, |url| format!(" --server {}", visible(url)));
        format!("dropleaf pay --code {code}{server}")
    }
}

fn dollars(text: &str) -> Result<i64, String> {
    match ledger::cents(text) {
        Ok(cents) if cents > 0 => Ok(cents),
        _ => Err("must be an amount in dollars such as 10.00".to_owned()),
    }
}

/// Shows the person what to pay, and where.
fn show(session: &PaySession) {
    if std::io::stderr().is_terminal() {
        eprint!("{}", qr_code(&session.qr));
    }
    let title = pay_result::title(&session.feature);
    eprintln!("{title}: ${}\nTo pay by card, open  {}", visible(&session.amount), visible(&session.url));
    if session.sandbox {
        eprintln!("Test mode: no money is charged.");
    }
}

/// The code as bright blocks on black whatever the colours of the terminal are. Empty if it does not look like a code.
fn qr_code(text: &str) -> String {
    let is_block = |c: char| " \u{2580}\u{2584}\u{2588}".contains(c);
    let is_line = |line: &str| line.chars().all(is_block) && line.chars().count() <= QR_COLUMNS;
    if text.lines().count() > QR_LINES || !text.lines().all(is_line) {
        return String::new();
    }
    let colored = |line: &str| ["\x1b[38;5;231;48;5;16m", line, "\x1b[0m\n"].concat();
    text.lines().map(colored).collect()
}

/// Polls until the session ends or the command is interrupted, with the elapsed time on a line that overwrites itself.
async fn wait(client: &Client, code: &str, mut interruption: Interruption) -> Result<Waited, ClientError> {
    let is_processing = Cell::new(false);
    // Held during a poll, so that an interrupted command can wait for its response.
    let polling = Mutex::new(());
    let mut ended = std::pin::pin!(wait_for_payment(async || {
        let _poll = polling.lock().await;
        let polled = client.poll_pay_session(code).await;
        if let Ok(polled) = &polled {
            is_processing.set(polled.is_processing());
        }
        polled
    }));
    let progress = Progress::start();
    let mut tick = interval(Duration::from_millis(250));
    tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        tokio::select! {
            polled = &mut ended => {
                progress.clear();
                return polled.map(Waited::Ended);
            }
            _ = tick.tick(), if progress.on_terminal => progress.draw(is_processing.get()),
            () = interruption.arrives() => break,
        }
    }
    progress.clear();
    let last = async {
        tokio::select! {
            biased;
            polled = &mut ended => polled.map(Waited::Ended),
            _no_poll = polling.lock() => Ok(Waited::Interrupted),
        }
    };
    timeout(LAST_RESPONSE, last).await.unwrap_or(Ok(Waited::Interrupted))
}

/// Ctrl-C, or a request to end from another program.
struct Interruption {
    interrupt: Signal,
    terminate: Signal,
}

impl Interruption {
    /// From now on, the signals no longer end the process.
    fn listen() -> Result<Self> {
        let listen = |kind| signal(kind).context("cannot listen for signals");
        Ok(Self { interrupt: listen(SignalKind::interrupt())?, terminate: listen(SignalKind::terminate())? })
    }

    async fn arrives(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// The line that says that the command is waiting.
struct Progress {
    started: Instant,
    on_terminal: bool,
}

impl Progress {
    fn start() -> Self {
        let on_terminal = std::io::stderr().is_terminal();
        if !on_terminal {
            eprintln!("Waiting for the payment…");
        }
        Self { started: Instant::now(), on_terminal }
    }

    fn draw(&self, is_processing: bool) {
        let elapsed = self.started.elapsed();
        let spinner = ['|', '/', '-', '\\'].get(elapsed.subsec_millis() as usize / 250).unwrap_or(&' ');
        let what =
            if is_processing { "The payment is being processed…" } else { "Waiting for the payment…" };
        let seconds = elapsed.as_secs();
        eprint!("\r{spinner} {what} {}:{:02}\x1b[K", seconds / 60, seconds % 60);
        let _ = std::io::stderr().flush();
    }

    fn clear(&self) {
        if self.on_terminal {
            eprint!("\r\x1b[K");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_code_of_blocks_is_printed() {
        let printed = qr_code("\u{2588}\u{2580} \n\u{2584}\u{2588}\u{2588}");
        assert_eq!(printed.lines().count(), 2);
        assert!(printed.contains("\u{2588}\u{2580} \x1b[0m\n"));
        let (wide, long) = ("\u{2588}".repeat(81), "\u{2588}\n".repeat(61));
        for bad in ["\u{2588}\x1b[2J", "words", "", wide.as_str(), long.as_str()] {
            assert_eq!(qr_code(bad), "", "{bad:?}");
        }
    }

    #[test]
    fn amounts_are_positive_dollars() {
        assert_eq!((dollars("10.00"), dollars("0.5"), dollars("7")), (Ok(1000), Ok(50), Ok(700)));
        for bad in ["", "0", "-1.00", "1.001", "$5", "ten", "99999999"] {
            assert!(dollars(bad).is_err(), "{bad}");
        }
    }
}
