//! Tools that read one page: its settings, and its stored content.

use super::{Call, OneSite, READS, Tool, schema};
use crate::http::api::SiteJson;
use crate::http::extract::nullable;
use crate::http::mcp::tool_result::ToolOutput;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use dropleaf_app::SiteContent;
use dropleaf_core::scope::Scope;
use dropleaf_core::site_change::Field;
use dropleaf_core::{Code, Error, Result};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Default length of a part: some 16,000 words, which a model can take in.
const PART_BYTES: i64 = 64 * 1024;
/// Maximum length of a part, to bound the size of a message.
const MOST_BYTES: i64 = 1 << 20;
/// Minimum length of a part: it must hold at least one character, and less is not worth a call.
const LEAST_BYTES: i64 = 1024;

pub(super) static GET_SITE: Tool = Tool {
    name: "get_site",
    title: "Get a page",
    description: "Read one of your pages: its link, settings, version and views.",
    needs: Scope::Read,
    hints: READS,
    input: schema::of::<OneSite>,
    output: schema::output::<SiteJson>,
    run: |call| Box::pin(get_site(call)),
};

async fn get_site(mut call: Call) -> Result<ToolOutput> {
    let name = call.site()?;
    let app = &call.state.app;
    let site = app.get_site(call.account(), &name).await?;
    Ok(ToolOutput::json(SiteJson::new(app, site)).page().warned(call.fields.warnings()))
}

/// Which content, and how much of it.
#[derive(Debug, Deserialize, ToSchema)]
struct GetContent {
    /// ID, slug, token or URL.
    site: String,
    /// The uploaded source, such as Markdown, instead of the rendered page.
    #[schema(nullable = false)]
    source: Option<bool>,
    /// In bytes: `next_offset` of the previous part.
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<i64>, nullable = false, minimum = 0)]
    offset: Field<i64>,
    /// 65536 by default.
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<i64>, nullable = false, minimum = 1024, maximum = 1_048_576)]
    max_bytes: Field<i64>,
}

/// A document, or a part of it.
#[derive(Debug, Serialize, ToSchema)]
pub(in crate::http) struct ContentJson {
    site_id: String,
    /// The version of the page this belongs to.
    version: i64,
    /// When the page was last changed: send it as `expected_updated_at` with your update.
    updated_at: i64,
    /// Media type.
    mime: String,
    /// Size of the whole document.
    byte_size: i64,
    /// The document or a part of it, if it is text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    text: Option<String>,
    /// The whole document, if it is not text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    base64: Option<String>,
    /// Where this part starts, in bytes.
    offset: i64,
    /// Where the next part starts; absent if this is the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    next_offset: Option<i64>,
}

pub(super) static GET_CONTENT: Tool = Tool {
    name: "get_content",
    title: "Read a page's content",
    description: "Read the stored document of a page: text in parts, anything else as base64. If `version` changes \
                  between parts, start again.",
    needs: Scope::Read,
    hints: READS,
    input: schema::of::<GetContent>,
    output: schema::output::<ContentJson>,
    run: |call| Box::pin(get_content(call)),
};

async fn get_content(mut call: Call) -> Result<ToolOutput> {
    let GetContent { site: name, source, offset, max_bytes } = call.fields.take()?;
    let source = source.unwrap_or_default();
    let offset = offset.value().unwrap_or_default();
    let most = max_bytes.value().unwrap_or(PART_BYTES);
    if offset < 0 {
        return Err(Error::field("offset", "must be 0 or more"));
    }
    if !(LEAST_BYTES..=MOST_BYTES).contains(&most) {
        return Err(Error::field("max_bytes", format!("must be {LEAST_BYTES} to {MOST_BYTES}")));
    }
    let app = &call.state.app;
    let site = app.get_site(call.account(), &name).await?;
    let too_large = |mime: &str, bytes: i64| {
        let raise = if bytes <= MOST_BYTES { "Increase `max_bytes` or fetch" } else { "Fetch" };
        let detail = format!(
            "The content is {bytes} bytes of {mime}, more than `max_bytes` ({most}). {raise} it directly: GET \
             {}/sites/{}/content with your key.",
            app.hosts.base.url(),
            site.id
        );
        Error::new(Code::TooLarge, detail)
    };
    // Content that can only be returned whole is not read if it is too long.
    let fits = |mime: &str, bytes: u64| {
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        if SiteContent::is_text_kind(mime) || bytes <= most { Ok(()) } else { Err(too_large(mime, bytes)) }
    };
    let content = app.read_content_if(call.account(), &site.id, source, fits).await?;
    let byte_size = i64::try_from(content.bytes.len()).unwrap_or(i64::MAX);
    let mut json = ContentJson {
        site_id: site.id.clone(),
        version: content.version,
        updated_at: content.updated_at,
        mime: content.mime.clone(),
        byte_size,
        text: None,
        base64: None,
        offset: 0,
        next_offset: None,
    };
    let answer = match std::str::from_utf8(&content.bytes) {
        Ok(text) if content.is_text() => {
            let (begin, end) = part(text, offset, most);
            json.offset = begin;
            json.next_offset = (end < byte_size).then_some(end);
            let shown = usize::try_from(begin).ok().zip(usize::try_from(end).ok());
            let shown = shown.and_then(|(begin, end)| text.get(begin..end)).unwrap_or_default().to_owned();
            json.text = Some(shown.clone());
            // The text is only the document; a separate note has what an update needs.
            let mut note = format!("Version {}, updated_at {}.", json.version, json.updated_at);
            if let Some(next) = json.next_offset {
                note = format!(
                    "{note} Bytes {begin} to {end} of {byte_size}; call get_content with offset {next} for more."
                );
            }
            ToolOutput::json(json).worded(shown).noted(Some(note))
        }
        _ if byte_size > most => return Err(too_large(&json.mime, byte_size)),
        _ => {
            json.base64 = Some(STANDARD.encode(&content.bytes));
            ToolOutput::json(json)
        }
    };
    Ok(answer.about(app, site).warned(call.fields.warnings()))
}

/// The range of the part that starts at `offset`, on character boundaries.
fn part(text: &str, offset: i64, most: i64) -> (i64, i64) {
    let at = |bytes: i64| text.floor_char_boundary(usize::try_from(bytes).unwrap_or(usize::MAX));
    let begin = at(offset);
    let end = at(i64::try_from(begin).unwrap_or(i64::MAX).saturating_add(most));
    (i64::try_from(begin).unwrap_or(i64::MAX), i64::try_from(end).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::part;

    #[test]
    fn parts_are_cut_between_characters_and_end_with_the_text() {
        let text = "aä€𝄞".repeat(1000);
        let (mut at, mut read) = (0, String::new());
        while at < text.len() {
            let (begin, end) = part(&text, i64::try_from(at).unwrap(), 1024);
            assert_eq!(usize::try_from(begin).unwrap(), at);
            at = usize::try_from(end).unwrap();
            read.push_str(&text[usize::try_from(begin).unwrap()..at]);
        }
        assert_eq!(read, text);
        assert_eq!(part("ä", 1, 1024), (0, 2), "in the middle of a character");
        assert_eq!(part("ab", 99, i64::MAX), (2, 2));
    }
}
