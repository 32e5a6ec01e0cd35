//! Prints the message at start: the addresses, and at the first start the key and the next step.

use crate::config::Resolved;
use std::fmt::Write as _;
use std::io::Write as _;

/// Prints to standard output, and nothing else is printed there. It may be closed, which must not stop the server.
pub(crate) fn print(resolved: &Resolved, first_key: Option<&str>, first_link: Option<&str>) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text(resolved, first_key, first_link).as_bytes()).and_then(|()| out.flush());
}

/// Prints only the key of a first start that was not completed.
pub(crate) fn print_key(resolved: &Resolved, key: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(key_text(resolved, key).as_bytes()).and_then(|()| out.flush());
}

fn text(resolved: &Resolved, first_key: Option<&str>, first_link: Option<&str>) -> String {
    let base = resolved.hosts.base.url();
    let mut out = format!(
        "dropleaf {} is running.\n  API and docs   {base}/docs\n  MCP            {base}/mcp\n  \
         Pages          {}/p/<token>/\n  Payments       {}\n  Data           {}\n",
        env!("CARGO_PKG_VERSION"),
        resolved.hosts.site.url(),
        payments(resolved),
        resolved.data_dir.display()
    );
    if let Some(key) = first_key {
        out.push_str(&key_text(resolved, key));
        let _ = write!(
            out,
            "Publish a page:\n\n  echo '<h1>Hello</h1>' > hello.html\n  \
             curl -H 'Authorization: Bearer {key}' -F file=@hello.html {base}/sites\n\n"
        );
    }
    if let Some(link) = first_link {
        let _ = write!(
            out,
            "Or sign in to the dashboard with this link (works once, expires in one hour):\n\n  {link}\n\n\
             To create another link, run `dropleaf account link EMAIL`.\n\n"
        );
    }
    out
}

fn key_text(resolved: &Resolved, key: &str) -> String {
    let email = &resolved.config.operator.email;
    format!("\nFirst start: created the account {email}. API key (shown only once):\n\n  {key}\n\n")
}

/// Shown so that no operator learns the payment mode from a bill, or from a missing one.
fn payments(resolved: &Resolved) -> &'static str {
    match &resolved.settings.payments {
        None => "off",
        Some(sold) if sold.is_sandbox() => "sandbox (no real money)",
        Some(_) => "live",
    }
}
