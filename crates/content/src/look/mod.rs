//! What somebody needs who has to judge a page without opening it: its text, a copy that reaches for nothing outside, and
//! what it asks for and where it leads. Nothing here runs or fetches anything.

mod inventory;
mod still;
mod visible;

pub use inventory::{Asked, Destination, Inventory};
pub use still::{still_html, still_xml};
pub use visible::visible;

/// The text of a file in the charset that a browser gets it with.
pub fn text(bytes: Vec<u8>, mime: &str) -> String {
    crate::file_text::decoded(bytes, mime)
}

/// Whether people can read such a file as text.
pub fn is_text(mime: &str) -> bool {
    let kind = mime.split(';').next().unwrap_or_default().trim();
    kind.starts_with("text/")
        || kind.ends_with("+xml")
        || kind.ends_with("+json")
        || matches!(kind, "application/json" | "application/xml" | "application/javascript")
}
