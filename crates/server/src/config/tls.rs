//! The settings of TLS: where certificates come from, which listeners speak it, and what to warn about.

use super::{Config, Listen, Resolved};
use crate::tls::CertificateNames;
use anyhow::{Context, Result, bail, ensure};
use dropleaf_app::TlsMode;
use dropleaf_core::host::{Hosts, Origin};

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

    /// The address that clients connect to: of HTTPS if that has its own listener.
    pub(crate) fn public_listen(&self) -> Result<Listen> {
        if self.tls.listen.is_empty() {
            return Listen::parse(&self.listen).context("in `listen`");
        }
        Listen::parse(&self.tls.listen).context("in `tls.listen`")
    }

    /// Whether the server can obtain certificates by DNS-01, which wildcards need.
    pub(crate) fn has_dns_challenges(&self) -> bool {
        !self.tls.acme.dns_hook.is_empty() || !self.tls.acme.rfc2136_server.is_empty()
    }

    pub(super) fn check_tls(&self, hosts: &Hosts) -> Result<()> {
        let (tls, mode) = (&self.tls, self.tls_mode()?);
        ensure!(
            tls.cert_file.is_empty() == tls.key_file.is_empty(),
            "`tls.cert_file` and `tls.key_file` must be set together"
        );
        ensure!(
            mode != TlsMode::Files || !tls.cert_file.is_empty(),
            "`tls.mode` is files: set `tls.cert_file` and `tls.key_file`"
        );
        for (key, address) in [("tls.listen", &tls.listen), ("tls.http_listen", &tls.http_listen)] {
            if address.is_empty() {
                continue;
            }
            let parsed = Listen::parse(address).with_context(|| format!("in `{key}`"))?;
            ensure!(mode != TlsMode::Off, "`{key}` needs HTTPS: set `tls.mode` to files or acme");
            let clashes = parsed.port != 0 && Listen::parse(&self.listen)? == parsed;
            ensure!(!clashes, "`{key}` and `listen` must be different addresses");
        }
        ensure!(
            tls.listen.is_empty() || tls.listen.ends_with(":0") || tls.listen != tls.http_listen,
            "`tls.listen` and `tls.http_listen` must be different addresses"
        );
        if !tls.http_listen.is_empty() || mode == TlsMode::Acme {
            for (key, origin) in own_origins(hosts) {
                ensure!(
                    origin.scheme == "https",
                    "`{key}` must begin with https:// when `tls.mode` is acme or `tls.http_listen` is set"
                );
            }
        }
        ensure!(
            mode != TlsMode::Acme || own_origins(hosts).any(|(_, origin)| can_be_ordered(origin)),
            "`tls.mode` is acme, but no certificate can be obtained for {}: set `base_url` to https:// and a public host name",
            hosts.base.host
        );
        Ok(())
    }
}

impl Resolved {
    /// Names of ours for which browsers will refuse the connection, because no certificate covers them.
    pub(crate) fn tls_warnings(&self) -> Vec<String> {
        let (config, hosts, mode) = (&self.config, &self.hosts, self.settings.tls_mode);
        if mode == TlsMode::Off {
            return Vec::new();
        }
        // Unreadable files are an error at start, with its own message.
        let Ok(files) = CertificateNames::of_file(&config.tls.cert_file) else { return Vec::new() };
        let mut warnings = Vec::new();
        for (key, origin) in own_origins(hosts) {
            let obtained = mode == TlsMode::Acme && can_be_ordered(origin);
            if !obtained && !origin.is_ip() && !files.cover(&origin.host) {
                warnings.push(format!("the certificate does not cover {}, the host of `{key}`", origin.host));
            }
        }
        let wildcard = format!("*.{}", hosts.site_host);
        let obtained = mode == TlsMode::Acme && config.has_dns_challenges();
        if hosts.isolated && !obtained && !files.cover(&wildcard) {
            warnings.push(if mode == TlsMode::Acme {
                format!(
                    "no certificate for {wildcard}, where pages open: set `tls.acme.dns_hook` or `tls.acme.rfc2136_server`, \
                     or `tls.cert_file` with a certificate for it"
                )
            } else {
                format!("the certificate does not cover {wildcard}, where pages open")
            });
        }
        warnings
    }
}

fn own_origins(hosts: &Hosts) -> impl Iterator<Item = (&'static str, &Origin)> {
    let agents = hosts.agents.as_ref().map(|agents| ("agents_url", agents));
    [("base_url", &hosts.base), ("site_url", &hosts.site)].into_iter().chain(agents)
}

