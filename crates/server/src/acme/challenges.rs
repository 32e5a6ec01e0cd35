//! Answers challenges: which kind is tried, how the answer is published before the authority is told, and removed afterwards.

use super::dns_hook::{self, HookAction};
use super::dns_update::Change;
use super::{Acme, rfc2136};
use crate::config::{AcmeSettings, DnsChallengeSettings};
use anyhow::{Context, Result};
use dropleaf_app::NONE_OPEN_FOR;
use dropleaf_core::certificate::{Certificate, ChallengeKind};
use instant_acme::{ChallengeHandle, ChallengeType};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How long to wait until a new TXT record is visible. Then the authority is told anyway: it may see what we do not.
const PROPAGATION_LIMIT: Duration = Duration::from_mins(2);
const PROPAGATION_POLL: Duration = Duration::from_secs(2);

/// An answer that was published and has to be removed.
#[derive(Debug)]
pub(super) enum PublishedAnswer {
    Stored(ChallengeKind, String),
    Record { name: String, value: String },
}

/// The kinds of challenges to try, best first: the one that succeeded last for any name, and after a failed order the other.
pub(super) fn kinds(
    settings: &AcmeSettings,
    due: &Certificate,
    is_proxied: bool,
    proven: Option<&ChallengeType>,
) -> Vec<ChallengeType> {
    if due.is_wildcard() {
        return if settings.dns.is_some() { vec![ChallengeType::Dns01] } else { Vec::new() };
    }
    if is_proxied && settings.has_http {
        // The proxy ends TLS itself.
        return vec![ChallengeType::Http01];
    }
    let mut kinds = vec![ChallengeType::TlsAlpn01];
    if settings.has_http {
        kinds.push(ChallengeType::Http01);
        if proven == Some(&ChallengeType::Http01) {
            kinds.reverse();
        }
    }
    let first = usize::try_from(due.failures).unwrap_or_default() % kinds.len();
    kinds.rotate_left(first);
    kinds
}

impl Acme {
    /// Publishes the answer where the authority looks for it.
    pub(super) async fn publish_answer(
        &self,
        challenge: &ChallengeHandle<'_>,
        published: &mut Vec<PublishedAnswer>,
    ) -> Result<()> {
        let key_authorization = challenge.key_authorization();
        // Of a wildcard it is the name without the star.
        let host = match challenge.identifier().identifier {
            instant_acme::Identifier::Dns(host) => host.clone(),
            _ => anyhow::bail!("the authority asks about something other than a host name"),
        };
        let stored = match challenge.r#type {
            ChallengeType::Http01 => Some((ChallengeKind::Http01, challenge.token.clone())),
            ChallengeType::TlsAlpn01 => Some((ChallengeKind::TlsAlpn01, host.clone())),
            _ => None,
        };
        if let Some((kind, name)) = stored {
            let answer = key_authorization.as_str().as_bytes();
            published.push(PublishedAnswer::Stored(kind, name.clone()));
            self.app.put_challenge(kind, &name, answer).await?;
            // Until every node answers it.
            tokio::time::sleep(NONE_OPEN_FOR).await;
            return Ok(());
        }
        let (name, value) = (format!("_acme-challenge.{host}"), key_authorization.dns_value());
        published.push(PublishedAnswer::Record { name: name.clone(), value: value.clone() });
        self.change_record(HookAction::Present, &name, &value).await?;
        self.wait_for_record(&name, &value).await;
        Ok(())
    }

    /// Removes what was published, whatever became of the order.
    pub(super) async fn remove_answers(&self, published: Vec<PublishedAnswer>) {
        for answer in published {
            let removed = match &answer {
                PublishedAnswer::Stored(kind, name) => {
                    self.app.remove_challenge(*kind, name).await.map_err(anyhow::Error::from)
                }
                PublishedAnswer::Record { name, value } => {
                    self.change_record(HookAction::Cleanup, name, value).await
                }
            };
            if let Err(error) = removed {
                tracing::warn!(error = format!("{error:#}"), ?answer, "answer to a challenge not removed");
            }
        }
    }

    async fn change_record(&self, action: HookAction, name: &str, value: &str) -> Result<()> {
        match self.settings.dns.as_ref().context("DNS-01 is not configured")? {
            DnsChallengeSettings::Hook(command) => {
                dns_hook::run(Arc::clone(&self.hook_lock), command, action, name, value).await
            }
            DnsChallengeSettings::Rfc2136(set) => {
                let change = if action == HookAction::Present { Change::Add } else { Change::Remove };
                rfc2136::change(set, change, name, value, self.app.now()).await
            }
        }
    }

    /// Waits until the record is visible from here, up to a limit.
    async fn wait_for_record(&self, name: &str, value: &str) {
        let start = Instant::now();
        while start.elapsed() < PROPAGATION_LIMIT {
            match self.app.find_txt_records(name).await {
                // Nothing to ask.
                None => return,
                Some(found) if found.iter().any(|it| it == value) => return,
                Some(_) => tokio::time::sleep(PROPAGATION_POLL).await,
            }
        }
        tracing::warn!(name, "DNS record not visible from here, the authority is told anyway");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(has_http: bool, has_dns: bool) -> AcmeSettings {
        AcmeSettings {
            directory_url: String::new(),
            ca_file: None,
            email: None,
            profile: None,
            dns: has_dns.then(|| DnsChallengeSettings::Hook("/bin/true".into())),
            has_http,
        }
    }

    fn due(name: &str, failures: i64) -> Certificate {
        Certificate { failures, ..Certificate::new(name.into(), 0) }
    }

    #[test]
    fn the_kind_changes_after_a_failure() {
        use ChallengeType::{Dns01, Http01, TlsAlpn01};
        let both = settings(true, true);
        assert_eq!(kinds(&both, &due("a.example", 0), false, None), [TlsAlpn01, Http01]);
        assert_eq!(kinds(&both, &due("a.example", 1), false, None), [Http01, TlsAlpn01]);
        assert_eq!(kinds(&both, &due("a.example", 2), false, None), [TlsAlpn01, Http01]);
        assert_eq!(kinds(&settings(false, false), &due("a.example", 1), false, None), [TlsAlpn01]);
        assert_eq!(kinds(&both, &due("*.a.example", 1), false, None), [Dns01]);
        assert_eq!(kinds(&both, &due("a.example", 0), false, Some(&Http01)), [Http01, TlsAlpn01]);
        assert_eq!(kinds(&both, &due("a.example", 1), true, None), [Http01]);
        assert!(kinds(&settings(true, false), &due("*.a.example", 0), false, None).is_empty());
    }
}
