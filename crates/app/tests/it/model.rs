//! A model of pages in memory, without a database: the reference for the operations.

use crate::fixture::{DAY, HOUR, PLACES, VERSIONS_KEPT};
use dropleaf_core::Code;
use dropleaf_core::site::Visibility;
use dropleaf_core::site_change::Field;
use std::collections::{BTreeSet, HashMap};

type Outcome = Result<(), Code>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    Live,
    Expired,
    Deleted,
}

#[derive(Debug, Clone)]
pub(crate) struct Page {
    pub(crate) owner: Option<usize>,
    pub(crate) claimed: bool,
    pub(crate) slug: Option<u8>,
    pub(crate) visibility: Visibility,
    pub(crate) stage: Stage,
    pub(crate) expires_at: Option<i64>,
    ended_at: Option<i64>,
    purged_at: Option<i64>,
    /// Newest last.
    pub(crate) versions: Vec<u8>,
    forgotten: bool,
}

/// What a viewer sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum View {
    Nothing,
    Gone(Code),
    Guarded,
    Body(u8),
}

#[derive(Debug, Clone)]
pub(crate) struct Model {
    pub(crate) now: i64,
    pub(crate) pages: Vec<Page>,
    /// Who holds a slug: the page, its account, and until when once it is released.
    names: HashMap<u8, (usize, usize, Option<i64>)>,
}

impl Page {
    fn is_past(&self, now: i64) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
    }

    fn stage_at(&self, now: i64) -> Stage {
        if self.stage == Stage::Live && self.is_past(now) { Stage::Expired } else { self.stage }
    }
}

impl Model {
    pub(crate) fn new(now: i64) -> Self {
        Self { now, pages: Vec::new(), names: HashMap::new() }
    }

    /// Places taken: a page counts until it is recorded as ended.
    pub(crate) fn taken(&self, who: usize) -> usize {
        self.pages.iter().filter(|page| page.owner == Some(who) && page.stage == Stage::Live).count()
    }

    fn check_page_limit(&self, who: usize) -> Outcome {
        if self.taken(who) < PLACES { Ok(()) } else { Err(Code::PlanPageLimit) }
    }

    fn check_slug(&self, name: u8, page: usize, who: usize) -> Outcome {
        match self.names.get(&name) {
            None => Ok(()),
            Some((holder, _, _)) if *holder == page => Ok(()),
            Some((_, account, Some(until))) if *account == who || *until <= self.now => Ok(()),
            Some(_) => Err(Code::SlugTaken),
        }
    }

    fn let_go(&mut self, name: Option<u8>, page: usize) {
        let until = self.now + 90 * DAY;
        if let Some((holder, _, held)) = name.and_then(|name| self.names.get_mut(&name))
            && *holder == page
            && held.is_none()
        {
            *held = Some(until);
        }
    }

    fn end_expired_of(&mut self, who: usize) {
        for page in 0..self.pages.len() {
            if self.pages[page].owner == Some(who) {
                self.expire(page);
            }
        }
    }

    fn expire(&mut self, page: usize) {
        let now = self.now;
        let page = &mut self.pages[page];
        if page.stage == Stage::Live && page.is_past(now) {
            page.stage = Stage::Expired;
            page.ended_at = Some(now);
        }
    }

    pub(crate) fn publish(
        &mut self,
        who: Option<usize>,
        slug: Option<u8>,
        hours: Option<i64>,
        body: u8,
    ) -> Outcome {
        if let Some(who) = who {
            if self.check_page_limit(who).is_err() {
                self.end_expired_of(who);
            }
            self.check_page_limit(who)?;
            if let Some(name) = slug {
                self.check_slug(name, self.pages.len(), who)?;
                self.names.insert(name, (self.pages.len(), who, None));
            }
        }
        let asked = hours.map(|hours| self.now + hours * HOUR);
        let longest = self.now + DAY;
        self.pages.push(Page {
            owner: who,
            claimed: false,
            slug,
            visibility: if slug.is_some() { Visibility::Public } else { Visibility::Unlisted },
            stage: Stage::Live,
            expires_at: if who.is_some() { asked } else { Some(asked.unwrap_or(longest).min(longest)) },
            ended_at: None,
            purged_at: None,
            versions: vec![body],
            forgotten: false,
        });
        Ok(())
    }

