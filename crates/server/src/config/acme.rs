//! The settings of obtaining certificates: the authority, and how DNS-01 challenges are answered.

use super::Config;
use anyhow::{Result, bail};
use dropleaf_app::TlsMode;

impl Config {
    pub(crate) fn tls_mode(&self) -> Result<TlsMode> {
        Ok(match self.tls.mode.as_str() {
            "" if self.tls.cert_file.is_empty() => TlsMode::Off,
            "" | "files" => TlsMode::Files,
            "off" => TlsMode::Off,
            "acme" => TlsMode::Acme,
            _ => bail!("`tls.mode` must be off, files or acme"),
        })
    }

    /// Whether the server can obtain certificates by DNS-01, which wildcards need.
    pub(crate) fn has_dns_challenges(&self) -> bool {
        !self.tls.acme.dns_hook.is_empty() || !self.tls.acme.rfc2136_server.is_empty()
    }
}
