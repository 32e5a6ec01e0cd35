//! Decides where content goes: to a new page, to a page of the account, or to a page without an account that this machine
//! published earlier.

use super::path::PublishPath;
use super::report;
use super::send::{Job, Sender};
use crate::cli::exit::WrongUse;
use crate::cli::remote::session::explained;
use anyhow::Result;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use dropleaf_client::{ClientError, PageOptions, PublishedPage, RecordError};

/// Where the content goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Destination {
    /// A page that does not exist yet.
    New,
    /// A page of the account, by ID.
    Own(String),
    /// A page without an owner.
    Unclaimed { id: String, claim_token: String },
}

impl Sender {
    /// What the record has for the path and for the page of `--update`.
    pub(super) fn recorded(&self, target: &PublishPath) -> Result<Vec<PublishedPage>, RecordError> {
        let mut pages = Vec::new();
        let Some(record) = self.record.as_ref().filter(|_| !self.is_new) else { return Ok(pages) };
        let server = self.client.server();
        if let Some(key) = target.record_key() {
            pages.extend(record.find(server, &key)?);
        }
        if let Some(id) = &self.update {
            pages.extend(record.find_id(server, id)?);
        }
        Ok(pages)
    }

    /// `options` would apply to the page of the path, `for_new_page` to a new one.
    pub(super) async fn destination(
        &self,
        job: &mut Job,
        options: &PageOptions,
        for_new_page: &PageOptions,
    ) -> Result<Destination> {
        if let Some(name) = &self.update {
            return Ok(Destination::Own(name.clone()));
        }
        let Some(page) = &mut job.page else { return Ok(Destination::New) };
        if self.is_encrypted && page.secret.is_none() {
            check_gates(page, for_new_page)?;
            // The server keeps earlier versions, and they can be read.
            eprintln!("note: {} is not encrypted; publishing a new page", page.url);
            return Ok(Destination::New);
        }
        let id = page.id.clone();
        let Some(claim_token) = page.claim_token.clone() else { return Ok(Destination::Own(id)) };
        let unclaimed = Destination::Unclaimed { id: id.clone(), claim_token: claim_token.clone() };
        if self.client.has_key() {
            return match self.client.claim(&id, &claim_token).await {
                Ok(()) => {
                    eprintln!("note: {} was published without an account; it belongs to yours now", page.url);
                    page.claim_token = None;
                    Ok(Destination::Own(id))
                }
                Err(error) if matches!(error.status(), Some(404 | 410)) && error.code().is_some() => {
                    check_gates(page, for_new_page)?;
                    report::print_gone(&page.url);
                    Ok(Destination::New)
                }
                // It was claimed before, perhaps for this account.
                Err(error) if matches!(error.code(), Some("invalid_claim_token" | "already_claimed")) => {
                    Ok(Destination::Own(id))
                }
                // For example because the plan allows no more pages.
                Err(error @ ClientError::Refused { status: 400..429, .. }) if error.status() != Some(401) => {
                    eprintln!("note: {} could not be moved into your account: {error}", page.url);
                    Ok(unclaimed)
                }
                Err(error) => Err(explained(error, self.client.server())),
            };
        }
        if options.changes_settings() {
            check_gates(page, for_new_page)?;
            eprintln!(
                "note: the settings of {} cannot be changed without an account; publishing a new page",
                page.url
            );
            return Ok(Destination::New);
        }
        Ok(unclaimed)
    }

    /// The key of an encrypted page. A page keeps its key, so that its link stays valid: every version has a new IV. A new
    /// page has a new key.
    pub(super) fn secret(&self, job: &Job, destination: &Destination) -> [u8; 32] {
        let known = match (destination, &job.page) {
            (Destination::Own(name), Some(page)) => Some(page).filter(|page| page.id == *name),
            (Destination::Unclaimed { .. }, page) => page.as_ref(),
            _ => None,
        };
        let stored = known.and_then(|page| URL_SAFE_NO_PAD.decode(page.secret.as_ref()?).ok());
        stored.and_then(|bytes| bytes.try_into().ok()).unwrap_or_else(|| self.minter.bytes())
    }

    /// Whether a new page takes the place of one that no longer exists. One that was named is not replaced.
    pub(super) fn is_replaceable(&self, destination: &Destination, error: &anyhow::Error) -> bool {
        let error = error.downcast_ref::<ClientError>();
        *destination != Destination::New
            && self.update.is_none()
            && error.is_some_and(|error| matches!(error.status(), Some(404 | 410)) && error.code().is_some())
    }
}

/// Fails if a new page in place of this one would have none of its gates.
pub(super) fn check_gates(page: &PublishedPage, for_new_page: &PageOptions) -> Result<()> {
    if page.gates.is_empty() || for_new_page.password.is_some() {
        return Ok(());
    }
    let gates: Vec<&str> = page.gates.iter().map(|gate| gate.as_str()).collect();
    let text = format!(
        "{} cannot be updated, and a new page would lack its {}; add --password or --new",
        page.url,
        gates.join(" and ")
    );
    Err(WrongUse(text).into())
}
