//! Tries with a small object whether the rights for the object store suffice. The object is outside the keys of bodies, so no
//! sweep and no backup ever sees it.

use super::Blobs;
use bytes::Bytes;
use dropleaf_core::health::{BodyStep, BodyStore, StepFailure};
use futures_util::TryStreamExt;
use object_store::path::Path;
use object_store::{Error, ObjectStoreExt, PutPayload};

const FOLDER: &str = "health";

/// Each step with why it failed, if it did.
pub type ProbeSteps = Vec<(BodyStep, Option<StepFailure>)>;

impl Blobs {
    pub const fn kind(&self) -> BodyStore {
        if self.folder.is_some() { BodyStore::Folder } else { BodyStore::Bucket }
    }

    /// Writes, reads, lists, uploads in parts and deletes. `nonce` must be new. After a failed write nothing else is tried.
    pub async fn probe(&self, nonce: &str) -> ProbeSteps {
        let (key, parts) =
            (Path::from(format!("{FOLDER}/{nonce}")), Path::from(format!("{FOLDER}/{nonce}.parts")));
        let content = Bytes::from(format!("health check {nonce}"));
        let mut steps = Vec::new();
        let written = self.store.put(&key, PutPayload::from_bytes(content.clone())).await;
        if let Err(error) = written {
            return vec![(BodyStep::Write, Some(self.failed_write(&key, &error).await))];
        }
        steps.push((BodyStep::Write, None));
        steps.push((BodyStep::Read, self.probe_read(&key, &content).await));
        steps.push((BodyStep::List, self.probe_list(&key).await));
        let in_parts = self.probe_parts(&parts, content).await.err().map(|error| failure(&error));
        let was_uploaded = in_parts.is_none();
        steps.push((BodyStep::Multipart, in_parts));
        let mut deleted = self.store.delete(&key).await;
        if was_uploaded {
            deleted = deleted.and(self.store.delete(&parts).await);
        }
        steps.push((BodyStep::Delete, deleted.err().map(|error| failure(&error))));
        steps
    }

    /// Some servers deny a write to a bucket that does not exist, and say so only when it is read.
    async fn failed_write(&self, key: &Path, error: &Error) -> StepFailure {
        match failure(error) {
            StepFailure::Denied => match self.store.get(key).await.map_err(|error| failure(&error)) {
                Err(StepFailure::NoSuchBucket) => StepFailure::NoSuchBucket,
                _ => StepFailure::Denied,
            },
            other => other,
        }
    }

    async fn probe_read(&self, key: &Path, content: &Bytes) -> Option<StepFailure> {
        let read = async { self.store.get(key).await?.bytes().await };
        match read.await {
            Ok(found) if found == *content => None,
            Ok(_) => Some(StepFailure::Different),
            Err(error) => Some(failure(&error)),
        }
    }

    async fn probe_list(&self, key: &Path) -> Option<StepFailure> {
        let mut listed = self.store.list(Some(&Path::from(FOLDER)));
        loop {
            match listed.try_next().await {
                Ok(Some(object)) if object.location == *key => return None,
                Ok(Some(_)) => {}
                Ok(None) => return Some(StepFailure::Different),
                Err(error) => return Some(failure(&error)),
            }
        }
    }

    /// The last part of an upload may be small, so one is enough.
    async fn probe_parts(&self, key: &Path, content: Bytes) -> Result<(), Error> {
        let mut upload = self.store.put_multipart(key).await?;
        let sent = async {
            upload.put_part(PutPayload::from_bytes(content)).await?;
            upload.complete().await.map(|_| ())
        };
        let sent = sent.await;
        if sent.is_err() {
            let _ = upload.abort().await;
        }
        sent
    }
}

/// Names the failure by the variant of the error and by error codes of S3. Nothing of the text is kept.
fn failure(error: &Error) -> StepFailure {
    let text = format!("{error:?}");
    let has = |code: &str| text.contains(code);
    match error {
        _ if has("NoSuchBucket") => StepFailure::NoSuchBucket,
        _ if has("RequestTimeTooSkewed") => StepFailure::ClockSkewed,
        _ if has("InvalidAccessKeyId") || has("SignatureDoesNotMatch") => StepFailure::Unauthenticated,
        _ if has("StorageFull") || has("QuotaExceeded") => StepFailure::Full,
        Error::PermissionDenied { .. } => StepFailure::Denied,
        _ if has("AccessDenied") => StepFailure::Denied,
        Error::Unauthenticated { .. } => StepFailure::Unauthenticated,
        Error::Generic { store: "S3", .. } if has("status: None") || has("Connect") || has("Timeout") => {
            StepFailure::Unreachable
        }
        _ => StepFailure::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_folder_passes_and_nothing_stays_behind() {
        let dir = tempfile::TempDir::new().unwrap();
        let blobs = Blobs::open(&format!("file:{}", dir.path().display()), 0).unwrap();
        let steps = blobs.probe("n1").await;
        assert_eq!(steps.len(), 5);
        assert!(steps.iter().all(|(_, failed)| failed.is_none()), "{steps:?}");
        let left = std::fs::read_dir(dir.path().join(FOLDER)).map_or(0, Iterator::count);
        assert_eq!(left, 0);
    }

    #[tokio::test]
    async fn a_file_in_place_of_the_folder_is_a_failed_write() {
        let dir = tempfile::TempDir::new().unwrap();
        let blobs = Blobs::open(&format!("file:{}", dir.path().display()), 0).unwrap();
        std::fs::write(dir.path().join(FOLDER), "in the way").unwrap();
        let steps = blobs.probe("n1").await;
        assert!(matches!(steps.as_slice(), [(BodyStep::Write, Some(_))]), "{steps:?}");
    }
}
