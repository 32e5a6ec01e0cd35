//! Taking a page down for abuse. It is gone for viewers at once and never comes back. Decisions §2.8, §6.3.

use crate::app::App;
use crate::sites::TRIES;
use dropleaf_core::audit::Act;
use dropleaf_core::site::{Site, State};
use dropleaf_core::{Error, Result, takedown};
use dropleaf_store::{DbError, reports, sites};

#[derive(Debug, Clone)]
pub struct TakenDown {
    pub site: Site,
    /// Somebody had done it before; nothing was changed.
    pub already: bool,
}

impl App {
    /// `name` is an id, a slug, a token or an address of the page.
    pub async fn take_down(&self, actor: &str, name: &str, reason: &str) -> Result<TakenDown> {
        let reason = takedown::reason(reason)?;
        let unknown = || Error::not_found("page");
        let name = takedown::page_named(name, &self.hosts).ok_or_else(unknown)?;
        for _ in 0..TRIES {
            let site = self.find_named(&name).await?.ok_or_else(unknown)?;
            if site.state == State::TakenDown {
                return Ok(TakenDown { site, already: true });
            }
            let erase = takedown::erases(&site);
            let versions = if erase { self.store.list_versions(&site.id).await? } else { Vec::new() };
            let (next, mut stmts) = self.ended(&site, State::TakenDown, erase);
            stmts.push(reports::close(&site.id, self.now()));
            stmts.push(self.audited(actor, Act::TakeDown, &site.id, Some(reason.clone())));
            match self.commit_site(stmts, Some(&site), &next).await {
                Ok(()) => {
                    let bundles: Vec<_> = versions.iter().map(|version| version.bundle_id.clone()).collect();
                    if erase {
                        self.erase_now(&site.id, &bundles).await;
                    }
                    return Ok(TakenDown { site: next, already: false });
                }
                Err(DbError::Guard(sites::CHANGED)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(self.guard_error(DbError::Guard(sites::CHANGED), None))
    }
}
