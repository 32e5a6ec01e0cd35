//! Reads request bodies with bounded memory.

use super::fields::Fields;
use super::form::{Form, file_hash, read_form};
use super::json_body::{JsonLimit, json_object};
use super::json_length::DecodedLength;
use super::pace::paced;
use super::size_limit::too_large;
use super::spool::Spool;
use crate::http::body_budget::Share;
use crate::http::media_type;
use crate::http::state::ApiState;
use axum::body::Body;
use bytes::Bytes;
use dropleaf_app::{Upload, UploadBody};
use dropleaf_core::{Code, Error, Result};
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use http::{HeaderMap, header};
use std::path::PathBuf;
use std::time::Duration;

/// Allowance for the form around the file.
const FORM_BYTES: u64 = 1 << 20;
/// How much of a refused body is still read, so that a client that is still sending receives the response.
const DRAIN_BYTES: u64 = 64 << 20;
const DRAIN_TIME: Duration = Duration::from_secs(30);

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

    /// The declared `Content-Length`.
    fn length(&self) -> Option<u64> {
        self.headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok())
    }

    /// Refuses by the declared length, before reading any of the body.
    fn check_length(&self, most: u64) -> Result<()> {
        if self.length().is_some_and(|length| length > most) {
            return Err(too_large(self.limit()));
        }
        Ok(())
    }

    /// Drops the body after a refusal, and still reads a part of it, so that a client that is sending receives the response.
    pub(in crate::http) fn refuse(self, error: &Error) {
        let (pieces, expects) = self.pieces();
        let_finish(error, expects, pieces);
    }

    /// Reads a multipart form with a `file`.
    pub(in crate::http) async fn form(self) -> Result<Form> {
        self.form_if(|_| Ok(())).await
    }

    /// The same, but `may` is called with the fields before the file, and the file is read only if it returns `Ok`.
    pub(in crate::http) async fn form_if(
        self,
        may: impl Fn(&[(String, String)]) -> Result<()>,
    ) -> Result<Form> {
        let may_come_again = self.headers.contains_key("idempotency-key");
        self.read_form(may_come_again, may).await
    }

    /// The same with a hash for idempotency, whether or not there is an `Idempotency-Key`.
    pub(in crate::http) async fn hashed_form(self) -> Result<Form> {
        self.read_form(true, |_| Ok(())).await
    }

    async fn read_form(
        self,
        may_come_again: bool,
        may: impl Fn(&[(String, String)]) -> Result<()>,
    ) -> Result<Form> {
        let checked = boundary(self.headers)
            .and_then(|boundary| self.check_length(self.limit() + FORM_BYTES).map(|()| boundary));
        let (limit, state) = (self.limit(), self.state);
        let (mut pieces, expects) = self.pieces();
        let outcome = match checked {
            Ok(boundary) => {
                let constraints = multer::Constraints::new()
                    .size_limit(multer::SizeLimit::new().whole_stream(limit + FORM_BYTES));
                let form = multer::Multipart::with_constraints(&mut pieces, boundary, constraints);
                read_form(form, state, limit, may_come_again, may).await
            }
            Err(error) => Err(error),
        };
        outcome.inspect_err(|error| let_finish(error, expects, pieces))
    }

    /// Reads a body that is the file itself, as if it were the only part of a form.
    pub(in crate::http) async fn file(self, filename: String) -> Result<Form> {
        let kind = self.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let (content_type, checked) = (kind.map(str::to_owned), self.check_length(self.limit()));
        let (limit, dir) = (self.limit(), self.state.app.settings().spool_dir.clone());
        let (mut pieces, expects) = self.pieces();
        let outcome = match checked {
            Ok(()) => spooled(&mut pieces, dir, limit).await,
            Err(error) => Err(error),
        };
        let (body, hash) = outcome.inspect_err(|error| let_finish(error, expects, pieces))?;
        let hash = Some(file_hash(&filename, hash));
        let upload = Upload { filename: Some(filename), content_type, body };
        Ok(Form { upload, fields: Vec::new(), hash })
    }

    /// The body as a stream, and whether the client sent `Expect` and waits before sending it.
    fn pieces(self) -> (BoxStream<'static, Result<Bytes>>, bool) {
        let rate = self.state.resolved.config.limits.upload_bytes_per_second;
        (paced(self.body, rate), self.headers.contains_key(header::EXPECT))
    }

    /// Reads the fields of a JSON object. An empty body counts as an empty object.
    pub(in crate::http) async fn fields(self, most: u64) -> Result<Fields> {
        let limit = self.limit().min(most);
        let (bytes, _share) = self.bytes(most, || too_large(limit)).await?;
        json_object(&bytes).map(Fields::new)
    }

    /// Reads JSON; `over` makes the error for a body that is too long, returned as soon as that is certain. The share
    /// covers the memory of the body and of parsing it.
    pub(in crate::http) async fn json(
        self,
        limit: JsonLimit,
        over: impl Fn() -> Error,
    ) -> Result<(Bytes, Share)> {
        self.collect(limit.raw, Some(limit.decoded), over).await
    }

    /// Reads a body of at most `most` bytes; `over` makes the error for a longer one. The share covers its memory.
    pub(in crate::http) async fn bytes(self, most: u64, over: impl Fn() -> Error) -> Result<(Bytes, Share)> {
        self.collect(most, None, over).await
    }

    async fn collect(
        self,
        most: u64,
        most_decoded: Option<u64>,
        over: impl Fn() -> Error,
    ) -> Result<(Bytes, Share)> {
        let announced = self.length();
        if announced.is_some_and(|length| length > most) {
            return Err(over());
        }
        let budget = &self.state.budget;
        let mut pieces = paced(self.body, self.state.resolved.config.limits.upload_bytes_per_second);
        let (mut bytes, mut share) = (Vec::new(), Share::default());
        let mut decoded = DecodedLength::default();
        while let Some(piece) = pieces.next().await {
            let piece = piece?;
            if most_decoded.is_some() {
                decoded.add(&piece);
            }
            let size = bytes.len() + piece.len();
            let is_over =
                size as u64 > most || most_decoded.is_some_and(|most_decoded| decoded.bytes() > most_decoded);
            // The decoded text is charged in advance, so that parsing needs no further memory.
            let needed = size.saturating_add(usize::try_from(decoded.bytes()).unwrap_or(usize::MAX));
            let fits = if is_over { Err(over()) } else { budget.cover(&mut share, needed) };
            if let Err(error) = fits {
                drain(pieces);
                return Err(error);
            }
            grow(&mut bytes, piece.len(), announced);
            bytes.extend_from_slice(&piece);
        }
        Ok((bytes.into(), share))
    }
}

