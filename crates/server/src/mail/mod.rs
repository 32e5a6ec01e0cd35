//! Sends email: over SMTP, or on a server for one machine as files in the outbox folder. Settings `mail.*`.

mod compose;
mod outbox;
mod sender;
mod smtp;

pub use outbox::Outbox;
pub use sender::Sender;
pub use smtp::Smtp;

use crate::config::Config;
use anyhow::{Context, Result, bail, ensure};
use dropleaf_app::Mailer;
use dropleaf_core::host::Origin;
use std::path::Path;
use std::sync::Arc;

/// How email is sent, according to the settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MailTransport {
    Smtp(String),
    Outbox,
    Off,
}

/// The mail settings, validated.
#[derive(Debug, Clone)]
pub struct MailSettings {
    pub transport: MailTransport,
    pub from: Sender,
    /// Mail was not turned off; there is only no transport to send it.
    is_missing: bool,
}

impl MailSettings {
    pub fn resolve(config: &Config, base: &Origin) -> Result<Self> {
        let mail = &config.mail;
        let transport = match (mail.mode.as_str(), mail.smtp_url.as_str()) {
            ("off", _) => MailTransport::Off,
            // Emails give access to accounts and pages: on a server for other people they must not be stored in a folder.
            ("outbox", _) if !base.is_loopback() => bail!(
                "`mail.mode` is outbox, which works only with a local `base_url`: set `mail.smtp_url` and `mail.mode` = smtp, \
                 or set `mail.mode` = off"
            ),
            ("auto", "") if !base.is_loopback() => MailTransport::Off,
            ("outbox", _) | ("auto", "") => MailTransport::Outbox,
            ("smtp", "") => bail!("`mail.mode` is smtp, but `mail.smtp_url` is empty"),
            ("auto" | "smtp", url) => MailTransport::Smtp(url.to_owned()),
            _ => bail!("`mail.mode` must be auto, smtp, outbox or off"),
        };
        if let MailTransport::Smtp(url) = &transport {
            smtp::check(url)?;
            ensure!(
                !is_readable_by_all(url),
                "`mail.smtp_url` would send the password unencrypted: use smtps://… or add ?tls=required"
            );
        }
        let from = match mail.from.as_str() {
            "" => default_from(base)?,
            text => {
                text.parse().context("`mail.from` must be an address such as dropleaf <mail@example.com>")?
            }
        };
        let is_missing = transport == MailTransport::Off && mail.mode != "off";
        Ok(Self { transport, from, is_missing })
    }

    /// A warning for the operator.
    pub fn warning(&self) -> Option<&'static str> {
        self.is_missing.then_some(
            "this server cannot send email, so sign-in codes do not work: set `mail.smtp_url` (or set `mail.mode` = off if this \
             is intended; `dropleaf account link` creates sign-in links)",
        )
    }

    /// The configured mailer; `None` if mail is turned off.
    pub fn open(&self, data_dir: &Path) -> Result<Option<Arc<dyn Mailer>>> {
        Ok(match &self.transport {
            MailTransport::Smtp(url) => Some(Arc::new(Smtp::new(url, self.from.clone())?)),
            MailTransport::Outbox => Some(Arc::new(Outbox::new(data_dir.join("outbox"), self.from.clone()))),
            MailTransport::Off => None,
        })
    }
}

/// Whether a password would be sent over a network unencrypted.
fn is_readable_by_all(url: &str) -> bool {
    let Some(rest) = url.strip_prefix("smtp://") else { return false };
    let Some((_, host)) = rest.rsplit_once('@') else { return false };
    let (host, query) = host.split_once('?').unwrap_or((host, ""));
    let host = host.trim_end_matches('/');
    let name = host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|b| b.is_ascii_digit()));
    let name = name.map_or(host, |(name, _)| name);
    // "opportunistic" does not protect against an attacker who removes the server's offer of TLS.
    let sealed = query.split('&').any(|option| option == "tls=required");
    !sealed && !["localhost", "127.0.0.1", "[::1]"].contains(&name)
}

fn default_from(base: &Origin) -> Result<Sender> {
    // An IP address in brackets is not a domain for a mailbox.
    let host = if base.is_ip() { "localhost" } else { &base.host };
    format!("dropleaf <dropleaf@{host}>").parse().context("`mail.from` must be set for this `base_url`")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Layers, Sources};

    fn settings_at(base: &str, flags: &[(&str, &str)]) -> Result<MailSettings> {
        let flags = flags.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let config = Layers::load(&Sources { flags, ..Sources::default() })?.config()?;
        MailSettings::resolve(&config, &Origin::parse(base).unwrap())
    }

    fn settings(flags: &[(&str, &str)]) -> Result<MailSettings> {
        settings_at("https://drop.example.org", flags)
    }

    #[test]
    fn the_outbox_is_for_this_machine_only() {
        for own in ["http://localhost:8080", "http://127.0.0.1:8080", "http://[::1]:8080"] {
            for flags in [&[][..], &[("mail.mode", "outbox")]] {
                let settings = settings_at(own, flags).unwrap();
                assert_eq!(
                    (settings.transport.clone(), settings.warning()),
                    (MailTransport::Outbox, None),
                    "{own}"
                );
            }
        }
        let silent = settings(&[]).unwrap();
        assert_eq!(silent.transport, MailTransport::Off);
        assert!(silent.warning().unwrap().contains("mail.smtp_url"));
        assert_eq!(silent.from.to_string(), "dropleaf <dropleaf@drop.example.org>");
        let refused = settings(&[("mail.mode", "outbox")]).unwrap_err().to_string();
        assert!(refused.contains("mail.smtp_url"), "{refused}");
        let meant = settings(&[("mail.mode", "off")]).unwrap();
        assert_eq!((meant.transport.clone(), meant.warning()), (MailTransport::Off, None));
    }

    #[test]
    fn a_mail_server_is_used_when_there_is_one() {
        let url = "smtps://u:p@mail.example.org";
        assert_eq!(settings(&[("mail.smtp_url", url)]).unwrap().transport, MailTransport::Smtp(url.into()));
        let both = [("mail.smtp_url", url), ("mail.mode", "outbox")];
        assert_eq!(settings_at("http://localhost", &both).unwrap().transport, MailTransport::Outbox);
        assert_eq!(settings(&[("mail.mode", "off")]).unwrap().transport, MailTransport::Off);
    }

    #[test]
    fn settings_that_make_no_sense_are_refused() {
        for bad in [
            ("mail.mode", "smtp"),
            ("mail.mode", "pigeon"),
            ("mail.smtp_url", "http://mail.example.org"),
            ("mail.smtp_url", "smtp://u:p@mail.example.org"),
            ("mail.from", "nobody"),
        ] {
            assert!(settings(&[bad]).is_err(), "{bad:?}");
        }
        for good in
            ["smtp://u:p@mail.example.org?tls=required", "smtp://u:p@localhost", "smtp://relay.internal"]
        {
            assert!(settings(&[("mail.smtp_url", good)]).is_ok(), "{good}");
        }
    }
}
