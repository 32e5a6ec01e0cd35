//! The pages for signed-in people, and those around signing in. All share a shell: header, navigation, and a message about
//! what was just done.

mod account;
mod appeal;
mod apps;
mod badge;
mod billing;
mod changes;
mod claim;
mod device;
mod domain;
mod domains;
mod feedback;
mod figures;
mod keys;
mod list;
mod page;
mod refused;
mod shell;
mod sign_in;
mod unlock;
mod upload;
mod webhook;
mod webhook_text;
mod webhooks;

pub use account::{
    AccountPage, MovementRow, PasskeyRow, Passkeys, PlanUsage, SessionRow, UnlockRow, account,
};
pub use appeal::{AppealView, appeal};
pub use apps::{Consent, apps, consent};
pub use billing::{BillingPage, BillingProblem, Bought, TopUpLimits, UnlockOffer, UnlockState, billing};
pub use changes::{ChangesPage, ComparedVersion, changes};
pub use claim::{Claim, claim};
pub use device::{DeviceAnswer, device_ask, device_confirm, device_end};
pub use domain::{DomainPage, domain};
pub use domains::{CertificateRow, DomainOffer, DomainPlan, DomainRow, DomainsPage, PageChoice, domains};
pub use feedback::{FeedbackOutcome, FeedbackPage, ThreadRow, feedback, feedback_fragment};
pub use keys::{CreatedKey, KeyRow, Keys, keys};
pub use list::{PageCard, PageList, list};
pub use page::{PageView, ShareLinkRow, VersionRow, page};
pub use refused::{Attempt, RefusedForm};
pub use shell::{Done, Section, Shell};
pub use sign_in::{ConfirmLink, EnterCode, Login, confirm_link, enter_code, login};
pub use unlock::{UnlockPage, unlock};
pub use upload::{UploadView, upload};
pub use webhook::{WebhookPage, webhook};
pub use webhooks::{WebhooksPage, webhooks};

#[cfg(test)]
mod billing_tests;
#[cfg(test)]
mod domains_tests;
#[cfg(test)]
pub(crate) mod pages_tests;
