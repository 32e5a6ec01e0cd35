//! The names that this node serves pages at, held in memory.

use crate::app::App;
use dropleaf_core::Result;

impl App {
    /// Reloads the names after a change.
    #[expect(clippy::unused_async, reason = "nothing is served at custom domains yet")]
    pub async fn served_domains_changed(&self) -> Result<()> {
        Ok(())
    }
}
