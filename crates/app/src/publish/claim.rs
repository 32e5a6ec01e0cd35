//! Claims an anonymous page permanently for an account. Spec §3.

use super::CONFLICT_RETRIES;
use crate::app::App;
use dropleaf_core::account::Account;
use dropleaf_core::site::{Site, State};
use dropleaf_core::{Code, Error, Result, secret};
use dropleaf_store::{DbError, accounts, sites};

impl App {
    pub async fn claim_site(&self, account: &Account, name: &str, token: &str) -> Result<Site> {
        let plan = self.plan_of(account);
        for _ in 0..CONFLICT_RETRIES {
            let site = self.find_site_by_name(name).await?.ok_or_else(|| Error::not_found("site"))?;
            match site.state_at(self.now()) {
                State::Live => {}
                State::Expired => {
                    return Err(Error::new(
                        Code::Expired,
                        "The page has expired and can no longer be claimed.",
                    ));
                }
                State::Deleted | State::Burnt | State::TakenDown => return Err(Error::not_found("site")),
            }
            match &site.account_id {
                // The response to the first claim may have been lost, so claiming one's own page again succeeds.
                Some(owner) if *owner == account.id && site.claimed_at.is_some() => return Ok(site),
                Some(owner) if *owner == account.id => return Err(Error::plain(Code::InvalidClaimToken)),
                Some(_) => return Err(Error::plain(Code::AlreadyClaimed)),
                None => {}
            }
            // Decided on the same row as the owner: a row read again could have been claimed in between, and the loser of a
            // race would be told that its token is wrong.
            if !is_claimable(&site, token) {
                return Err(Error::plain(Code::InvalidClaimToken));
            }
            let now = self.now();
            let next = Site {
                account_id: Some(account.id.clone()),
                claim_hash: None,
                claimed_at: Some(now),
                expires_at: None,
                // A paid page does not count against the plan. Spec §8.
                counted: !site.is_paid(),
                gate_version: site.gate_version + 1,
                updated_at: site.next_updated_at(now),
                ..site.clone()
            };
            let mut stmts = vec![sites::update(&site, &next)];
            if next.counted {
                stmts.push(accounts::take_page(&account.id, plan.active_pages));
            }
            match self.write_site(stmts, Some(&site), &next).await {
                Ok(()) => return Ok(next),
                Err(DbError::Guard(sites::CHANGED)) => {}
                Err(error) => return Err(self.guard_error(error, Some(&plan))),
            }
        }
        Err(self.guard_error(DbError::Guard(sites::CHANGED), Some(&plan)))
    }

    /// The unowned site with this claim token.
    pub(crate) async fn get_claimable(&self, name: &str, token: &str) -> Result<Site> {
        let site = self.find_site_by_name(name).await?.ok_or_else(|| Error::not_found("site"))?;
        if is_claimable(&site, token) { Ok(site) } else { Err(Error::plain(Code::InvalidClaimToken)) }
    }
}

fn is_claimable(site: &Site, token: &str) -> bool {
    secret::is_well_formed(secret::CLAIM_PREFIX, token)
        && site.account_id.is_none()
        && site.claim_hash == Some(secret::hash(token))
}
