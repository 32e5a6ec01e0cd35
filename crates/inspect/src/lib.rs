//! Inspects the texts of an upload: phishing, secrets and personal data, similarity to content that was taken down. Renders safe
//! previews for operators. Pure: it fetches nothing, and knows neither who uploads nor how uploads are packed and stored.

pub mod look;
pub mod phishing;
pub mod secrets;
pub mod similarity;
mod upload_texts;

pub use upload_texts::{UploadFile, UploadTexts};
