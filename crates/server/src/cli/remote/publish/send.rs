//! Sends a page to the server: to the page that was last published from the same path, or as a new one.

use super::attempt::Attempt;
use super::content::{Content, Outline};
use super::destination::{Destination, check_gates};
use super::path::PublishPath;
use super::progress;
use super::report;
use super::visible;
use crate::cli::encrypt::fragment;
use crate::cli::exit::{NotSignedIn, WrongUse};
use crate::cli::remote::session::explained;
use anyhow::{Context, Result, bail};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use dropleaf_client::{
    Client, ClientError, PageOptions, PublishedPage, PublishedPages, Site, Upload, UploadLimits,
};
use dropleaf_core::{Clock, Minter, SystemClock};
use tokio::sync::OnceCell;

/// Below this many files and bytes the limits of the server are not requested: sending is as fast.
const SMALL_FILES: u64 = 500;
const SMALL_BYTES: u64 = 1 << 20;
/// The name of an encrypted file says nothing about its content.
const ENCRYPTED_NAME: &str = "page.e2e";

/// What all paths of one command have in common.
#[derive(Debug)]
pub(super) struct Sender {
    pub(super) client: Client,
    /// `None` if there is no home folder.
    pub(super) record: Option<PublishedPages>,
    /// Replace the content of the page with this ID.
    pub(super) update: Option<String>,
    /// Publish a new page, even if the path has one.
    pub(super) is_new: bool,
    /// Whether the page is remembered: one that is deleted after its first view is not.
    pub(super) is_recorded: bool,
    pub(super) is_encrypted: bool,
    /// The name of what comes from standard input.
    pub(super) file_name: Option<String>,
    pub(super) minter: Minter,
    pub(super) clock: SystemClock,
    pub(super) limits: OnceCell<UploadLimits>,
}

/// One path and the page it has.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) target: PublishPath,
    pub(super) page: Option<PublishedPage>,
    /// A new page that the server may have created although the attempt failed, and the hash of its content.
    pub(super) failed: Option<(blake3::Hash, Attempt)>,
}

/// A page that the server accepted.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) site: Site,
    /// The address, with the key of an encrypted page.
    pub(super) link: String,
}

impl Sender {
    /// The job of a path, with the page that the record has for it.
    pub(super) fn job(&self, target: PublishPath) -> Result<Job> {
        // Whether the path was published encrypted or with a gate is only known from the record.
        let recorded = self.recorded(&target).with_context(|| {
            format!(
                "it is not known whether {} was published before (--new publishes a new page)",
                target.shown()
            )
        })?;
        if let Some(page) = recorded.iter().find(|page| page.secret.is_some() && !self.is_encrypted) {
            let shown = target.shown();
            let is_of_path = target.record_key().as_ref() == Some(&page.path);
            let which = if is_of_path {
                format!("{shown} was published encrypted, as {}", page.url)
            } else {
                format!("{} was published encrypted", page.url)
            };
            bail!(WrongUse(format!("{which}; add --encrypt, or --new to publish {shown} readable")));
        }
        // A page that is deleted after its first view does not replace another.
        if !self.is_recorded && self.update.is_none() {
            return Ok(Job { target, page: None, failed: None });
        }
        let mut recorded = recorded.into_iter();
        let page = match &self.update {
            Some(id) => recorded.find(|page| page.id == *id),
            None => recorded.next(),
        };
        if let Some(page) = page.as_ref().filter(|page| page.claim_token.is_none())
            && !self.client.has_key()
        {
            let server = self.client.server();
            let text = format!(
                "{} was published with an account, as {}; run `dropleaf login {server}` to update it, or add --new",
                target.shown(),
                page.url
            );
            return Err(NotSignedIn(text).into());
        }
        Ok(Job { target, page, failed: None })
    }

    /// Reads the content, and fails if it exceeds the limits of the server.
    pub(super) async fn read(&self, target: &PublishPath) -> Result<Content> {
        let outline = Outline::of(target)?;
        let is_small =
            outline.extent()?.is_some_and(|(files, bytes)| files <= SMALL_FILES && bytes <= SMALL_BYTES);
        let limits = if is_small { UploadLimits::default() } else { self.limits().await? };
        outline.read(target, self.file_name.as_deref(), &limits)
    }

    /// The limits of the server, which it tells only to the holder of a key.
    async fn limits(&self) -> Result<UploadLimits> {
        if !self.client.has_key() {
            return Ok(UploadLimits::default());
        }
        let limits = self.limits.get_or_try_init(|| self.client.upload_limits()).await;
        Ok(*limits.map_err(|error| explained(error, self.client.server()))?)
    }

