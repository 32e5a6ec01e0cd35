//! Bodies with bounded memory: a multipart form whose file is spooled to disk when large, or a JSON object.

use super::pace::paced;
use crate::http::api::ApiState;
use axum::body::Body;
use bytes::{Bytes, BytesMut};
use dropleaf_app::{Upload, UploadBody};
use dropleaf_core::{Code, Error, Result};
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use http::{HeaderMap, header};
use serde_json::{Map, Value};
use std::io::{Seek, Write};
use std::time::Duration;

/// Files up to this size stay in memory.
const MEMORY_BYTES: usize = 64 * 1024;
const MOST_PARTS: usize = 32;
const FIELD_BYTES: usize = 64 * 1024;
/// What the form itself may add to the file.
const FORM_BYTES: u64 = 1 << 20;
/// How much of a refused body is still read, so that a client busy sending it gets to see the answer.
const DRAIN_BYTES: u64 = 64 << 20;
const DRAIN_TIME: Duration = Duration::from_secs(30);

/// A form as it arrived.
#[derive(Debug)]
pub(in crate::http) struct Form {
    pub upload: Upload,
    pub fields: Vec<(String, String)>,
    /// Of everything the form says, whatever its boundary; for requests that may come again.
    pub hash: Option<[u8; 32]>,
}

/// A body that has not been read yet.
#[derive(Debug)]
pub(in crate::http) struct Incoming<'a> {
    pub state: &'a ApiState,
    pub headers: &'a HeaderMap,
    pub body: Body,
}

impl Incoming<'_> {
    fn limit(&self) -> u64 {
        self.state.resolved.config.limits.upload_bytes
    }

    /// Refuses by the announced length, before any of the body is asked for.
    fn check_length(&self, most: u64) -> Result<()> {
        let length = self
            .headers
            .get(header::CONTENT_LENGTH)
            .and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
        if length.is_some_and(|length| length > most) { Err(too_large(self.limit())) } else { Ok(()) }
    }

    /// Reads a multipart form with a `file`.
    pub(in crate::http) async fn form(self) -> Result<Form> {
        self.form_if(|_| Ok(())).await
    }

    /// The same, but asks first: `may` sees the fields that came before the file, and nothing of the file is read
    /// unless it agrees.
    pub(in crate::http) async fn form_if(
        self,
        may: impl Fn(&[(String, String)]) -> Result<()>,
    ) -> Result<Form> {
        let kind =
            self.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let boundary = multer::parse_boundary(kind).map_err(|_| Error::plain(Code::NotMultipart));
        let checked =
            boundary.and_then(|boundary| self.check_length(self.limit() + FORM_BYTES).map(|()| boundary));
        let rate = self.state.resolved.config.limits.upload_bytes_per_second;
        let expects = self.headers.contains_key(header::EXPECT);
        let may_come_again = self.headers.contains_key("idempotency-key");
        let (limit, state) = (self.limit(), self.state);
        let mut pieces = paced(self.body, rate);
        let outcome = match checked {
            Ok(boundary) => {
                let constraints = multer::Constraints::new()
                    .size_limit(multer::SizeLimit::new().whole_stream(limit + FORM_BYTES));
                let form = multer::Multipart::with_constraints(&mut pieces, boundary, constraints);
                read_form(form, state, limit, may_come_again, may).await
            }
            Err(error) => Err(error),
        };
        if let Err(error) = &outcome {
            // A client that waits for 100 Continue sends nothing more; one that does not is let finish.
            if !expects && error.code != Code::RequestTimeout {
                drain(pieces);
            }
        }
        outcome
    }

    /// Reads a JSON object. Nothing at all counts as an empty one.
    pub(in crate::http) async fn object(self, most: u64) -> Result<Map<String, Value>> {
        self.check_length(most)?;
        let rate = self.state.resolved.config.limits.upload_bytes_per_second;
        let limit = self.limit();
        let mut pieces = paced(self.body, rate);
        let mut bytes = BytesMut::new();
        while let Some(piece) = pieces.next().await {
            bytes.extend_from_slice(&piece?);
            if bytes.len() as u64 > most {
                drain(pieces);
                return Err(too_large(limit.min(most)));
            }
        }
        json_object(&bytes)
    }
}

pub(in crate::http) fn json_object(bytes: &[u8]) -> Result<Map<String, Value>> {
    if bytes.trim_ascii().is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(Error::new(Code::InvalidRequest, "The body must be a JSON object.")),
        Err(error) => Err(Error::new(Code::InvalidRequest, format!("The body is not valid JSON: {error}."))),
    }
}

/// Reads on beside the answer, which goes out at once.
#[expect(clippy::disallowed_methods, reason = "bounded in time and bytes; a shutdown may cut it off")]
fn drain(mut pieces: BoxStream<'static, Result<Bytes>>) {
    let work = async move {
        let mut left = DRAIN_BYTES;
        while let Some(Ok(piece)) = pieces.next().await {
            left = left.saturating_sub(piece.len() as u64);
            if left == 0 {
                return;
            }
        }
    };
    tokio::spawn(tokio::time::timeout(DRAIN_TIME, work));
}

/// Refuses what is over the limit of an upload.
pub(in crate::http) fn check_size(size: u64, limit: u64) -> Result<()> {
    if size > limit { Err(too_large(limit)) } else { Ok(()) }
}

