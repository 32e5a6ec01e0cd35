//! The shell around every page of the dashboard: stylesheets and scripts, navigation, and the message about what was just
//! done.

use crate::assets::{APP_CSS, APP_JS, DEVICE_CSS};

/// The section of the dashboard that a page belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    Pages,
    Domains,
    Keys,
    Webhooks,
    Apps,
    Account,
    Operator,
    /// None: signing in, consent, device codes.
    Standalone,
}

/// What every page of the dashboard is rendered with.
#[derive(Debug, Clone, Copy)]
pub struct Shell<'a> {
    pub section: Section,
    /// The person's email address; `None` if not signed in.
    pub email: Option<&'a str>,
    pub is_operator: bool,
    /// Whether the account is suspended, which every page shows.
    pub is_suspended: bool,
    pub form_token: &'a str,
    /// What was just done, after a form redirected here.
    pub done: Option<Done>,
}

impl<'a> Shell<'a> {
    /// The shell of a small page without navigation, for people who are not signed in or whose address is not to be shown.
    pub const fn standalone(form_token: &'a str) -> Self {
        Self {
            section: Section::Standalone,
            email: None,
            is_operator: false,
            is_suspended: false,
            form_token,
            done: None,
        }
    }

    pub fn style(&self) -> String {
        APP_CSS.path()
    }

    pub fn script(&self) -> String {
        APP_JS.path()
    }

    pub fn device_style(&self) -> String {
        DEVICE_CSS.path()
    }

    pub fn is(&self, section: Section) -> bool {
        self.section == section
    }

    /// What was just done in this part of the page; an empty name is the top of the page.
    pub fn done_in(&self, part: &str) -> Option<Done> {
        self.done.filter(|done| done.part() == part)
    }
}

