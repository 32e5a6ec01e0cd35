//! One order: asks the authority for a certificate, answers its challenge, and returns the certificate with its new key.

use super::challenges::{self, PublishedAnswer};
use super::failure::{self, Failure};
use super::{Acme, issued};
use anyhow::Context;
use dropleaf_app::NewCertificate;
use dropleaf_core::certificate::Certificate;
use instant_acme::{
    Account, AuthorizationStatus, CertificateIdentifier, ChallengeType, Error, Identifier, NewOrder, Order,
    OrderStatus, RetryPolicy,
};
use rcgen::{CertificateParams, DistinguishedName, KeyPair, PKCS_ECDSA_P256_SHA256};
use std::sync::PoisonError;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How long an order may take, with the DNS record of a wildcard becoming visible.
const ORDER_LIMIT: Duration = Duration::from_mins(6);
/// How long the authority may take to validate, and then to sign.
const POLLING: RetryPolicy = RetryPolicy::new()
    .initial_delay(Duration::from_millis(500))
    .backoff(1.5)
    .timeout(Duration::from_secs(90));

impl Acme {
    /// Obtains a certificate. Answers to challenges are removed in any case.
    pub(super) async fn obtain(
        &self,
        account: &Account,
        due: &Certificate,
        is_proxied: bool,
        stopping: &CancellationToken,
    ) -> Result<NewCertificate, Failure> {
        let proven = self.proven_kind.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut kinds = challenges::kinds(&self.settings, due, is_proxied, proven.as_ref());
        let result = self.obtain_by(account, due, &kinds, stopping).await;
        // Only for the first order: authorities limit failed validations per hour.
        match result {
            Err(failure) if failure.is_unreachable() && kinds.len() > 1 && due.failures == 0 => {
                let error = failure.text();
                tracing::info!(
                    name = due.name,
                    error,
                    "validation failed, trying the other kind of challenge"
                );
                kinds.rotate_left(1);
                self.obtain_by(account, due, &kinds, stopping).await
            }
            result => result,
        }
    }

    async fn obtain_by(
        &self,
        account: &Account,
        due: &Certificate,
        kinds: &[ChallengeType],
        stopping: &CancellationToken,
    ) -> Result<NewCertificate, Failure> {
        let mut published = Vec::new();
        let work = tokio::time::timeout(ORDER_LIMIT, self.order(account, due, kinds, &mut published));
        let result = match stopping.run_until_cancelled(work).await {
            None => Err(Failure::Stopping),
            Some(Err(_)) => Err(Failure::TimedOut),
            Some(Ok(result)) => result,
        };
        self.remove_answers(published).await;
        result
    }

    async fn order(
        &self,
        account: &Account,
        due: &Certificate,
        kinds: &[ChallengeType],
        published: &mut Vec<PublishedAnswer>,
    ) -> Result<NewCertificate, Failure> {
        let mut order = self.place(account, due).await?;
        if let Err(failure) = self.authorize(&mut order, kinds, published).await {
            return Err(rejected(&mut order).await.unwrap_or(failure));
        }
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).context("cannot create a key")?;
        let mut params = CertificateParams::new([due.name.clone()]).context("not a host name")?;
        params.distinguished_name = DistinguishedName::new();
        let request = params.serialize_request(&key).context("cannot create the signing request")?;
        order.finalize_csr(request.der()).await?;
        let chain = order.poll_certificate(&POLLING).await?;
        Ok(issued::read(&due.name, &chain, &key.serialize_pem())?)
    }

    /// Places the order, as the replacement of the current certificate if there is one.
    async fn place(&self, account: &Account, due: &Certificate) -> Result<Order, Failure> {
        let names = [Identifier::Dns(due.name.clone())];
        let new = || {
            let order = NewOrder::new(&names);
            match &self.settings.profile {
                Some(profile) => order.profile(profile),
                None => order,
            }
        };
        if let Some(replaced) = self.current_id(due).await? {
            match account.new_order(&new().replaces(replaced)).await {
                Ok(order) => return Ok(order),
                Err(error) if failure::is_problem(&error, "rateLimited") => return Err(error.into()),
                // Another authority issued it, or it was replaced already: an ordinary order will do.
                Err(error) => {
                    tracing::debug!(name = due.name, %error, "order not accepted as a replacement");
                }
            }
        }
        Ok(account.new_order(&new()).await?)
    }

    /// How the authority names the current certificate. RFC 9773 §4.1.
    pub(super) async fn current_id(
        &self,
        of: &Certificate,
    ) -> anyhow::Result<Option<CertificateIdentifier<'static>>> {
        if of.serial.is_none() {
            return Ok(None);
        }
        // One that cannot be decrypted any more is replaced like a missing one.
        let Ok(Some(current)) = self.app.find_issued(&of.name).await else { return Ok(None) };
        let chain = issued::chain(&current.chain_and_key_pem)?;
        Ok(chain.first().and_then(|leaf| CertificateIdentifier::try_from(leaf).ok()))
    }

    /// Answers the challenges and waits until the authority has checked them.
    async fn authorize(
        &self,
        order: &mut Order,
        kinds: &[ChallengeType],
        published: &mut Vec<PublishedAnswer>,
    ) -> Result<(), Failure> {
        let mut answered = None;
        let mut authorizations = order.authorizations();
        while let Some(next) = authorizations.next().await {
            let mut authorization = next?;
            match authorization.status {
                // From an earlier order.
                AuthorizationStatus::Valid => continue,
                AuthorizationStatus::Pending => {}
                other => return Err(anyhow::anyhow!("the authorization is {other:?}").into()),
            }
            let offered =
                |kind: &&ChallengeType| authorization.challenges.iter().any(|it| it.r#type == **kind);
            let kind = kinds.iter().find(offered).cloned();
            let kind = kind.context("the authority offers no challenge that this server can answer")?;
            answered = Some(kind.clone());
            let challenge = authorization.challenge(kind);
            let mut challenge = challenge.context("the challenge has disappeared")?;
            self.publish_answer(&challenge, published).await?;
            challenge.set_ready().await?;
        }
        match order.poll_ready(&POLLING).await? {
            OrderStatus::Ready => {
                // Nothing is learned from an authorization of an earlier order, or from a wildcard.
                if let Some(kind) = answered.filter(|kind| *kind != ChallengeType::Dns01) {
                    *self.proven_kind.lock().unwrap_or_else(PoisonError::into_inner) = Some(kind);
                }
                Ok(())
            }
            _ => Err(Error::Str("the order was refused").into()),
        }
    }
}

/// Why the authority rejected a challenge. The error of the order itself often says less.
async fn rejected(order: &mut Order) -> Option<Failure> {
    let mut authorizations = order.authorizations();
    while let Some(Ok(mut authorization)) = authorizations.next().await {
        let Ok(state) = authorization.refresh().await else { continue };
        if let Some(problem) = state.challenges.iter().find_map(|challenge| challenge.error.clone()) {
            return Some(Failure::Authority(Error::Api(problem)));
        }
    }
    None
}
