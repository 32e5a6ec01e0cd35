//! Applies a `PATCH` to a site: only the fields sent change, and the result must be consistent. Spec §3, §4.

use crate::expiry::{self, Lifetime};
use crate::feedback_thread::FeedbackVisible;
use crate::plan::Plan;
use crate::site::{Site, Visibility};
use crate::slug::Slug;
use crate::{Code, Error, Result};

/// A field of a PATCH: not sent, sent as null, or sent with a value.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Field<T> {
    #[default]
    Absent,
    Null,
    Value(T),
}

impl<T> Field<T> {
    pub const fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    /// The value; none if it is absent or null.
    pub fn value(self) -> Option<T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Absent | Self::Null => None,
        }
    }

    /// The same field with its value parsed.
    pub fn try_map<U>(self, parse: impl FnOnce(T) -> Result<U>) -> Result<Field<U>> {
        Ok(match self {
            Self::Absent => Field::Absent,
            Self::Null => Field::Null,
            Self::Value(value) => Field::Value(parse(value)?),
        })
    }

    /// The new value, given the current one: null clears it.
    pub fn over(self, current: Option<T>) -> Option<T> {
        match self {
            Self::Absent => current,
            Self::Null => None,
            Self::Value(value) => Some(value),
        }
    }
}

/// The settings of a site that an owner may change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SiteChange {
    pub slug: Field<Slug>,
    pub visibility: Option<Visibility>,
    /// The hash of the password sent; hashing is done by the caller.
    pub password_hash: Field<String>,
    pub lifetime: Option<Lifetime>,
    pub email_gate_domain: Field<String>,
    pub agentation: Option<bool>,
    pub live: Option<bool>,
    /// Whether viewers can see what changed between versions.
    pub show_changes: Option<bool>,
    pub csp_strict: Option<bool>,
    pub feedback_visible: Option<FeedbackVisible>,
    /// Null: the title follows the content again, from the next update.
    pub title: Field<String>,
    /// The wallet that paid for the page loses the right to replace it.
    pub ends_wallet: bool,
}

impl SiteChange {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether viewers may compare only versions from now on: the setting is turned on, or the page gets other viewers, who
    /// must not see what it said before they could open it.
    pub fn restarts_changes(&self, site: &Site) -> bool {
        let is_turned_on = self.show_changes == Some(true) && site.changes_since.is_none();
        let is_gate_changed = !self.password_hash.is_absent() || !self.email_gate_domain.is_absent();
        let is_moved = self.visibility.is_some_and(|visibility| visibility != site.visibility);
        let is_named = matches!(self.slug, Field::Value(_)) && site.visibility == Visibility::Unlisted;
        is_turned_on || is_gate_changed || is_moved || is_named
    }

