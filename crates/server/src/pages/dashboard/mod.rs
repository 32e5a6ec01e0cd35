//! The pages of people who have signed in, and the small ones around signing in. All share a shell: the head, the
//! navigation, a word about what was just done.

mod device;
mod shell;

pub use device::{Ended, device_ask, device_confirm, device_end};
pub use shell::{Done, Section, Shell};