fn too_large(limit: u64) -> Error {
    Error::new(Code::TooLarge, format!("The upload is over the limit of {limit} bytes."))
}

async fn read_form(
    mut form: multer::Multipart<'_>,
    state: &ApiState,
    limit: u64,
    may_come_again: bool,
    may: impl Fn(&[(String, String)]) -> Result<()>,
) -> Result<Form> {
    let mut hasher = may_come_again.then(blake3::Hasher::new);
    let mut fields = Vec::new();
    let mut upload = None;
    let mut parts = 0;
    while let Some(mut field) = form.next_field().await.map_err(|error| form_error(error, limit))? {
        parts += 1;
        if parts > MOST_PARTS {
            return Err(Error::new(
                Code::InvalidRequest,
                format!("A form may have at most {MOST_PARTS} parts."),
            ));
        }
        let name = field.name().unwrap_or_default().to_owned();
        if name == "file" {
            may(&fields)?;
            if upload.is_some() {
                return Err(Error::field("file", "was sent twice; put several files into one .zip"));
            }
            let (filename, content_type) =
                (field.file_name().map(str::to_owned), field.content_type().map(ToString::to_string));
            let mut sink = Sink::new(state.app.settings().spool_dir.clone(), may_come_again);
            while let Some(piece) = field.chunk().await.map_err(|error| form_error(error, limit))? {
                sink.add(piece, limit).await?;
            }
            let (body, hash) = sink.finish().await?;
            if let (Some(hasher), Some(hash)) = (&mut hasher, hash) {
                mix(hasher, &[b"file", filename.as_deref().unwrap_or_default().as_bytes(), &hash]);
            }
            upload = Some(Upload { filename, content_type, body });
        } else {
            let mut text = BytesMut::new();
            while let Some(piece) = field.chunk().await.map_err(|error| form_error(error, limit))? {
                text.extend_from_slice(&piece);
                if text.len() > FIELD_BYTES {
                    return Err(Error::new(
                        Code::InvalidField,
                        format!("A form field is over {FIELD_BYTES} bytes."),
                    ));
                }
            }
            let text = String::from_utf8(text.to_vec())
                .map_err(|_| Error::new(Code::InvalidField, "A form field is not valid UTF-8."))?;
            if let Some(hasher) = &mut hasher {
                mix(hasher, &[b"field", name.as_bytes(), text.as_bytes()]);
            }
            fields.push((name, text));
        }
    }
    let upload = upload.ok_or_else(|| Error::plain(Code::MissingFile))?;
    Ok(Form { upload, fields, hash: hasher.map(|hasher| hasher.finalize().into()) })
}

/// Adds values with their lengths, so that no two different forms run together.
fn mix(hasher: &mut blake3::Hasher, values: &[&[u8]]) {
    for value in values {
        hasher.update(&(value.len() as u64).to_le_bytes());
        hasher.update(value);
    }
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

/// Holds a small file in memory and moves a large one to an unlinked file.
struct Sink {
    memory: BytesMut,
    file: Option<std::fs::File>,
    size: u64,
    hasher: Option<blake3::Hasher>,
    dir: std::path::PathBuf,
}

impl Sink {
    fn new(dir: std::path::PathBuf, is_hashed: bool) -> Self {
        let hasher = is_hashed.then(blake3::Hasher::new);
        Self { memory: BytesMut::new(), file: None, size: 0, hasher, dir }
    }

    async fn add(&mut self, piece: Bytes, limit: u64) -> Result<()> {
        self.size += piece.len() as u64;
        if self.size > limit {
            return Err(too_large(limit));
        }
        if let Some(hasher) = &mut self.hasher {
            hasher.update(&piece);
        }
        self.memory.extend_from_slice(&piece);
        // Written in large pieces, each on a thread that may wait for the disk.
        if self.memory.len() > if self.file.is_some() { 4 * MEMORY_BYTES } else { MEMORY_BYTES } {
            self.spill().await?;
        }
        Ok(())
    }

    async fn spill(&mut self) -> Result<()> {
        let (data, file, dir) = (self.memory.split().freeze(), self.file.take(), self.dir.clone());
        let write = move || -> std::io::Result<std::fs::File> {
            let mut file = match file {
                Some(file) => file,
                None => tempfile::tempfile_in(dir)?,
            };
            file.write_all(&data)?;
            Ok(file)
        };
        let file = tokio::task::spawn_blocking(write).await.map_err(Error::internal)?.map_err(disk_error)?;
        self.file = Some(file);
        Ok(())
    }

    async fn finish(mut self) -> Result<(UploadBody, Option<[u8; 32]>)> {
        let hash = self.hasher.take().map(|hasher| hasher.finalize().into());
        if self.file.is_some() {
            self.spill().await?;
        }
        match self.file {
            None => Ok((UploadBody::Memory(self.memory.freeze()), hash)),
            Some(mut file) => {
                file.rewind().map_err(disk_error)?;
                Ok((UploadBody::File(file), hash))
            }
        }
    }
}

fn disk_error(error: std::io::Error) -> Error {
    if error.kind() == std::io::ErrorKind::StorageFull {
        return Error::plain(Code::StorageFull).with_source(error);
    }
    Error::internal(error)
}
