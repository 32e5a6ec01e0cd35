//! Upload tickets: issued to a caller that may publish, encrypted so that only this server can create them, and valid for
//! one file. Nothing is stored until the file arrives; then the response is, which makes the ticket single-use: the same
//! file again gets the same response, another one is refused.

use crate::accounts::caller::{Caller, Writer};
use crate::accounts::oauth::Identity;
use crate::app::App;
use crate::infra::sealing;
use crate::publish::idempotency::{IdempotentRequest, IdempotentResult};
use crate::publish::upload::Upload;
use crate::publish::{CreatedSite, UpdatedSite, WritableSite};
use dropleaf_core::scope::Scope;
use dropleaf_core::site::Site;
use dropleaf_core::upload_ticket::{LIFE, PREFIX, UploadTicket};
use dropleaf_core::{Code, Error, Result, secret};
use std::net::IpAddr;

/// Associated data of every ticket, so that no other sealed value is accepted as one.
const ABOUT: &[u8] = b"upload-ticket 1";
/// Longer than any ticket: not worth decrypting.
const MOST_CHARS: usize = 16 * 1024;

/// A ticket as issued.
#[derive(Debug, Clone)]
pub struct NewTicket {
    pub text: String,
    pub expires_at: i64,
}

/// A caller with a valid ticket.
#[derive(Debug)]
pub struct OpenedTicket {
    pub who: Identity,
    ticket: UploadTicket,
}

impl OpenedTicket {
    /// Whether the file becomes a new page.
    pub const fn publishes(&self) -> bool {
        self.ticket.site_id.is_none()
    }
}

/// A file received with a ticket.
#[derive(Debug)]
pub struct TicketUpload {
    pub ticketed: OpenedTicket,
    /// From [`App::check_ticket_target`].
    pub place: Option<WritableSite>,
    pub ip: Option<IpAddr>,
    pub upload: Upload,
    /// Hash of the file and its name.
    pub request_hash: [u8; 32],
    /// About fields sent beside the file.
    pub warnings: Vec<String>,
}

impl App {
    /// Issues a ticket to publish, or to replace the content of an own page. What would be refused later is refused now.
    pub async fn issue_ticket(
        &self,
        who: &Identity,
        site: Option<&str>,
        fields: Vec<(String, String)>,
    ) -> Result<NewTicket> {
        let site_id = match site {
            Some(name) => {
                let writer = Writer::Account(who.account.clone(), who.maker.clone());
                Some(self.check_writer(&writer, name, None).await?.id().to_owned())
            }
            None => None,
        };
        // No longer than a second use would be detected.
        let life = LIFE.min(self.settings.retention.idempotency);
        let ticket = UploadTicket {
            nonce: self.minter.token(),
            account_id: who.account.id.clone(),
            principal: who.rate_limit_key.clone(),
            grant_id: who.grant_id.clone(),
            site_id,
            expires_at: self.now() + life,
            fields,
        };
        ticket.check()?;
        let text = self.seal_ticket(&ticket)?;
        Ok(NewTicket { text, expires_at: ticket.expires_at })
    }

    /// Encrypts it again with another nonce while it would end with `-` or `_`: the ticket ends a URL, and programs that
    /// detect links in text drop those characters.
    fn seal_ticket(&self, ticket: &UploadTicket) -> Result<String> {
        loop {
            let sealed = sealing::seal(&self.minter, self.ticket_key(), ABOUT, &ticket.to_bytes())?;
            let text = format!("{PREFIX}{}", secret::text(&sealed));
            if !text.ends_with(['-', '_']) {
                return Ok(text);
            }
        }
    }

    /// The issuer of a ticket, while it is valid and their key or grant is.
    pub async fn open_ticket(&self, text: &str) -> Result<OpenedTicket> {
        let bad = || Error::plain(Code::InvalidUploadAddress);
        let ticket = self.unseal_ticket(text).ok_or_else(bad)?;
        if ticket.is_expired(self.now()) {
            return Err(Error::new(
                Code::InvalidUploadAddress,
                "The upload address has expired. Create a new one and use it in time.",
            ));
        }
        let maker = self.authenticate_creator(&ticket.principal, ticket.grant_id.as_deref()).await?;
        let stands = |who: &Identity| who.account.id == ticket.account_id && who.scopes.has(Scope::Write);
        let who = maker.filter(stands).ok_or_else(|| {
            let why = "The key or token that created this upload address was revoked or has expired.";
            Error::new(Code::InvalidUploadAddress, why)
        })?;
        who.account.check_active()?;
        Ok(OpenedTicket { who, ticket })
    }

    /// The page that the file is for, if it can still be written to; checked before a file is read in vain.
    pub async fn check_ticket_target(&self, ticketed: &OpenedTicket) -> Result<Option<WritableSite>> {
        let Some(id) = &ticketed.ticket.site_id else { return Ok(None) };
        let who = &ticketed.who;
        let writer = Writer::Account(who.account.clone(), who.maker.clone());
        self.check_writer(&writer, id, None).await.map(Some)
    }

    /// Publishes the file of a ticket, or replaces the page's content. The same file again gets the same response.
    pub async fn upload_with_ticket(
        &self,
        arrived: TicketUpload,
        render: impl Fn(&Site, &[String]) -> Vec<u8>,
    ) -> Result<IdempotentResult<UpdatedSite>> {
        let TicketUpload {
            ticketed: OpenedTicket { who, ticket },
            place,
            ip,
            upload,
            request_hash,
            warnings,
        } = arrived;
        let mut options = ticket.options()?;
        options.warnings.extend(warnings);
        let once = IdempotentRequest {
            scope: format!("{}:upload", ticket.account_id),
            key: ticket.nonce,
            request_hash,
        };
        if let Some(name) = ticket.site_id {
            let writer = Writer::Account(who.account, who.maker);
            let place = match place {
                Some(place) => place,
                None => self.check_writer(&writer, &name, ip).await?,
            };
            let render = |updated: &UpdatedSite| render(&updated.site, &updated.warnings);
            return self
                .replace_idempotent(&writer, &name, place, upload, options, Some(&once), render)
                .await;
        }
        let caller = Caller::of(who, ip);
        let render = |created: &CreatedSite| render(&created.site, &created.warnings);
        Ok(match self.create_site(&caller, upload, options, Some(&once), render).await? {
            IdempotentResult::New(CreatedSite { site, warnings, .. }) => {
                IdempotentResult::New(UpdatedSite { site, warnings })
            }
            IdempotentResult::Replayed { outcome, body } => IdempotentResult::Replayed { outcome, body },
        })
    }

    fn unseal_ticket(&self, text: &str) -> Option<UploadTicket> {
        let sealed = secret::bytes(text.strip_prefix(PREFIX).filter(|rest| rest.len() <= MOST_CHARS)?)?;
        let opened = sealing::open(self.ticket_key(), ABOUT, &sealed).ok()?;
        UploadTicket::from_bytes(&opened)
    }

    fn ticket_key(&self) -> [u8; 32] {
        self.keys.mac("upload-ticket", b"")
    }
}
