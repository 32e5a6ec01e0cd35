//! Reads a multipart form part by part as it arrives.

use super::size_limit::too_large;
use super::spool::Spool;
use crate::http::state::ApiState;
use bytes::BytesMut;
use dropleaf_app::Upload;
use dropleaf_core::request_hash::RequestHash;
use dropleaf_core::{Code, Error, Result};

const MOST_PARTS: usize = 32;
const FIELD_BYTES: usize = 64 * 1024;
/// The kind of request that is hashed.
const UPLOAD: &str = "upload";

/// A parsed form.
#[derive(Debug)]
pub(in crate::http) struct Form {
    pub upload: Upload,
    pub fields: Vec<(String, String)>,
    /// Hash of all fields and the file, independent of the boundary; only for idempotent requests.
    pub hash: Option<[u8; 32]>,
}

/// Reads a form with a `file`. `may` is called with the fields before the file, and the file is read only if it returns
/// `Ok`.
pub(super) async fn read_form(
    mut form: multer::Multipart<'_>,
    state: &ApiState,
    limit: u64,
    may_come_again: bool,
    may: impl Fn(&[(String, String)]) -> Result<()>,
) -> Result<Form> {
    let mut request_hash = may_come_again.then(|| RequestHash::new(UPLOAD));
    let mut fields = Vec::new();
    let mut upload = None;
    let mut parts = 0;
    while let Some(mut field) = form.next_field().await.map_err(|error| form_error(error, limit))? {
        parts += 1;
        if parts > MOST_PARTS {
            return Err(Error::new(
                Code::InvalidRequest,
                format!("A form can have at most {MOST_PARTS} parts."),
            ));
        }
        let name = field.name().unwrap_or_default().to_owned();
        if name == "file" {
            may(&fields)?;
            if upload.is_some() {
                return Err(Error::field("file", "was sent twice; put multiple files into one .zip"));
            }
            let (filename, content_type) =
                (field.file_name().map(str::to_owned), field.content_type().map(ToString::to_string));
            let mut spool = Spool::new(state.app.settings().spool_dir.clone(), may_come_again);
            while let Some(piece) = field.chunk().await.map_err(|error| form_error(error, limit))? {
                spool.add(piece, limit).await?;
            }
            let (body, hash) = spool.finish().await?;
            request_hash = request_hash.map(|so_far| add_file(so_far, filename.as_deref(), hash));
            upload = Some(Upload { filename, content_type, body });
        } else {
            let mut text = BytesMut::new();
            while let Some(piece) = field.chunk().await.map_err(|error| form_error(error, limit))? {
                text.extend_from_slice(&piece);
                if text.len() > FIELD_BYTES {
                    return Err(Error::new(
                        Code::InvalidField,
                        format!("A form field exceeds {FIELD_BYTES} bytes."),
                    ));
                }
            }
            let text = String::from_utf8(text.to_vec())
                .map_err(|_| Error::new(Code::InvalidField, "A form field is not valid UTF-8."))?;
            request_hash = request_hash.map(|so_far| so_far.field(&name, &text));
            fields.push((name, text));
        }
    }
    let upload = upload.ok_or_else(|| Error::plain(Code::MissingFile))?;
    Ok(Form { upload, fields, hash: request_hash.map(RequestHash::finish) })
}

/// The request hash of a file that is not in a form.
pub(super) fn file_hash(filename: &str, hash: Option<[u8; 32]>) -> [u8; 32] {
    add_file(RequestHash::new(UPLOAD), Some(filename), hash).finish()
}

/// Adds a file by its name and the hash of its bytes. No text field has the name `file`.
fn add_file(so_far: RequestHash, filename: Option<&str>, hash: Option<[u8; 32]>) -> RequestHash {
    so_far.field("file", filename.unwrap_or_default()).field("file", hash.unwrap_or_default())
}

fn form_error(error: multer::Error, limit: u64) -> Error {
    match error {
        multer::Error::StreamSizeExceeded { .. } | multer::Error::FieldSizeExceeded { .. } => {
            too_large(limit)
        }
        multer::Error::StreamReadFailed(inner) => match inner.downcast::<Error>() {
            Ok(ours) => *ours,
            Err(other) => {
                Error::new(Code::InvalidRequest, "The request body ended early.").with_source(other)
            }
        },
        other => Error::new(Code::InvalidRequest, format!("The form is malformed: {other}.")),
    }
}
