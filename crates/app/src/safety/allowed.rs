//! Content that an operator allowed after an appeal: no check has a say in it, except the memory of what was taken down.

use super::Reading;
use crate::app::App;
use dropleaf_core::Result;

impl App {
    /// Asked only about what was refused.
    pub(super) async fn is_allowed(&self, reading: &Reading) -> Result<bool> {
        Ok(self.store.is_allowed_content(reading.digest).await?)
    }
}
