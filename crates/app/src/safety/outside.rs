//! A check of the operator's own, asked over HTTP. Off unless it is set.

use super::Reading;
use crate::app::App;
use dropleaf_core::Result;

impl App {
    #[expect(clippy::unused_async, reason = "asks over HTTP")]
    pub(super) async fn ask_outside(&self, _reading: &Reading) -> Result<()> {
        Ok(())
    }
}