macro_rules! done {
    ($($variant:ident = $word:literal $(in $part:literal)? : $message:literal;)*) => {
        /// Something that was done. Its word is in the URL (`?done=…`); the message is fixed, so that a link cannot put text
        /// into the dashboard.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Done { $($variant,)* }

        impl Done {
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            pub const fn message(self) -> &'static str {
                match self { $(Self::$variant => $message,)* }
            }

            /// The part of the page that shows the message: the one with its form. Empty for the top of the page.
            pub const fn part(self) -> &'static str {
                match self { $(Self::$variant => concat!($($part)?),)* }
            }

            pub fn parse(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

impl Done {
    /// The URL of a page with this message. The fragment points to the message, so that a browser scrolls to it and focuses
    /// it without a script.
    pub fn address(self, page: &str) -> String {
        format!("{page}?done={}#outcome", self.word())
    }
}

done! {
    Saved = "saved" in "settings": "Saved.";
    Titled = "titled" in "settings": "Title saved.";
    MadePublic = "public" in "settings": "Saved. The page is now public.";
    MadeUnlisted = "unlisted" in "settings": "Saved. The page is now unlisted: only people with the link can open it.";
    MadeBurn = "burn" in "settings": "Saved. The page can now be viewed only once.";
    PasswordSet = "password-set" in "settings": "Password saved. Viewers must enter it to open the page.";
    PasswordRemoved = "password-removed" in "settings": "Password removed.";
    GateSet = "gate-set" in "settings": "Saved. Viewers must now confirm an email address at this domain.";
    GateRemoved = "gate-removed" in "settings": "Email gate removed.";
    ExpirySet = "expiry-set" in "settings": "Expiry saved.";
    Published = "published": "Published. Your page is online.";
    Replaced = "replaced" in "content": "Replaced. The link shows the new version.";
    RolledBack = "rolled-back" in "versions": "Version restored.";
    Deleted = "deleted": "Page deleted. You can still restore it.";
    Restored = "restored": "Page restored. The link works again.";
    Claimed = "claimed": "Page claimed. It now belongs to your account.";
    LinkMade = "link-made" in "share-links": "Share link created.";
    LinkRevoked = "link-revoked" in "share-links": "Share link revoked.";
    Resolved = "resolved": "Comment resolved. Viewers other than its author no longer see it.";
    Reopened = "reopened": "Comment reopened.";
    Replied = "replied": "Reply sent.";
    RepliedResolved = "replied-resolved": "Reply sent, comment resolved.";
    ResolveUndone = "resolve-undone": "Undone. The comments are open again.";
    CommentDeleted = "comment-deleted": "Comment deleted.";
    DomainAdded = "domain-added" in "record": "Domain added. Now create this DNS record.";
    DomainChecked = "domain-checked" in "status": "Checked. This is what we found.";
    DomainMoved = "domain-moved" in "domain-page": "Saved. The domain now shows this page.";
    DomainPrimary = "domain-primary" in "domain-primary": "Saved. Links to the page now use this domain.";
    DomainNotPrimary = "domain-not-primary" in "domain-primary": "Saved. Links to the page use its address on this server again.";
    DomainDeleted = "domain-deleted" in "domains": "Domain deleted. You can remove its DNS record.";
    KeyRevoked = "key-revoked" in "keys": "Key revoked.";
    WebhookDeleted = "webhook-deleted" in "webhooks": "Webhook deleted.";
    WebhookTested = "webhook-tested" in "deliveries": "Test event queued. Reload this page to see whether it was delivered.";
    WebhookChanged = "webhook-changed" in "webhook": "Saved.";
    WebhookEnabled = "webhook-enabled" in "webhook": "Webhook enabled.";
    WebhookPaused = "webhook-paused" in "webhook": "Webhook paused. Events that wait are kept.";
    DeliveryRetried = "delivery-retried" in "deliveries": "The delivery is sent again.";
    AppRevoked = "app-revoked" in "apps": "Access revoked.";
    NotifySaved = "notify-saved" in "account-notifications": "Saved.";
    SessionEnded = "session-ended" in "account-sessions": "That browser was signed out.";
    SessionsEnded = "sessions-ended" in "account-sessions": "All other browsers were signed out.";
    PasskeyAdded = "passkey-added" in "account-passkeys": "Passkey added. You can use it the next time you sign in.";
    PasskeyRemoved = "passkey-removed" in "account-passkeys": "Passkey removed.";
    TakenDown = "taken-down": "Page taken down.";
    TakenDownHeld = "taken-down-held": "Page taken down and account suspended.";
    EvidenceErased = "evidence-erased": "Evidence erased.";
    Forgotten = "forgotten": "Content unblocked. It can be published again, but this page stays offline.";
    Dismissed = "dismissed": "Reports dismissed. The page stays online.";
    PaymentSettled = "payment-settled": "Payment marked as settled. The purchase will be fulfilled automatically.";
    PaymentSettledBare = "payment-settled-bare": "Payment marked as settled. The page will be created when the payer sends the \
                                                  request again.";
    RenewalRequested = "renewal-requested": "Renewal requested. The server orders the certificate within a minute; reload this page to see the result.";
    PaymentAsked = "payment-asked": "Checked. The current status is shown below.";
    PaymentRefunded = "payment-refunded": "Payment marked as refunded. The pending purchase was canceled.";
    PaymentRefused = "payment-refused": "Payment marked as not settled. The pending purchase was canceled.";
    PlanSet = "plan-set": "Plan changed.";
    Allowed = "allowed": "Content allowed. The same content is accepted from now on. The publisher can read your reply.";
    Upheld = "upheld": "Refusal upheld. The publisher can read your reply.";
    UpheldSeveral = "upheld-several": "Refusals upheld. The publishers can read your reply.";
    Disallowed = "disallowed": "Approval revoked. The content is checked again from now on. Pages already published stay online.";
    Suspended = "suspended": "Account suspended. Its pages are offline.";
    Lifted = "lifted": "Suspension lifted. The pages of the account are online again.";
}
