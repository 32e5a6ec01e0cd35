//! A page sent as text in a JSON body or as an argument: HTML or Markdown.

use super::size_limit::check_size;
use dropleaf_app::Upload;
use dropleaf_core::{Code, Error, Result};

#[derive(Debug)]
pub(in crate::http) enum Document {
    Html(String),
    Markdown(String),
}

impl Document {
    /// From the fields `html` and `markdown`, of which exactly one must be sent.
    pub(in crate::http) fn new(html: Option<String>, markdown: Option<String>, limit: u64) -> Result<Self> {
        let document = match (html, markdown) {
            (Some(text), None) => Self::Html(text),
            (None, Some(text)) => Self::Markdown(text),
            (Some(_), Some(_)) | (None, None) => {
                return Err(Error::new(Code::InvalidField, "Send exactly one of `html` and `markdown`."));
            }
        };
        check_size(document.text().len() as u64, limit)?;
        Ok(document)
    }

    /// The name of the field it was sent in.
    pub(in crate::http) const fn field(&self) -> &'static str {
        match self {
            Self::Html(_) => "html",
            Self::Markdown(_) => "markdown",
        }
    }

    pub(in crate::http) fn text(&self) -> &str {
        match self {
            Self::Html(text) | Self::Markdown(text) => text,
        }
    }

    pub(in crate::http) fn upload(self) -> Upload {
        match self {
            Self::Html(text) => Upload::html(text),
            Self::Markdown(text) => Upload::markdown(text),
        }
    }
}