    /// The site after the change. `plan` is the owner's; on a site without an owner only the content can change.
    pub fn apply(self, site: &Site, plan: &Plan, now: i64) -> Result<(Site, Vec<String>)> {
        let mut next = site.clone();
        let restarts_changes = self.restarts_changes(site);
        let mut warnings = Vec::new();
        let slug_sent = !self.slug.is_absent();
        let names_slug = matches!(self.slug, Field::Value(_));
        next.slug = self.slug.over(site.slug.clone().map(Slug::parse_stored)).map(Slug::into_string);
        let is_private = matches!(self.visibility, Some(Visibility::Unlisted | Visibility::Burn));
        if names_slug && is_private && next.slug != site.slug {
            return Err(Error::field("slug", "is for public pages only: omit it, or send visibility=public"));
        }
        next.visibility = match (self.visibility, site.visibility) {
            // Consistent with the `slug` field of an upload.
            (None, Visibility::Unlisted) if names_slug => Visibility::Public,
            (sent, before) => sent.unwrap_or(before),
        };
        match (next.visibility, &next.slug) {
            (Visibility::Public, None) if slug_sent && self.visibility.is_none() => {
                next.visibility = Visibility::Unlisted;
            }
            (Visibility::Public, None) => return Err(Error::plain(Code::SlugRequired)),
            (Visibility::Public, Some(_)) | (_, None) => {}
            (_, Some(slug)) if slug_sent => {
                warnings.push(format!(
                    "The slug {slug} is reserved for this page. Send visibility=public to use it."
                ));
            }
            (_, Some(_)) => {}
        }
        if let Some(lifetime) = self.lifetime {
            // A paid page has no maximum lifetime. Spec §8.
            let unlimited = Plan::unlimited();
            let plan = if site.is_paid() { &unlimited } else { plan };
            next.expires_at = expiry::owned(lifetime, plan, site.created_at, now)?;
        }
        next.agentation = self.agentation.unwrap_or(site.agentation);
        next.live = self.live.unwrap_or(site.live);
        let changes_since = if restarts_changes { Some(site.version) } else { site.changes_since };
        let is_shown = self.show_changes.unwrap_or(site.changes_since.is_some());
        next.changes_since = changes_since.filter(|_| is_shown);
        next.csp_strict = self.csp_strict.unwrap_or(site.csp_strict);
        next.title_set = match &self.title {
            Field::Absent => site.title_set,
            Field::Null => false,
            Field::Value(_) => true,
        };
        next.feedback_visible = self.feedback_visible.unwrap_or(site.feedback_visible);
        next.title = self.title.value().unwrap_or_else(|| site.title.clone());
        if !self.password_hash.is_absent() || !self.email_gate_domain.is_absent() {
            next.gate_version += 1;
        }
        next.password_hash = self.password_hash.over(site.password_hash.clone());
        next.email_gate_domain = self.email_gate_domain.over(site.email_gate_domain.clone());
        if self.ends_wallet {
            next.wallet = None;
        }
        next.updated_at = site.next_updated_at(now);
        Ok((next, warnings))
    }
}