/// Whether a public authority could issue a certificate for this host by TLS-ALPN-01 or HTTP-01.
fn can_be_ordered(origin: &Origin) -> bool {
    origin.scheme == "https" && !origin.is_ip() && !origin.is_loopback()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Layers, Sources};

    fn resolved(settings: &[(&str, &str)]) -> Result<Resolved> {
        let flags = settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let config = Layers::load(&Sources { flags, ..Sources::default() })?.config()?;
        config.resolve(8443)
    }

    const BASE: (&str, &str) = ("base_url", "https://api.example.com");
    const ACME: (&str, &str) = ("tls.mode", "acme");
    const FILES: [(&str, &str); 2] = [("tls.cert_file", "none.pem"), ("tls.key_file", "none.key")];

    #[test]
    fn mode_follows_the_files_unless_it_is_set() {
        let mode = |settings: &[(&str, &str)]| resolved(settings).unwrap().settings.tls_mode;
        assert_eq!(mode(&[]), TlsMode::Off);
        assert_eq!(mode(&FILES), TlsMode::Files);
        assert_eq!(mode(&[FILES[0], FILES[1], ("tls.mode", "off")]), TlsMode::Off);
        assert_eq!(mode(&[ACME, BASE]), TlsMode::Acme);
    }

    #[test]
    fn address_for_clients_is_that_of_https() {
        let url = |settings: &[(&str, &str)]| resolved(settings).unwrap().hosts.base.url();
        assert_eq!(url(&[]), "http://localhost:8443");
        assert_eq!(url(&FILES), "https://localhost:8443");
        let own = [FILES[0], FILES[1], ("listen", "127.0.0.1:80"), ("tls.listen", "192.0.2.1:8443")];
        assert_eq!(url(&own), "https://192.0.2.1:8443");
    }

    #[test]
    fn settings_that_cannot_work_are_refused() {
        let cases: [(&[(&str, &str)], &str); 11] = [
            (&[("tls.mode", "on")], "off, files or acme"),
            (&[("tls.mode", "files")], "set `tls.cert_file`"),
            (&[("tls.cert_file", "x")], "set together"),
            (&[ACME], "a public host name"),
            (&[ACME, ("base_url", "https://192.0.2.1")], "a public host name"),
            (&[ACME, ("base_url", "http://api.example.com")], "`base_url` must begin with https://"),
            (&[ACME, BASE, ("site_url", "http://pages.example.net")], "`site_url` must begin with https://"),
            (&[("tls.listen", "0.0.0.0:443")], "`tls.listen` needs HTTPS"),
            (&[ACME, BASE, ("tls.listen", "443")], "in `tls.listen`"),
            (&[ACME, BASE, ("listen", "[::]:443"), ("tls.listen", "[::]:443")], "different addresses"),
            (
                &[ACME, BASE, ("tls.listen", "[::]:443"), ("tls.http_listen", "[::]:443")],
                "different addresses",
            ),
        ];
        for (settings, message) in cases {
            let error = format!("{:#}", resolved(settings).unwrap_err());
            assert!(error.contains(message), "{settings:?}: {error}");
        }
    }

    #[test]
    fn names_without_a_certificate_are_named_in_a_warning() {
        let site = ("site_url", "https://pages.example.net");
        let warnings = resolved(&[ACME, BASE, site]).unwrap().tls_warnings();
        assert_eq!(warnings.len(), 1);
        assert!(warnings[0].contains("*.pages.example.net") && warnings[0].contains("tls.acme.dns_hook"));
        let hook = ("tls.acme.dns_hook", "/usr/local/bin/hook");
        assert_eq!(resolved(&[ACME, BASE, site, hook]).unwrap().tls_warnings(), [""; 0]);
        assert_eq!(resolved(&[ACME, BASE, site, ("isolation", "sandbox")]).unwrap().tls_warnings(), [""; 0]);
        let dir = tempfile::TempDir::new().unwrap();
        let made =
            rcgen::generate_simple_self_signed(["pages.example.net".into(), "*.pages.example.net".into()]);
        let made = made.unwrap();
        let (cert, key) = (dir.path().join("cert.pem"), dir.path().join("key.pem"));
        std::fs::write(&cert, made.cert.pem()).unwrap();
        std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
        let files = [cert, key].map(|path| path.display().to_string());
        let files = [("tls.cert_file", files[0].as_str()), ("tls.key_file", files[1].as_str())];
        let with_files = |more: &[(&str, &str)]| {
            resolved(&[&files[..], &[BASE, site], more].concat()).unwrap().tls_warnings()
        };
        assert_eq!(
            with_files(&[]),
            ["the certificate does not cover api.example.com, the host of `base_url`"]
        );
        assert_eq!(with_files(&[ACME]), [""; 0]);
    }
}
