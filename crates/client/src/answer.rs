//! A response in two forms: the fields that a caller needs, and the whole JSON as the server sent it.

use crate::client::{Client, Outgoing};
use crate::error::ClientError;
use reqwest::Method;
use serde::de::DeserializeOwned;
use serde_json::Value;

#[derive(Debug, Clone)]
pub struct Answer<T> {
    pub value: T,
    /// For programs, which may know more fields than this version.
    pub json: Value,
}

impl Client {
    pub(crate) async fn answer<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<Outgoing>,
    ) -> Result<Answer<T>, ClientError> {
        let json = self.call(method, path, body).await?;
        let strange = |_| ClientError::UnexpectedResponse { server: self.server().to_owned(), status: 200 };
        let value = T::deserialize(&json).map_err(strange)?;
        Ok(Answer { value, json })
    }
}

/// A part of a path, such as an ID, that came from the caller.
pub(crate) fn segment(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20")
}
