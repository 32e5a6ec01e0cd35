//! The tool that reads the uploaded source of a page, or its plain text, in parts that a model can take in.

use super::read_range::{Part, Range};
use super::{Call, READS, Tool, schema};
use crate::http::extract::{nullable, words_schema};
use crate::http::mcp::tool_result::ToolOutput;
use dropleaf_app::FoundSource;
use dropleaf_core::html::visible_text;
use dropleaf_core::scope::Scope;
use dropleaf_core::site_change::Field;
use dropleaf_core::{Code, Error, Result, mime};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa::openapi::schema::Object;

/// Maximum size of a file whose plain text is made.
const MOST_PLAIN_BYTES: u64 = 10 << 20;
/// How many files of an archive are listed.
const LISTED_FILES: usize = 200;

/// Which file, and how much of it.
#[derive(Debug, Deserialize, ToSchema)]
struct ReadSite {
    /// ID, slug, token or URL.
    site: String,
    /// File of an archive; the start page by default.
    #[schema(nullable = false)]
    path: Option<String>,
    #[schema(schema_with = format, required = false)]
    format: Option<String>,
    /// An older version.
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<i64>, nullable = false, minimum = 1)]
    version: Field<i64>,
    /// First line, from 1.
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<i64>, nullable = false, minimum = 1)]
    start_line: Field<i64>,
    /// Last line, included.
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<i64>, nullable = false, minimum = 1)]
    end_line: Field<i64>,
    /// In bytes: `next_offset` of the previous part; instead of `start_line`.
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<i64>, nullable = false, minimum = 0)]
    offset: Field<i64>,
    /// 50000 by default.
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<i64>, nullable = false, minimum = 1000, maximum = 1_048_576)]
    max_bytes: Field<i64>,
}

fn format() -> Object {
    words_schema(
        &["source", "text"],
        "source (default): as uploaded, what edit_site edits. text: without markup.",
    )
}

/// A part of a file.
#[derive(Debug, Serialize, ToSchema)]
pub(in crate::http) struct SourceJson {
    site_id: String,
    version: i64,
    /// Send it as `expected_updated_at` with your edit.
    updated_at: i64,
    path: String,
    mime: String,
    /// Size of the whole text.
    byte_size: usize,
    /// Number of lines of the whole text.
    line_count: usize,
    text: String,
    /// The line in which this part starts, from 1.
    start_line: usize,
    /// Where this part starts, in bytes.
    offset: usize,
    /// Where the next part starts; absent if there is no more of what you asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    next_offset: Option<usize>,
    /// The files of an archive; only without `path`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    files: Option<Vec<ListedFileJson>>,
    /// How many more files the archive has than are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    more_files: Option<usize>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(in crate::http) struct ListedFileJson {
    path: String,
    byte_size: u64,
}

pub(super) static READ_SITE: Tool = Tool {
    name: "read_site",
    title: "Read a page's source",
    description: "Read the uploaded source of a page or of any file of an archive, or its plain text, by lines or \
                  bytes. Send its `updated_at` as `expected_updated_at` when you edit.",
    needs: Scope::Read,
    hints: READS,
    input: schema::of::<ReadSite>,
    output: schema::output::<SourceJson>,
    run: |call| Box::pin(read_site(call)),
};

async fn read_site(mut call: Call) -> Result<ToolOutput> {
    let arguments: ReadSite = call.fields.take()?;
    let is_text = match arguments.format.as_deref() {
        None | Some("source") => false,
        Some("text") => true,
        Some(_) => return Err(Error::field("format", "must be source or text")),
    };
    let line = |field: &Field<i64>| field.clone().value();
    let (start_line, end_line) = (line(&arguments.start_line), line(&arguments.end_line));
    let range = Range::new(start_line, end_line, line(&arguments.offset), line(&arguments.max_bytes))?;
    let version = arguments.version.value();
    if version.is_some_and(|version| version < 1) {
        return Err(Error::field("version", "must be 1 or more"));
    }
    let app = &call.state.app;
    let path = arguments.path.as_deref();
    let found = app.find_source(call.account(), &arguments.site, path, version).await?;
    let mime = String::from_utf8_lossy(&found.file.mime).into_owned();
    if !mime::is_text(&mime) {
        return Err(not_text(&call, &found, &mime));
    }
    let is_plain = is_text && mime::is_html(&mime);
    if is_plain && found.file.size_bytes > MOST_PLAIN_BYTES {
        let why = format!("`text` is for files up to {MOST_PLAIN_BYTES} bytes; read the source instead");
        return Err(Error::field("format", why));
    }
    let read = app.with_found(&found, move |bytes| Ok(ReadPart::new(&bytes, is_plain, range))).await?;
    let Some(ReadPart { part, shown, byte_size, line_count }) = read else {
        return Err(not_text(&call, &found, &mime));
    };
    let FoundSource { site, version, path: found_path, files, .. } = found;
    let files = files.filter(|_| path.is_none());
    let more_files = files.as_ref().map(|files| files.len().saturating_sub(LISTED_FILES));
    let listed = |(path, byte_size)| ListedFileJson { path, byte_size };
    let json = SourceJson {
        site_id: site.id.clone(),
        version,
        updated_at: site.updated_at,
        path: found_path,
        mime,
        byte_size,
        line_count,
        text: shown.clone(),
        start_line: part.start_line,
        offset: part.start,
        next_offset: part.next,
        files: files.map(|files| files.into_iter().take(LISTED_FILES).map(listed).collect()),
        more_files: more_files.filter(|more| *more > 0),
    };
    // The text is only the file; a separate note has what an edit needs.
    let mut note = format!(
        "{}, version {}, updated_at {}. From line {} of {}.",
        json.path, json.version, json.updated_at, json.start_line, json.line_count
    );
    if let Some(next) = json.next_offset {
        note = format!("{note} Call read_site with offset {next} for more.");
    }
    if let Some(files) = &json.files {
        let names: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        note = format!("{note} Files: {}.", names.join(", "));
    }
    let answer = ToolOutput::json(json).worded(shown).noted(Some(note));
    Ok(answer.about(app, site).warned(call.fields.warnings()))
}

fn not_text(call: &Call, found: &FoundSource, mime: &str) -> Error {
    let detail = format!(
        "`{}` is {} bytes of {mime}, not UTF-8 text. Download it: GET {}/sites/{}/download with your key.",
        found.path,
        found.file.size_bytes,
        call.state.app.hosts.base.url(),
        found.site.id
    );
    Error::new(Code::NotEditable, detail)
}

/// A part that was read, and the size of the whole text.
#[derive(Debug)]
struct ReadPart {
    part: Part,
    shown: String,
    byte_size: usize,
    line_count: usize,
}

impl ReadPart {
    /// `None` if the file is not text.
    fn new(bytes: &[u8], is_plain: bool, range: Range) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        let plain = is_plain.then(|| visible_text(text));
        let text = plain.as_deref().unwrap_or(text);
        let part = range.of(text);
        let shown = text[part.start..part.end].to_owned();
        Some(Self { part, shown, byte_size: text.len(), line_count: text.lines().count() })
    }
}
