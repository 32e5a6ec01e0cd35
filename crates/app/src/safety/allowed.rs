//! Content that an operator allowed after an appeal: the phishing check has no say in it.

use super::Reading;
use crate::app::App;
use dropleaf_core::Result;

impl App {
    /// Asked only about what was refused.
    #[expect(clippy::unused_async, reason = "asks the storage")]
    pub(super) async fn is_allowed(&self, _reading: &Reading) -> Result<bool> {
        Ok(false)
    }
}
