//! A site: one published page or archive, with its state and its names (id, token, slug). Spec §2, §3.

use crate::feedback_thread::FeedbackVisible;

/// Who can find the page. Spec §1.3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visibility {
    Unlisted,
    Public,
    Burn,
}

impl Visibility {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unlisted => "unlisted",
            Self::Public => "public",
            Self::Burn => "burn",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "unlisted" => Some(Self::Unlisted),
            "public" => Some(Self::Public),
            "burn" => Some(Self::Burn),
            _ => None,
        }
    }
}

/// The stored state. A page past its expiry may still be `Live` until the expiry sweep runs: use [`Site::state_at`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Live,
    Expired,
    Deleted,
    Burnt,
    TakenDown,
}

impl State {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Expired => "expired",
            Self::Deleted => "deleted",
            Self::Burnt => "burnt",
            Self::TakenDown => "taken_down",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "live" => Some(Self::Live),
            "expired" => Some(Self::Expired),
            "deleted" => Some(Self::Deleted),
            "burnt" => Some(Self::Burnt),
            "taken_down" => Some(Self::TakenDown),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    pub id: String,
    pub token: String,
    /// The first label of the site's own host.
    pub host_label: String,
    pub account_id: Option<String>,
    /// Also kept while the site is not public, so that it can become public again under the same slug.
    pub slug: Option<String>,
    pub visibility: Visibility,
    pub state: State,
    pub title: String,
    /// Whether the title was set by the owner; otherwise it follows the content.
    pub title_set: bool,
    pub version: i64,
    /// `None` once the content is erased.
    pub bundle_id: Option<String>,
    pub byte_size: i64,
    pub created_at: i64,
    pub updated_at: i64,
    pub expires_at: Option<i64>,
    pub agentation: bool,
    /// Open pages update when a new version is published.
    pub live: bool,
    /// The first version whose text viewers may compare with later ones; `None` if they may not.
    pub changes_since: Option<i64>,
    pub csp_strict: bool,
    pub e2e: bool,
    /// Navigations to unknown paths get `index.html`; derived from the content.
    pub spa: bool,
    pub password_hash: Option<String>,
    pub email_gate_domain: Option<String>,
    /// Incremented with every change of a gate, which invalidates earlier passes.
    pub gate_version: i64,
    pub claim_hash: Option<[u8; 32]>,
    pub claimed_at: Option<i64>,
    /// Whether it counts against its account's plan.
    pub counted: bool,
    pub ended_at: Option<i64>,
    pub purged_at: Option<i64>,
    pub view_count: i64,
    pub last_viewed_at: Option<i64>,
    /// The payment that created it, or the ledger transaction if it was bought from a balance. Such a page does not expire unless its owner sets an expiry, and counts against no plan. Spec
    /// §8.
    pub payment_id: Option<String>,
    /// The wallet that paid, in lower case, if it can prove that later. Spec §5.
    pub wallet: Option<String>,
    /// The verified custom domain that the page's URL shows.
    pub primary_domain: Option<String>,
    /// Which viewers see replies and resolved comments.
    pub feedback_visible: FeedbackVisible,
    /// Since when viewers get a warning before the page, because a signal fired; see [`crate::attention`].
    pub warned_at: Option<i64>,
}

/// What every new site needs; see [`Site::new`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSite {
    pub id: String,
    pub token: String,
    pub host_label: String,
    pub title: String,
    pub bundle_id: String,
    pub byte_size: i64,
    pub spa: bool,
    pub created_at: i64,
}

impl Site {
    /// The first version of an unlisted site without an account, an expiry or a gate.
    pub fn new(new: NewSite) -> Self {
        Self {
            id: new.id,
            token: new.token,
            host_label: new.host_label,
            account_id: None,
            slug: None,
            visibility: Visibility::Unlisted,
            state: State::Live,
            title: new.title,
            title_set: false,
            version: 1,
            bundle_id: Some(new.bundle_id),
            byte_size: new.byte_size,
            created_at: new.created_at,
            updated_at: new.created_at,
            expires_at: None,
            agentation: false,
            live: false,
            changes_since: None,
            csp_strict: false,
            e2e: false,
            spa: new.spa,
            password_hash: None,
            email_gate_domain: None,
            gate_version: 1,
            claim_hash: None,
            claimed_at: None,
            counted: false,
            ended_at: None,
            purged_at: None,
            view_count: 0,
            last_viewed_at: None,
            payment_id: None,
            wallet: None,
            primary_domain: None,
            feedback_visible: FeedbackVisible::default(),
            warned_at: None,
        }
    }

