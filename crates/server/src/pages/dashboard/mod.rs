//! The pages of people who have signed in, and the small ones around signing in. All share a shell: the head, the
//! navigation, a word about what was just done.

mod account;
pub mod apps;
pub mod consent;
mod device;
mod shell;
mod sign_in;

pub use account::{AccountPage, PasskeyRow, Passkeys, SessionRow, Usage, account};
pub use device::{Ended, device_ask, device_confirm, device_end};
pub use shell::{Done, Section, Shell};
pub use sign_in::{ConfirmLink, EnterCode, Login, confirm_link, enter_code, login};
