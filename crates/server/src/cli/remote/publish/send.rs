//! Sends a page to the server: to the page that was last published from the same path, or as a new one.

use super::content::{Content, Outline};
use super::destination::Destination;
use super::progress;
use super::report;
use super::target::Target;
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
    /// Replace the content of this page.
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
    pub(super) target: Target,
    pub(super) page: Option<PublishedPage>,
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
    pub(super) fn job(&self, target: Target) -> Result<Job> {
        let page = match (&self.record, target.record_key()) {
            (Some(record), Some(key)) if !self.is_new => record.find(self.client.server(), &key),
            _ => Ok(None),
        };
        let page = page.unwrap_or_else(|error| {
            eprintln!("note: {error}. It is not known whether this path was published before.");
            None
        });
        if let Some(page) = page.as_ref().filter(|_| self.update.is_none()) {
            if page.secret.is_some() && !self.is_encrypted {
                let text = format!(
                    "{} was published encrypted, as {}; add --encrypt, or --new to publish it readable",
                    target.shown(),
                    page.url
                );
                bail!(WrongUse(text));
            }
            if page.claim_token.is_none() && !self.client.has_key() {
                let server = self.client.server();
                let text = format!(
                    "{} was published with an account, as {}; run `dropleaf login {server}` to update it, or add --new",
                    target.shown(),
                    page.url
                );
                return Err(NotSignedIn(text).into());
            }
        }
        Ok(Job { target, page })
    }

    /// Reads the content, and fails if the server told that it would not accept it.
    pub(super) async fn read(&self, target: &Target) -> Result<Content> {
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
    /// always gets all settings, so that it is never less protected.
    pub(super) async fn send(
        &self,
        job: &mut Job,
        content: &Content,
        options: &PageOptions,
        has_settings: bool,
    ) -> Result<Sent> {
        let for_update = if has_settings { options.content_only() } else { options.clone() };
        let mut destination = self.destination(job, &for_update).await?;
        loop {
            let secret = self.is_encrypted.then(|| self.secret(job, &destination));
            let options = if destination == Destination::NewPage { options } else { &for_update };
            let sent = self.send_to(&destination, content, secret, options).await;
            match sent {
                Ok(site) => return Ok(self.keep(job, &destination, site, secret)),
                Err(error) if self.is_replaceable(&destination, &error) => {
                    report::print_gone(
                        job.page.as_ref().map_or("the page of this path", |page| page.url.as_str()),
                    );
                    destination = Destination::NewPage;
                }
                Err(error) => return Err(self.explain(error, job, &destination)),
            }
        }
    }

    async fn send_to(
        &self,
        destination: &Destination,
        content: &Content,
        secret: Option<[u8; 32]>,
        options: &PageOptions,
    ) -> Result<Site> {
        let (name, file) = match secret {
            None => (content.name.clone(), content.file.try_clone()?),
            Some(secret) => (ENCRYPTED_NAME.to_owned(), content.encrypted(secret, &self.minter)?),
        };
        let upload = Upload::new(name, file, self.minter.bytes()).context("cannot read the content")?;
        let call = async {
            match destination {
                Destination::NewPage => self.client.publish(&upload, options).await,
                Destination::OwnPage(name) => self.client.update(name, &upload, options).await,
                Destination::UnclaimedPage { id, claim_token } => {
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
            Destination::UnclaimedPage { claim_token, .. } => Some(claim_token.clone()),
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
            && matches!(destination, Destination::UnclaimedPage { .. });
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
