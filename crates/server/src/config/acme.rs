//! The settings of obtaining certificates: the authority, and how DNS-01 challenges are answered.

use super::Config;
use anyhow::{Context, Result, bail, ensure};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use dropleaf_app::TlsMode;
use std::fmt;
use std::net::Ipv6Addr;
use std::path::PathBuf;
use std::time::Duration;

/// How certificates are obtained.
#[derive(Debug, Clone)]
pub struct AcmeSettings {
    pub directory_url: String,
    /// The root certificate of a private authority.
    pub ca_file: Option<PathBuf>,
    /// Where the authority sends notices.
    pub email: Option<String>,
    pub profile: Option<String>,
    /// Answers DNS-01 challenges, which wildcards need.
    pub dns: Option<DnsChallengeSettings>,
    /// Whether HTTP-01 challenges can be answered.
    pub has_http: bool,
}

#[derive(Debug, Clone)]
pub enum DnsChallengeSettings {
    Hook(PathBuf),
    Rfc2136(Rfc2136Settings),
}

/// Dynamic updates of DNS records, signed with a shared key. RFC 2136, RFC 8945.
#[derive(Clone)]
pub struct Rfc2136Settings {
    /// Host and port.
    pub server: String,
    pub zone: String,
    pub key_name: String,
    pub key_secret: Vec<u8>,
    pub algorithm: TsigAlgorithm,
    pub timeout: Duration,
}

impl fmt::Debug for Rfc2136Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rfc2136Settings")
            .field("server", &self.server)
            .field("zone", &self.zone)
            .field("key_name", &self.key_name)
            .finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TsigAlgorithm {
    Sha256,
    Sha512,
}

/// How long one update may take.
const UPDATE_TIMEOUT: Duration = Duration::from_secs(15);
const DNS_PORT: u16 = 53;

impl Config {
    /// `None` unless the server obtains certificates.
    pub(super) fn acme(&self) -> Result<Option<Box<AcmeSettings>>> {
        let set = &self.tls.acme;
        if self.tls_mode()? != TlsMode::Acme {
            return Ok(None);
        }
        ensure!(
            reqwest::Url::parse(&set.directory_url)
                .is_ok_and(|url| url.scheme() == "https" && url.has_host()),
            "`tls.acme.directory_url` must be an https:// URL"
        );
        if !set.email.is_empty() {
            dropleaf_core::email::address(&set.email)
                .map_err(|_| anyhow::anyhow!("`tls.acme.email` is not an email address"))?;
        }
        let some = |text: &String| (!text.is_empty()).then(|| text.clone());
        Ok(Some(Box::new(AcmeSettings {
            directory_url: set.directory_url.clone(),
            ca_file: some(&set.ca_file).map(PathBuf::from),
            email: some(&set.email),
            profile: some(&set.profile),
            dns: self.dns_challenges()?,
            has_http: !self.tls.http_listen.is_empty(),
        })))
    }