    /// The page, if it exists and belongs to this account.
    fn own(&self, page: usize, who: usize) -> Result<&Page, Code> {
        let found = &self.pages[page];
        if found.forgotten || found.owner != Some(who) { Err(Code::NotFound) } else { Ok(found) }
    }

    pub(crate) fn replace(&mut self, page: usize, who: usize, body: u8) -> Outcome {
        match self.own(page, who)?.stage_at(self.now) {
            Stage::Live => {}
            Stage::Expired => return Err(Code::Expired),
            Stage::Deleted => return Err(Code::NotFound),
        }
        let versions = &mut self.pages[page].versions;
        versions.push(body);
        let extra = versions.len().saturating_sub(VERSIONS_KEPT);
        versions.drain(..extra);
        Ok(())
    }

    /// Changes settings; only the fields sent.
    pub(crate) fn change(
        &mut self,
        page: usize,
        who: usize,
        visibility: Option<Visibility>,
        slug: Field<u8>,
        expiry: &Field<i64>,
    ) -> Outcome {
        let before = self.own(page, who)?.clone();
        if before.stage == Stage::Deleted || before.purged_at.is_some() {
            return Err(Code::NotFound);
        }
        let mut after = before.clone();
        let slug_sent = !slug.is_absent();
        let names_slug = matches!(slug, Field::Value(_));
        after.slug = slug.over(before.slug);
        let is_private = matches!(visibility, Some(Visibility::Unlisted | Visibility::Burn));
        if names_slug && is_private && after.slug != before.slug {
            return Err(Code::InvalidField);
        }
        after.visibility = match (visibility, before.visibility) {
            // As when a page is published with a slug.
            (None, Visibility::Unlisted) if names_slug => Visibility::Public,
            (sent, before) => sent.unwrap_or(before),
        };
        if after.visibility == Visibility::Public && after.slug.is_none() {
            if !slug_sent || visibility.is_some() {
                return Err(Code::SlugRequired);
            }
            after.visibility = Visibility::Unlisted;
        }
        match expiry {
            Field::Absent => {}
            Field::Null => after.expires_at = None,
            Field::Value(hours) => after.expires_at = Some(self.now + hours * HOUR),
        }
        if before.stage == Stage::Expired && !after.is_past(self.now) {
            self.check_page_limit(who)?;
            after.stage = Stage::Live;
            after.ended_at = None;
        }
        if after.slug != before.slug {
            if let Some(name) = after.slug {
                self.check_slug(name, page, who)?;
            }
            self.let_go(before.slug, page);
            if let Some(name) = after.slug {
                self.names.insert(name, (page, who, None));
            }
        }
        self.pages[page] = after;
        Ok(())
    }

    pub(crate) fn delete(&mut self, page: usize, who: usize, purge: bool) -> Outcome {
        let found = self.own(page, who)?;
        if found.purged_at.is_some() || (found.stage == Stage::Deleted && !purge) {
            return Err(Code::NotFound);
        }
        let (now, slug) = (self.now, found.slug);
        self.let_go(slug, page);
        let page = &mut self.pages[page];
        page.stage = Stage::Deleted;
        page.ended_at.get_or_insert(now);
        if purge {
            page.purged_at = Some(now);
            page.versions.clear();
        }
        Ok(())
    }

