//! Safe previews for operators who must judge a page without opening it: its text, a defused copy that contacts no
//! other host, and an inventory of its fields and destinations. Nothing here runs or fetches anything.

mod defuse;
mod inventory;
mod visible;

pub use defuse::{defuse_html, defuse_xml};
pub use inventory::{Destination, InputField, Inventory};
pub use visible::visible;

/// Whether files of this media type are readable as text.
pub fn is_text(mime: &str) -> bool {
    let kind = mime.split(';').next().unwrap_or_default().trim();
    kind.starts_with("text/")
        || kind.ends_with("+xml")
        || kind.ends_with("+json")
        || matches!(kind, "application/json" | "application/xml" | "application/javascript")
}