    fn dns_challenges(&self) -> Result<Option<DnsChallengeSettings>> {
        let set = &self.tls.acme;
        if !set.dns_hook.is_empty() {
            ensure!(
                set.rfc2136_server.is_empty(),
                "`tls.acme.dns_hook` and `tls.acme.rfc2136_server` cannot both be set"
            );
            return Ok(Some(DnsChallengeSettings::Hook(PathBuf::from(&set.dns_hook))));
        }
        if set.rfc2136_server.is_empty() {
            return Ok(None);
        }
        let parts = [
            ("tls.acme.rfc2136_zone", &set.rfc2136_zone),
            ("tls.acme.rfc2136_key_name", &set.rfc2136_key_name),
            ("tls.acme.rfc2136_key_secret", &set.rfc2136_key_secret),
        ];
        for (key, value) in parts {
            ensure!(!value.is_empty(), "`tls.acme.rfc2136_server` is set, so `{key}` must be set too");
        }
        let key_secret = STANDARD
            .decode(&set.rfc2136_key_secret)
            .ok()
            .context("`tls.acme.rfc2136_key_secret` is not base64")?;
        let algorithm = match set.rfc2136_key_algorithm.as_str() {
            "hmac-sha256" => TsigAlgorithm::Sha256,
            "hmac-sha512" => TsigAlgorithm::Sha512,
            _ => bail!("`tls.acme.rfc2136_key_algorithm` must be hmac-sha256 or hmac-sha512"),
        };
        let server = &set.rfc2136_server;
        let has_port = server.rsplit_once(':').is_some_and(|(host, port)| {
            port.parse::<u16>().is_ok() && (!host.contains(':') || host.ends_with(']'))
        });
        let name = |text: &str| text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        Ok(Some(DnsChallengeSettings::Rfc2136(Rfc2136Settings {
            server: match server.parse::<Ipv6Addr>() {
                Ok(bare) => format!("[{bare}]:{DNS_PORT}"),
                Err(_) if has_port => server.clone(),
                Err(_) => format!("{server}:{DNS_PORT}"),
            },
            zone: name(&set.rfc2136_zone),
            key_name: name(&set.rfc2136_key_name),
            key_secret,
            algorithm,
            timeout: UPDATE_TIMEOUT,
        })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Layers, Sources};

    fn acme(settings: &[(&str, &str)]) -> Result<Option<Box<AcmeSettings>>> {
        let base = [("tls.mode", "acme"), ("base_url", "https://drop.example")];
        let flags = base.iter().chain(settings);
        let flags = flags.map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        Layers::load(&Sources { flags, ..Sources::default() })?.config()?.acme()
    }

    const RFC2136: [(&str, &str); 4] = [
        ("tls.acme.rfc2136_server", "ns.example"),
        ("tls.acme.rfc2136_zone", "Pages.Example."),
        ("tls.acme.rfc2136_key_name", "dropleaf."),
        ("tls.acme.rfc2136_key_secret", "c2VjcmV0"),
    ];

    #[test]
    fn nothing_is_read_unless_certificates_are_obtained() {
        assert!(acme(&[("tls.mode", "off"), ("tls.acme.directory_url", "nonsense")]).unwrap().is_none());
        let found = acme(&[("tls.http_listen", "0.0.0.0:80")]).unwrap().unwrap();
        assert!(found.has_http && found.dns.is_none() && found.email.is_none());
    }

    #[test]
    fn dynamic_updates_need_all_their_settings() {
        let found = acme(&RFC2136).unwrap().unwrap();
        let Some(DnsChallengeSettings::Rfc2136(dns)) = &found.dns else { panic!("{found:?}") };
        assert_eq!((dns.server.as_str(), dns.zone.as_str()), ("ns.example:53", "pages.example"));
        assert_eq!((dns.key_name.as_str(), dns.key_secret.as_slice()), ("dropleaf", &b"secret"[..]));
        assert!(!format!("{dns:?}").contains("secret"));
        for at in 1..RFC2136.len() {
            let mut some = RFC2136.to_vec();
            let (key, _) = some.remove(at);
            assert!(acme(&some).unwrap_err().to_string().contains(key));
        }
        let servers = [
            ("192.0.2.1:5353", "192.0.2.1:5353"),
            ("[2001:db8::1]:53", "[2001:db8::1]:53"),
            ("2001:db8::1", "[2001:db8::1]:53"),
            ("[2001:db8::1]", "[2001:db8::1]:53"),
        ];
        for (server, used) in servers {
            let found =
                acme(&[&RFC2136[..], &[("tls.acme.rfc2136_server", server)]].concat()).unwrap().unwrap();
            assert!(matches!(&found.dns, Some(DnsChallengeSettings::Rfc2136(dns)) if dns.server == used));
        }
    }

    #[test]
    fn settings_that_cannot_work_are_refused() {
        let cases = [
            ("tls.acme.directory_url", "http://ca.example/directory", "https"),
            ("tls.acme.email", "nobody", "email"),
            ("tls.acme.dns_hook", "/bin/hook", "both"),
            ("tls.acme.rfc2136_key_secret", "!", "base64"),
            ("tls.acme.rfc2136_key_algorithm", "hmac-md5", "hmac-sha256"),
        ];
        for (key, value, problem) in cases {
            let error = acme(&[&RFC2136[..], &[(key, value)]].concat()).unwrap_err().to_string();
            assert!(error.contains(problem), "{key}: {error}");
        }
    }
}