/// Normalizes a title: one line, at most 200 characters.
pub fn title(text: &str) -> Result<String> {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.is_empty() || line.chars().count() > 200 || line.chars().any(char::is_control) {
        return Err(Error::field("title", "must be 1 to 200 characters on one line"));
    }
    Ok(line)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::site::NewSite;

    pub(crate) fn site() -> Site {
        let new = NewSite {
            id: "site_1".into(),
            token: "t".into(),
            host_label: "s-x".into(),
            title: "A".into(),
            bundle_id: "bun_1".into(),
            byte_size: 1,
            spa: false,
            created_at: 100,
        };
        Site { account_id: Some("acct_1".into()), counted: true, expires_at: Some(500), ..Site::new(new) }
    }

    fn pro() -> Plan {
        Plan {
            name: "pro".into(),
            active_pages: None,
            longest_life_seconds: None,
            publishes_a_day: None,
            executables: true,
            custom_domains: true,
        }
    }

    #[test]
    fn unsent_fields_stay_as_they_are() {
        let change = SiteChange { agentation: Some(true), ..SiteChange::default() };
        let (next, warnings) = change.apply(&site(), &pro(), 100).unwrap();
        assert_eq!(next, Site { agentation: true, updated_at: 101, ..site() });
        assert!(warnings.is_empty());
    }

    #[test]
    fn a_paid_page_knows_no_longest_life() {
        let free = Plan { longest_life_seconds: Some(60), ..pro() };
        let paid = Site { payment_id: Some("pay_1".into()), ..site() };
        for lifetime in [Lifetime::Never, Lifetime::Seconds(1000)] {
            let change = SiteChange { lifetime: Some(lifetime), ..SiteChange::default() };
            assert_eq!(change.clone().apply(&site(), &free, 100).unwrap_err().code, Code::PlanLifetimeLimit);
            assert!(change.apply(&paid, &free, 100).is_ok());
        }
    }

    #[test]
    fn public_without_any_slug_is_refused_and_with_a_kept_one_passes() {
        let public = SiteChange { visibility: Some(Visibility::Public), ..SiteChange::default() };
        assert_eq!(public.clone().apply(&site(), &pro(), 100).unwrap_err().code, Code::SlugRequired);
        let named = Site { slug: Some("report".into()), ..site() };
        assert_eq!(public.apply(&named, &pro(), 100).unwrap().0.visibility, Visibility::Public);
    }

    #[test]
    fn a_slug_makes_an_unlisted_page_public_and_contradicts_a_private_visibility() {
        let slug = || Field::Value(Slug::parse("report").unwrap());
        let alone = SiteChange { slug: slug(), ..SiteChange::default() };
        let (next, warnings) = alone.clone().apply(&site(), &pro(), 100).unwrap();
        assert_eq!((next.visibility, next.slug.as_deref()), (Visibility::Public, Some("report")));
        assert!(warnings.is_empty());
        for visibility in [Visibility::Unlisted, Visibility::Burn] {
            let private = SiteChange { visibility: Some(visibility), ..alone.clone() };
            let error = private.clone().apply(&site(), &pro(), 100).unwrap_err();
            assert!(error.code == Code::InvalidField && error.detail.contains("public pages only"));
            let public = Site { slug: Some("report".into()), visibility: Visibility::Public, ..site() };
            let (next, _) = private.apply(&public, &pro(), 100).unwrap();
            assert_eq!(
                (next.visibility, next.slug),
                (visibility, public.slug),
                "its own name again changes nothing"
            );
        }
        let burning = Site { visibility: Visibility::Burn, ..site() };
        let (next, warnings) = alone.apply(&burning, &pro(), 100).unwrap();
        assert_eq!((next.visibility, warnings.len()), (Visibility::Burn, 1), "a burn page stays one");
        let cleared = SiteChange { slug: Field::Null, ..SiteChange::default() };
        assert_eq!(cleared.apply(&site(), &pro(), 100).unwrap().0.visibility, Visibility::Unlisted);
    }

    #[test]
    fn a_title_of_the_owner_stays_until_it_is_cleared() {
        let titled = |title| SiteChange { title, ..SiteChange::default() };
        let (set, _) = titled(Field::Value("Mine".into())).apply(&site(), &pro(), 100).unwrap();
        assert_eq!((set.title.as_str(), set.title_set), ("Mine", true));
        let (kept, _) = titled(Field::Absent).apply(&set, &pro(), 101).unwrap();
        assert!(kept.title_set);
        let (cleared, _) = titled(Field::Null).apply(&set, &pro(), 102).unwrap();
        assert_eq!((cleared.title.as_str(), cleared.title_set), ("Mine", false), "until the next update");
    }

    #[test]
    fn viewers_compare_versions_from_the_time_they_may() {
        let at = |version, changes_since| Site { version, changes_since, ..site() };
        let since =
            |change: SiteChange, site: &Site| change.apply(site, &pro(), 100).unwrap().0.changes_since;
        let show = |show| SiteChange { show_changes: Some(show), ..SiteChange::default() };
        assert_eq!(since(show(true), &at(4, None)), Some(4), "the versions before stay the owner's");
        assert_eq!(since(show(true), &at(4, Some(2))), Some(2), "it was on already");
        assert_eq!(since(show(false), &at(4, Some(2))), None);
        let title = || SiteChange { title: Field::Value("B".into()), ..SiteChange::default() };
        assert_eq!(since(title(), &at(4, Some(2))), Some(2));
        assert_eq!(since(title(), &at(4, None)), None);
        for other_viewers in [
            SiteChange { password_hash: Field::Null, ..SiteChange::default() },
            SiteChange { email_gate_domain: Field::Value("a.example".into()), ..SiteChange::default() },
            SiteChange { slug: Field::Value(Slug::parse("report").unwrap()), ..SiteChange::default() },
            SiteChange { visibility: Some(Visibility::Burn), ..SiteChange::default() },
        ] {
            assert_eq!(since(other_viewers, &at(4, Some(2))), Some(4));
        }
    }

    #[test]
    fn a_null_clears_and_gates_raise_their_version() {
        let locked = Site { password_hash: Some("h".into()), ..site() };
        let change = SiteChange {
            password_hash: Field::Null,
            lifetime: Some(Lifetime::Never),
            ..SiteChange::default()
        };
        let (next, _) = change.apply(&locked, &pro(), 100).unwrap();
        assert_eq!((next.password_hash, next.expires_at, next.gate_version), (None, None, 2));
    }
}
