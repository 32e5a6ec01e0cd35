//! Reads HTML as browsers do: tokens, tags, element names and character references. It judges and changes nothing.

pub mod character_references;
mod elements;
mod name_key;
mod raw_text;
mod tag;
mod tokens;
mod visible_text;

pub use elements::{Element, Name};
pub use tag::{Tag, local};
pub use tokens::{Token, Tokens};
pub use visible_text::visible_text;
