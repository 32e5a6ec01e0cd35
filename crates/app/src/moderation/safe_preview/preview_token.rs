//! URLs of safe previews: on a host that belongs to no page and not to the operator's interface, with an encrypted token
//! that names the content and expires soon. Any holder of the URL can open the preview; only this server can create one.

use crate::app::App;
use crate::infra::sealing;
use crate::viewing::pages::ServedBundle;
use dropleaf_core::{Error, Result, number, path, secret};
use std::sync::Arc;

/// Lifetime of a preview in seconds: long enough to read, too short to be passed on.
const PREVIEW_SECONDS: i64 = 900;
/// Associated data of every token, so that no other sealed value is accepted as one.
const ABOUT: &[u8] = b"look 1";
/// Longer than any valid token.
const MOST_CHARS: usize = 256;

/// The URL of a preview frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreviewFrame {
    pub url: String,
    /// The frame may load everything below this URL, and nothing else.
    pub within: String,
}

impl App {
    /// The URL under which this path of a bundle can be previewed for a while.
    pub(super) fn preview_frame(&self, bundle_id: &str, below: &str) -> Result<PreviewFrame> {
        let message = format!("{} {bundle_id}", self.now() + PREVIEW_SECONDS);
        let sealed = sealing::seal(&self.minter, self.preview_key(), ABOUT, message.as_bytes())?;
        let within = self.preview_root(bundle_id, &secret::text(&sealed));
        Ok(PreviewFrame { url: format!("{within}{}", path::encode(below)), within })
    }

    /// The content named by a preview token, and the URL of its root. `label` is the requested host label, where content
    /// has hosts of its own. Content that was erased meanwhile is not found.
    pub async fn open_preview(
        &self,
        label: Option<&str>,
        token: &str,
    ) -> Result<(Arc<ServedBundle>, String)> {
        let gone = || Error::not_found("page");
        let id = self.parse_preview_token(token).ok_or_else(gone)?;
        let expected = self.hosts.isolated.then(|| self.preview_host_label(&id));
        let fits = match (&expected, label) {
            (Some(expected), Some(label)) => expected.eq_ignore_ascii_case(label),
            (None, None) => true,
            _ => false,
        };
        if !fits || !self.store.is_bundle_referenced(&id).await? {
            return Err(gone());
        }
        let root = self.preview_root(&id, token);
        Ok((self.get_bundle(&id).await?, root))
    }

    fn parse_preview_token(&self, token: &str) -> Option<String> {
        let sealed = secret::bytes(Some(token).filter(|token| token.len() <= MOST_CHARS)?)?;
        let opened = sealing::open(self.preview_key(), ABOUT, &sealed).ok()?;
        let (until, id) = std::str::from_utf8(&opened).ok()?.split_once(' ')?;
        (number::integer(until)? > self.now()).then(|| id.to_owned())
    }

    fn preview_root(&self, bundle_id: &str, token: &str) -> String {
        let origin = if self.hosts.isolated {
            self.hosts.isolated_origin(&self.preview_host_label(bundle_id))
        } else {
            self.hosts.site.url()
        };
        format!("{origin}/look/{token}/")
    }

    /// Differs from every page's host, so that a preview shares no origin with pages viewers have open.
    fn preview_host_label(&self, bundle_id: &str) -> String {
        self.keys.host_label(&format!("look {bundle_id}"))
    }

    fn preview_key(&self) -> [u8; 32] {
        self.keys.mac("look", b"")
    }
}
