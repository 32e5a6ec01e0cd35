//! The pages of people who have signed in, and the small ones around signing in. All share a shell: the head, the
//! navigation, a word about what was just done.

pub mod apps;
pub mod consent;
mod shell;

pub use shell::{Done, Section, Shell};
