//! `dropleaf healthcheck`: asks the server of this machine whether it is ready, or only whether it responds, at the address in
//! its settings. For containers and service managers, which otherwise would need an HTTP client beside the binary.

use super::output::{print_json, print_line};
use crate::config::{Config, Listen};
use crate::tls;
use anyhow::{Context, Result, anyhow, bail, ensure};
use clap::Args;
use dropleaf_app::TlsMode;
use serde_json::json;
use std::time::Duration;
use tokio::time::Instant;

/// How long one request may take. The database may be slow, but a probe that hangs is a failed probe.
const TIMEOUT: Duration = Duration::from_secs(4);
/// The pause between two tries.
const PAUSE: Duration = Duration::from_millis(200);

#[derive(Debug, Args)]
pub(super) struct Healthcheck {
    /// Try again until the server is ready, for at most this long
    #[arg(long, value_name = "SECONDS", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=3600))]
    wait: u64,
    /// Only check that the process responds, whatever its database does. Use this where a failure restarts the server
    #[arg(long)]
    live: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Healthcheck {
    /// Succeeds if the server is ready, or with `--live` if it responds; the exit code is 1 otherwise, the only other one that container engines define.
    pub(super) async fn run(&self, config: &Config) -> Result<()> {
        tls::install_provider();
        let (path, key, good) =
            if self.live { ("/healthz", "live", "alive") } else { ("/readyz", "ready", "ready") };
        let url = probe_url(config, path)?;
        let client = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .timeout(TIMEOUT)
            // The certificate names the public host, not this address. Nothing secret is sent or believed.
            .tls_danger_accept_invalid_certs(true)
            .build()
            .context("cannot create the HTTP client")?;
        let deadline = Instant::now() + Duration::from_secs(self.wait);
        let outcome = loop {
            match probe(&client, &url).await {
                Err(_) if Instant::now() + PAUSE <= deadline => tokio::time::sleep(PAUSE).await,
                outcome => break outcome,
            }
        };
        match &outcome {
            Ok(()) if self.json => print_json(&json!({"url": url, key: true}))?,
            Ok(()) => print_line(&format!("{good}: {url}"))?,
            Err(error) if self.json => {
                print_json(&json!({"url": url, key: false, "error": error.to_string()}))?;
            }
            Err(_) => {}
        }
        outcome
    }
}

async fn probe(client: &reqwest::Client, url: &str) -> Result<()> {
    let response = client.get(url).send().await.map_err(|error| anyhow!("{url} does not answer: {error}"))?;
    match response.status().as_u16() {
        200 => Ok(()),
        503 => bail!(
            "{url} answers 503: the server runs, but it is starting or stopping, or its database does not respond"
        ),
        status => bail!("{url} answers {status}; another program may be listening there"),
    }
}

/// Where the server answers on this machine: the plain listener if there is one, otherwise HTTPS.
fn probe_url(config: &Config, path: &str) -> Result<String> {
    let listen = Listen::parse(&config.listen).context("in `listen`")?;
    ensure!(listen.port != 0, "`listen` has port 0, so the server's port is not known; set a fixed port");
    let is_tls = config.tls_mode()? != TlsMode::Off && config.tls.listen.is_empty();
    let scheme = if is_tls { "https" } else { "http" };
    Ok(format!("{scheme}://{}{path}", listen.local_authority()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(settings: &[(&str, &str)]) -> Result<String> {
        let flags = settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let sources = crate::config::Sources { file: None, env: Vec::new(), flags };
        probe_url(&crate::config::Layers::load(&sources)?.config()?, "/readyz")
    }

    #[test]
    fn the_probe_goes_to_an_address_of_this_machine() {
        for (listen, expected) in [
            ("localhost:8080", "http://127.0.0.1:8080/readyz"),
            ("0.0.0.0:80", "http://127.0.0.1:80/readyz"),
            ("[::]:80", "http://[::1]:80/readyz"),
            ("[fd00::1]:80", "http://[fd00::1]:80/readyz"),
            ("10.0.0.2:80", "http://10.0.0.2:80/readyz"),
        ] {
            assert_eq!(url(&[("listen", listen)]).unwrap(), expected);
        }
    }

    #[test]
    fn https_is_used_only_where_there_is_no_plain_listener() {
        let tls = [("listen", "0.0.0.0:443"), ("tls.mode", "acme")];
        assert_eq!(url(&tls).unwrap(), "https://127.0.0.1:443/readyz");
        let both = [("listen", "localhost:8080"), ("tls.mode", "acme"), ("tls.listen", "0.0.0.0:443")];
        assert_eq!(url(&both).unwrap(), "http://127.0.0.1:8080/readyz");
    }

    #[test]
    fn a_port_that_only_the_running_server_knows_is_an_error() {
        assert!(url(&[("listen", "localhost:0")]).unwrap_err().to_string().contains("fixed port"));
    }
}
