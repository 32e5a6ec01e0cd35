//! The shell around every page of the dashboard: stylesheets and scripts, navigation, and the message about what was just
//! done.

use crate::pages::assets::{APP_CSS, APP_JS, DEVICE_CSS};

/// The section of the dashboard that a page belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    Pages,
    Keys,
    Apps,
    Account,
    Operator,
    /// None: signing in, consent, device codes.
    Door,
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
    pub const fn door(form_token: &'a str) -> Self {
        Self {
            section: Section::Door,
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
    ($($variant:ident = $word:literal $(in $part:literal)? : $said:literal;)*) => {
        /// Something that was done. Its word is in the URL (`?done=…`); the message is fixed, so that a link cannot put text
        /// into the dashboard.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Done { $($variant,)* }

        impl Done {
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            pub const fn said(self) -> &'static str {
                match self { $(Self::$variant => $said,)* }
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
    Titled = "titled" in "settings": "Saved. The page has its new title.";
    MadePublic = "public" in "settings": "Saved. The page is public under its name.";
    MadeUnlisted = "unlisted" in "settings": "Saved. Only people with the link can open it.";
    MadeBurn = "burn" in "settings": "Saved. The page can be read once.";
    PasswordSet = "password-set" in "settings": "Saved. The page asks for the new password.";
    PasswordRemoved = "password-removed" in "settings": "The password is gone. The page no longer asks for one.";
    GateSet = "gate-set" in "settings": "Saved. The page asks for an address of that domain.";
    GateRemoved = "gate-removed" in "settings": "The page no longer asks for an e-mail address.";
    ExpirySet = "expiry-set" in "settings": "Saved. The page has its new expiry.";
    Published = "published": "Published. Your page is online.";
    Replaced = "replaced" in "content": "Replaced. The link shows the new version.";
    RolledBack = "rolled-back" in "versions": "The earlier version is back.";
    Deleted = "deleted": "Deleted. You can still bring it back.";
    Restored = "restored": "Restored. The link works again.";
    Claimed = "claimed": "The page is yours now.";
    LinkMade = "link-made" in "share-links": "The share link is ready.";
    LinkRevoked = "link-revoked" in "share-links": "The share link no longer works.";
    Resolved = "resolved" in "feedback": "Marked as resolved.";
    CommentDeleted = "comment-deleted" in "feedback": "The comment is deleted.";
    KeyRevoked = "key-revoked" in "keys": "The key no longer works.";
    AppRevoked = "app-revoked" in "apps": "The app no longer has access.";
    SessionEnded = "session-ended" in "account-sessions": "That browser is signed out.";
    SessionsEnded = "sessions-ended" in "account-sessions": "Every other browser is signed out.";
    PasskeyAdded = "passkey-added" in "account-passkeys": "The passkey is ready for your next sign-in.";
    PasskeyRemoved = "passkey-removed" in "account-passkeys": "The passkey no longer works here.";
    TakenDown = "taken-down": "The page is taken down.";
    TakenDownHeld = "taken-down-held": "The page is taken down, and its account is suspended.";
    EvidenceErased = "evidence-erased": "The evidence is erased.";
    Forgotten = "forgotten": "The content may be published again. The page itself stays down.";
    Dismissed = "dismissed": "The reports are closed. The page stays.";
    PaymentSettled = "payment-settled": "Booked: the money moved. What it buys is made by itself.";
    PaymentSettledBare = "payment-settled-bare": "Booked: the money moved. The page is made when the payer sends the request again.";
    PaymentAsked = "payment-asked": "Asked. What is known now is below.";
    PaymentRefunded = "payment-refunded": "Closed: the money was sent back. What waited for it is let go.";
    PaymentRefused = "payment-refused": "Booked: no money moved. What waited for it is let go.";
    PlanSet = "plan-set": "The account is on its new plan.";
    Allowed = "allowed": "Allowed. The checks have nothing against the same content from now on; its publisher reads your answer.";
    Upheld = "upheld": "It stays refused. Its publisher reads your answer.";
    UpheldSeveral = "upheld-several": "They stay refused. Their publishers read your answer.";
    Disallowed = "disallowed": "No longer allowed. The content is checked as any other; what is published stays.";
    Suspended = "suspended": "The account is suspended. Its pages are not shown.";
    Lifted = "lifted": "The suspension is lifted. The account's pages are back.";
}