    /// Sends the content, and remembers the page. A page that has its settings already gets only the content; a new page
    /// always gets all settings, and takes the place of a protected one only with a password.
    pub(super) async fn send(
        &self,
        job: &mut Job,
        content: &Content,
        options: &PageOptions,
        has_settings: bool,
    ) -> Result<Sent> {
        let for_update = if has_settings { options.content_only() } else { options.clone() };
        let mut destination = self.destination(job, &for_update, options).await?;
        loop {
            let attempt = self.attempt(job, &destination, content)?;
            let settings = if destination == Destination::New { options } else { &for_update };
            let sent = self.send_to(&destination, content, &attempt, settings).await;
            match sent {
                Ok(site) => return Ok(self.keep(job, &destination, site, attempt.secret())),
                Err(error) if self.is_replaceable(&destination, &error) => {
                    if let Some(page) = &job.page {
                        check_gates(page, options)?;
                    }
                    report::print_gone(
                        job.page.as_ref().map_or("the page of this path", |page| page.url.as_str()),
                    );
                    destination = Destination::New;
                }
                Err(error) => {
                    if destination == Destination::New {
                        job.failed = content.hash().ok().map(|hash| (hash, attempt));
                    }
                    return Err(self.explain(error, job, &destination));
                }
            }
        }
    }

    async fn send_to(
        &self,
        destination: &Destination,
        content: &Content,
        attempt: &Attempt,
        options: &PageOptions,
    ) -> Result<Site> {
        let (name, file) = match &attempt.encrypted {
            None => (content.name.clone(), content.file.try_clone()?),
            Some((_, payload)) => (ENCRYPTED_NAME.to_owned(), payload.try_clone()?),
        };
        let upload = Upload::new(name, file, self.minter.bytes()).context("cannot read the content")?;
        let call = async {
            match destination {
                Destination::New => self.client.publish(&upload, options, &attempt.idempotency_key).await,
                Destination::Own(name) => self.client.update(name, &upload, options).await,
                Destination::Unclaimed { id, claim_token } => {
                    self.client.update_unclaimed(id, claim_token, &upload, options).await
                }
            }
        };
        Ok(progress::shown(&upload, call).await?)
    }

    fn keep(
        &self,
        job: &mut Job,
        destination: &Destination,
        mut site: Site,
        secret: Option<[u8; 32]>,
    ) -> Sent {
        let link = match secret {
            Some(secret) => format!("{}{}", site.url, fragment(&secret)),
            None => site.url.clone(),
        };
        if secret.is_some() {
            site.more.insert("link".to_owned(), link.clone().into());
        }
        let claim_token = match destination {
            Destination::Unclaimed { claim_token, .. } => Some(claim_token.clone()),
            _ => site.claim_token.clone(),
        };
        let key = job.target.record_key();
        let page = PublishedPage {
            server: self.client.server().to_owned(),
            path: key.clone().unwrap_or_default(),
            id: site.id.clone(),
            url: visible(&site.url),
            claim_token,
            expires_at: site.expires_at,
            secret: secret.map(|secret| URL_SAFE_NO_PAD.encode(secret)),
            gates: site.gates(),
        };
        if let (Some(record), true, true) = (&self.record, self.is_recorded, key.is_some())
            && let Err(error) = record.keep(page.clone(), self.clock.now())
        {
            eprintln!("note: {error}. Publishing this path again will create a new page.");
        }
        job.page = Some(page);
        Sent { site, link }
    }

    /// Says what to do about an error, and prints all reasons if the content was refused.
    fn explain(&self, error: anyhow::Error, job: &Job, destination: &Destination) -> anyhow::Error {
        let server = self.client.server();
        let error = match error.downcast::<ClientError>() {
            Ok(error) => error,
            Err(other) => return other.context(format!("{} was not published", job.target.shown())),
        };
        report::print_reasons(&error, &job.target.path, server);
        let is_claimed = error.code() == Some("invalid_claim_token")
            && matches!(destination, Destination::Unclaimed { .. });
        let error = explained(error, server);
        let error = if is_claimed {
            error.context(format!(
                "the page belongs to an account now; run `dropleaf login {server}` to update it, or add --new"
            ))
        } else {
            error
        };
        error.context(format!("{} was not published", job.target.shown()))
    }
}
