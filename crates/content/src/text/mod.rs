//! Texts of uploads: their charset, whether bytes are text at all, decoding, and searching them as a stream.

pub(crate) mod bundle_texts;
pub(crate) mod charset;
pub(crate) mod check;
pub(crate) mod dry_run;
pub(crate) mod file_text;
pub(crate) mod search_windows;
pub(crate) mod shorten;
