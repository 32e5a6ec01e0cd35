//! An uploaded file, before it is validated.

use bytes::Bytes;

/// Pages up to this size are checked inline, which is faster than handing them to another thread.
const INLINE_BYTES: usize = 64 * 1024;

#[derive(Debug)]
pub enum UploadBody {
    Memory(Bytes),
    /// Spooled, because it is large.
    File(std::fs::File),
}

/// A file as received.
#[derive(Debug)]
pub struct Upload {
    pub filename: Option<String>,
    pub content_type: Option<String>,
    pub body: UploadBody,
}

impl Upload {
    pub fn html(html: String) -> Self {
        Self {
            filename: Some("index.html".into()),
            content_type: Some("text/html".into()),
            body: UploadBody::Memory(html.into_bytes().into()),
        }
    }

    pub fn markdown(text: String) -> Self {
        Self {
            filename: Some("index.md".into()),
            content_type: Some("text/markdown".into()),
            body: UploadBody::Memory(text.into_bytes().into()),
        }
    }

    /// Whether checking it inline is faster than handing it to another thread.
    pub(crate) fn is_checked_inline(&self) -> bool {
        let html = self.filename.as_deref().is_some_and(|name| {
            let name = name.to_ascii_lowercase();
            name.rsplit_once('.').is_some_and(|(_, ext)| ext == "html" || ext == "htm")
        });
        html && matches!(&self.body, UploadBody::Memory(bytes) if bytes.len() <= INLINE_BYTES)
    }
}
