//! Lets owners open their own pages from the dashboard, past the gates and without burning them. A single-use ticket
//! takes them from the dashboard's host to the page's, where it is exchanged for a pass; the two hosts share no cookie.

use crate::app::App;
use dropleaf_core::account::Account;
use dropleaf_core::site::{Site, State};
use dropleaf_core::{Code, Error, Result, owner_ticket, page_address, secret};
use dropleaf_store::owner_tickets::{self, OwnerTicket};
use std::net::IpAddr;

impl App {
    /// The URL that opens the account's own page once, within a minute. With a comment it opens the document that the
    /// comment is about, and the toolbar shows the place.
    pub async fn create_owner_ticket(
        &self,
        account: &Account,
        id: &str,
        comment: Option<&str>,
    ) -> Result<String> {
        let site = self.get_own_site(account, id).await?;
        match site.state {
            State::Live => {}
            State::Expired => return Err(Error::plain(Code::Expired)),
            State::Deleted => return Err(Error::plain(Code::Deleted)),
            State::Burnt => return Err(Error::plain(Code::Burnt)),
            State::TakenDown => return Err(Error::plain(Code::TakenDown)),
        }
        let item = match comment {
            Some(comment) => Some(self.get_feedback_of(&site, comment).await?),
            None => None,
        };
        let ticket = self.minter.owner_ticket();
        let row = OwnerTicket {
            hash: &secret::hash(&ticket),
            site_id: &site.id,
            account_id: &account.id,
            gate_version: site.gate_version,
        };
        let stmts = vec![
            owner_tickets::insert(row, self.now() + owner_ticket::LIFE),
            owner_tickets::keep_newest(&account.id),
        ];
        self.commit_for_account(&account.id, stmts).await?;
        // Not at a custom domain: until its next check it may point to another server, which would get the ticket.
        let root = self.own_url(&site);
        let Some(item) = item else { return Ok(owner_ticket::address(&root, &ticket)) };
        let path = item.content.page_url.as_deref().map_or("", |url| page_address::path_below(url, &site));
        let address = owner_ticket::address(&format!("{root}{path}"), &ticket);
        Ok(format!("{address}#dropleaf-feedback={}", item.id))
    }

    /// Whether this ticket for this page exists. Read-only; a client with wrong tickets is throttled as guessing.
    pub async fn has_owner_ticket(&self, site: &Site, ticket: &str, ip: Option<IpAddr>) -> Result<bool> {
        self.take_attempt(ip).await?;
        let found = self.store.has_owner_ticket(&secret::hash(ticket), &site.id, self.now()).await?;
        if found {
            self.refund_attempt(ip).await;
        }
        Ok(found)
    }

    /// Whether a viewer has a valid ticket for this page; the ticket is consumed.
    pub async fn take_owner_ticket(&self, site: &Site, ticket: &str) -> Result<bool> {
        let Some(account_id) = &site.account_id else { return Ok(false) };
        let row = OwnerTicket {
            hash: &secret::hash(ticket),
            site_id: &site.id,
            account_id,
            gate_version: site.gate_version,
        };
        Ok(self.store.take_owner_ticket(row, self.now()).await?)
    }
}
