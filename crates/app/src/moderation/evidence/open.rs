//! Opens sealed evidence. Who opened it and why is written to the audit log before the first byte is sent.

use super::stream_cipher::Unsealer;
use crate::app::App;
use bytes::Bytes;
use dropleaf_core::audit::AuditAction;
use dropleaf_core::{Error, Result, takedown};
use dropleaf_store::evidence::Evidence;
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt, TryStreamExt};
use std::io;

/// The decrypted zip archive as a stream.
pub struct OpenEvidence {
    pub site_id: String,
    pub stream: BoxStream<'static, io::Result<Bytes>>,
}

impl std::fmt::Debug for OpenEvidence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenEvidence").field("site_id", &self.site_id).finish_non_exhaustive()
    }
}

impl App {
    /// The newest evidence, erased or not.
    pub async fn list_evidence(&self, limit: i64) -> Result<Vec<Evidence>> {
        Ok(self.store.list_evidence(limit).await?)
    }

    /// The evidence of this page, erased or not.
    pub async fn find_evidence(&self, site_id: &str) -> Result<Option<Evidence>> {
        Ok(self.store.find_evidence(site_id).await?)
    }

    /// Finds evidence by the page's id, slug, token or URL. The page's row may be purged before its evidence.
    pub(super) async fn get_evidence(&self, name: &str) -> Result<Evidence> {
        let unknown = || Error::not_found("evidence");
        if let Some(kept) = self.store.find_evidence(name.trim()).await? {
            return Ok(kept);
        }
        let named = takedown::parse_page_identifier(name, &self.hosts).ok_or_else(unknown)?;
        let site = self.find_site_by_reference(&named).await?.ok_or_else(unknown)?;
        self.store.find_evidence(&site.id).await?.ok_or_else(unknown)
    }

    /// The archive of a taken-down page, named by its id, slug, token or URL.
    pub async fn open_evidence(&self, actor: &str, name: &str, reason: &str) -> Result<OpenEvidence> {
        let reason = takedown::reason_for(reason, "is required for access")?;
        let kept = self.get_evidence(name).await?;
        let gone = || Error::not_found("evidence");
        let bundle = self.store.find_bundle(kept.bundle_id.as_deref().ok_or_else(gone)?).await?;
        let file = bundle.and_then(|bundle| bundle.files.into_iter().next()).ok_or_else(gone)?;
        let line = self.audit_stmt(actor, AuditAction::OpenEvidence, &kept.site_id, Some(reason));
        self.store.commit(vec![line]).await?;
        Self::log_operation(actor, AuditAction::OpenEvidence, &kept.site_id);
        let blob = self.store.blobs.open_body(&self.store.db, &file.blob_hash).await?;
        let sealed = blob.stream().await?.map_err(io::Error::other).boxed();
        let opener = Unsealer::new(&self.keys, &kept.site_id);
        Ok(OpenEvidence { site_id: kept.site_id, stream: decrypt_stream(sealed, opener) })
    }
}

fn decrypt_stream(
    sealed: BoxStream<'static, io::Result<Bytes>>,
    opener: Unsealer,
) -> BoxStream<'static, io::Result<Bytes>> {
    let start = (sealed, Some(opener));
    stream::try_unfold(start, |(mut sealed, opener)| async move {
        let Some(mut opener) = opener else { return Ok(None) };
        Ok(match sealed.try_next().await? {
            Some(bytes) => {
                let plain = opener.push(&bytes)?;
                Some((plain, (sealed, Some(opener))))
            }
            None => Some((opener.finish()?, (sealed, None))),
        })
    })
    .try_filter(|bytes| std::future::ready(!bytes.is_empty()))
    .boxed()
}
