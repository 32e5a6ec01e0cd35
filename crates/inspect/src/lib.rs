//! Inspects the texts of an upload: phishing, secrets and personal data, similarity to content that was taken down. Renders safe
//! previews for operators. Pure: it fetches nothing, and knows neither who uploads nor how uploads are packed and stored.

pub mod phishing;
mod requested_secret;
pub mod safe_preview;
pub mod secrets;
pub mod similarity;
mod upload_texts;

pub use requested_secret::find_requested_secret;
pub use upload_texts::{UploadFile, UploadTexts};
