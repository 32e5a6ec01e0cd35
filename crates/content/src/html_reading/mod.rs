//! Reads HTML as browsers do: tokens, tags, element names and character references. It judges and changes nothing.

pub(crate) mod character_references;
mod elements;
mod name_key;
mod raw_text;
mod tag;
mod tokens;

pub(crate) use elements::{Element, Name};
pub(crate) use tag::{Tag, local};
pub(crate) use tokens::{Token, Tokens};