/// The multipart boundary.
fn boundary(headers: &HeaderMap) -> Result<String> {
    if !media_type::is(headers, media_type::FORM_DATA) {
        return Err(Error::plain(Code::NotMultipart));
    }
    media_type::parameter(headers, "boundary").filter(|boundary| !boundary.is_empty()).ok_or_else(|| {
        let detail =
            "The Content-Type has no boundary (multipart/form-data; boundary=…). Let your HTTP client set it.";
        Error::new(Code::NotMultipart, detail)
    })
}

/// Replaces the error for an unsupported content type with one that lists all accepted types.
pub(in crate::http) fn name_shapes(error: Error, headers: &HeaderMap, shapes: &'static str) -> Error {
    if error.code != Code::NotMultipart || media_type::is(headers, media_type::FORM_DATA) {
        return error;
    }
    Error::new(Code::NotMultipart, shapes)
}

/// Reserves room for a chunk and, to avoid copying on every chunk, half the current length more, but no more than was
/// declared.
fn grow(bytes: &mut Vec<u8>, piece: usize, announced: Option<u64>) {
    if bytes.capacity() - bytes.len() >= piece {
        return;
    }
    let announced = announced.and_then(|length| usize::try_from(length).ok()).unwrap_or(usize::MAX);
    let left = announced.saturating_sub(bytes.len());
    bytes.reserve_exact((bytes.len() / 2).min(left).max(piece));
}

async fn spooled(
    pieces: &mut BoxStream<'static, Result<Bytes>>,
    dir: PathBuf,
    limit: u64,
) -> Result<(UploadBody, Option<[u8; 32]>)> {
    let mut spool = Spool::new(dir, true);
    while let Some(piece) = pieces.next().await {
        spool.add(piece?, limit).await?;
    }
    spool.finish().await
}

/// Drains the body unless the client waits for 100 Continue and so sends nothing more.
fn let_finish(error: &Error, expects: bool, pieces: BoxStream<'static, Result<Bytes>>) {
    if !expects && error.code != Code::RequestTimeout {
        drain(pieces);
    }
}

/// Reads on in the background while the response is sent at once.
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
