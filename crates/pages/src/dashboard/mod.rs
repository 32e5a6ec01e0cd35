//! The pages for signed-in people, and those around signing in. All share a shell: header, navigation, and a message about
//! what was just done.

mod account;
mod appeal;
mod apps;
mod badge;
mod claim;
mod device;
mod figures;
mod keys;
mod list;
mod page;
mod qr;
mod refused;
mod shell;
mod sign_in;
mod upload;

pub use account::{AccountPage, PasskeyRow, Passkeys, SessionRow, UnlockRow, Used, account};
pub use appeal::{AppealView, appeal};
pub use apps::{Consent, apps, consent};
pub use claim::{Claim, claim};
pub use device::{Ended, device_ask, device_confirm, device_end};
pub use keys::{KeyRow, Keys, MadeKey, keys};
pub use list::{Card, List, list};
pub use page::{LinkRow, PageView, VersionRow, page};
pub use refused::{Attempt, RefusedForm};
pub use shell::{Done, Section, Shell};
pub use sign_in::{ConfirmLink, EnterCode, Login, confirm_link, enter_code, login};
pub use upload::{UploadView, upload};

#[cfg(test)]
mod pages_tests;