    pub(crate) fn restore(&mut self, page: usize, who: usize) -> Outcome {
        let found = self.own(page, who)?;
        let in_time = found.ended_at.is_some_and(|at| self.now < at + 30 * DAY);
        match found.stage_at(self.now) {
            Stage::Live => return Ok(()),
            Stage::Deleted if found.purged_at.is_none() && in_time => {}
            Stage::Deleted => return Err(Code::NotRestorable),
            Stage::Expired => return Err(Code::Expired),
        }
        let mut after = found.clone();
        if after.is_past(self.now) {
            after.stage = Stage::Expired;
        } else {
            self.check_page_limit(who)?;
            after.stage = Stage::Live;
            after.ended_at = None;
        }
        if let Some(name) = after.slug {
            if self.check_slug(name, page, who).is_ok() {
                self.names.insert(name, (page, who, None));
            } else {
                after.slug = None;
                if after.visibility == Visibility::Public {
                    after.visibility = Visibility::Unlisted;
                }
            }
        }
        self.pages[page] = after;
        Ok(())
    }

    pub(crate) fn claim(&mut self, page: usize, who: usize, good: bool) -> Outcome {
        let found = &self.pages[page];
        if found.forgotten {
            return Err(Code::NotFound);
        }
        match found.stage_at(self.now) {
            Stage::Live => {}
            Stage::Expired => return Err(Code::Expired),
            Stage::Deleted => return Err(Code::NotFound),
        }
        match found.owner {
            Some(owner) if owner == who && found.claimed => return Ok(()),
            Some(owner) if owner == who => return Err(Code::InvalidClaimToken),
            Some(_) => return Err(Code::AlreadyClaimed),
            None if !good => return Err(Code::InvalidClaimToken),
            None => {}
        }
        self.check_page_limit(who)?;
        let page = &mut self.pages[page];
        page.owner = Some(who);
        page.claimed = true;
        page.expires_at = None;
        Ok(())
    }

    pub(crate) fn sweep(&mut self) {
        for page in 0..self.pages.len() {
            self.expire(page);
        }
        let now = self.now;
        for number in 0..self.pages.len() {
            let page = &self.pages[number];
            let keep = if page.owner.is_some() { 30 * DAY } else { DAY };
            if page.purged_at.is_none() && page.ended_at.is_some_and(|at| at <= now - keep) {
                let slug = page.slug;
                self.let_go(slug, number);
                let page = &mut self.pages[number];
                page.purged_at = Some(now);
                page.versions.clear();
            }
        }
        self.names.retain(|_, (_, _, held)| held.is_none_or(|until| until > now));
        for page in &mut self.pages {
            page.forgotten |= page.purged_at.is_some_and(|at| at <= now - 365 * DAY);
        }
    }

    pub(crate) fn view(&self, page: usize) -> View {
        let page = &self.pages[page];
        if page.forgotten {
            return View::Nothing;
        }
        match page.stage_at(self.now) {
            Stage::Deleted => View::Gone(Code::Deleted),
            Stage::Expired => View::Gone(Code::Expired),
            Stage::Live if page.visibility == Visibility::Burn => View::Guarded,
            Stage::Live => View::Body(*page.versions.last().unwrap()),
        }
    }

    pub(crate) fn view_name(&self, name: u8) -> View {
        let public = |page: &Page| page.visibility == Visibility::Public && page.slug == Some(name);
        match self.names.get(&name) {
            Some((page, _, _)) if public(&self.pages[*page]) => self.view(*page),
            _ => View::Nothing,
        }
    }

    /// The live pages in an account's list.
    pub(crate) fn listed(&self, who: usize) -> BTreeSet<usize> {
        let live = |page: &Page| page.owner == Some(who) && page.stage_at(self.now) == Stage::Live;
        (0..self.pages.len()).filter(|page| live(&self.pages[*page])).collect()
    }

    /// The bodies that some version still references.
    pub(crate) fn kept_bodies(&self) -> BTreeSet<u8> {
        self.pages.iter().flat_map(|page| page.versions.iter().copied()).collect()
    }
}