    pub fn state_at(&self, now: i64) -> State {
        match self.state {
            State::Live if self.expires_at.is_some_and(|at| at <= now) => State::Expired,
            state => state,
        }
    }

    pub const fn is_paid(&self) -> bool {
        self.payment_id.is_some()
    }

    /// Whether its settings can be changed; a new expiry revives an expired page that still has its content.
    pub const fn is_editable(&self) -> bool {
        matches!(self.state, State::Live | State::Expired) && self.purged_at.is_none()
    }

    pub const fn has_gate(&self) -> bool {
        self.password_hash.is_some() || self.email_gate_domain.is_some()
    }

    /// Whether viewers may comment. A burn-after-read page has only one viewer.
    pub fn takes_feedback(&self) -> bool {
        self.agentation && self.visibility != Visibility::Burn
    }

    /// Whether open pages follow new versions. A burn-after-read page is never loaded twice.
    pub fn updates_live(&self) -> bool {
        self.live && self.visibility != Visibility::Burn
    }

    /// Whether viewers can see what changed between versions. A burn-after-read page is read once.
    pub fn shows_changes(&self) -> bool {
        self.changes_since.is_some() && self.visibility != Visibility::Burn
    }

    /// The timestamp for a change made now: strictly later than the previous one, so that `expected_updated_at` is a reliable
    /// check.
    pub fn next_updated_at(&self, now: i64) -> i64 {
        now.max(self.updated_at + 1)
    }
}

/// A caller's `{idOrSlug}`, classified by its form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SiteName<'a> {
    Id(&'a str),
    /// A token, or failing that a slug: 22 characters can be either.
    TokenOrSlug(&'a str),
    Slug(&'a str),
}

impl<'a> SiteName<'a> {
    pub fn parse(text: &'a str) -> Option<Self> {
        if text.starts_with("site_") && text.len() == 25 {
            return Some(Self::Id(text));
        }
        if is_token(text) {
            return Some(Self::TokenOrSlug(text));
        }
        let slug_like =
            (3..=63).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        slug_like.then_some(Self::Slug(text))
    }
}

/// Whether the text has the form of a page token: 22 characters of base64url.
pub fn is_token(text: &str) -> bool {
    text.len() == 22 && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart_by_shape() {
        assert!(matches!(SiteName::parse("site_abcdefghij0123456789"), Some(SiteName::Id(_))));
        assert!(matches!(SiteName::parse("my-report"), Some(SiteName::Slug(_))));
        assert!(matches!(SiteName::parse("AAAAAAAAAAAAAAAAAAAAAA"), Some(SiteName::TokenOrSlug(_))));
        for bad in ["", "a", "../etc", "a b c", "site_short"] {
            assert_eq!(SiteName::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn live_and_expired_pages_with_content_are_editable() {
        let site = |state, purged_at| Site { state, purged_at, ..crate::site_change::tests::site() };
        assert!(site(State::Live, None).is_editable() && site(State::Expired, None).is_editable());
        assert!(!site(State::Expired, Some(1)).is_editable());
        for ended in [State::Deleted, State::Burnt, State::TakenDown] {
            assert!(!site(ended, None).is_editable(), "{ended:?}");
        }
    }

    #[test]
    fn a_password_or_an_email_domain_is_a_gate() {
        let open = Site { password_hash: None, email_gate_domain: None, ..crate::site_change::tests::site() };
        assert!(!open.has_gate());
        assert!(Site { password_hash: Some("h".into()), ..open.clone() }.has_gate());
        assert!(Site { email_gate_domain: Some("example.org".into()), ..open }.has_gate());
    }

    #[test]
    fn every_state_and_visibility_reads_back() {
        for state in [State::Live, State::Expired, State::Deleted, State::Burnt, State::TakenDown] {
            assert_eq!(State::parse(state.as_str()), Some(state));
        }
        for visibility in [Visibility::Unlisted, Visibility::Public, Visibility::Burn] {
            assert_eq!(Visibility::parse(visibility.as_str()), Some(visibility));
        }
    }
}
