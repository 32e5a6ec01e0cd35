//! End-to-end encrypted pages in a browser: our viewer with the ciphertext inside, opened by the key in the fragment.

use super::scene::Scene;
use crate::http::OutBody;
use dropleaf_app::LiveFile;
use dropleaf_core::{Code, Error};
use http::Response;

pub(super) async fn viewer(_scene: &Scene<'_>, _file: &LiveFile) -> Result<Response<OutBody>, Error> {
    Err(Error::plain(Code::Forbidden))
}
