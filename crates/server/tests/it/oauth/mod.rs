//! Tests OAuth and device login.

mod device;
mod device_oauth;
mod oauth_apps;
mod oauth_authorize;
mod oauth_documents;
mod oauth_metadata;
mod oauth_register;
mod oauth_revoke;
mod oauth_scopes;
mod oauth_token;
