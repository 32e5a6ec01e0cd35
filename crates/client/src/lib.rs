//! The client side of the service: a typed API client, the stdio bridge for MCP (Model Context Protocol) clients, the set-up
//! of such clients, and the credentials file of `dropleaf login`.
//! Knows nothing of the server's internals and depends on no other crate of ours.

mod account;
mod client;
mod credentials;
mod device;
mod download;
mod error;
pub mod mcp;
pub mod mcp_setup;
mod multipart;
mod pages;
mod pay_sessions;
mod unpack;

pub use account::Me;
pub use client::{Client, is_loopback, server_name};
pub use credentials::{Credentials, CredentialsError, Login};
pub use device::{DeviceCode, Key, OWN_CLIENT, Polled, Tokens, wait_for_answer};
pub use download::{DownloadError, Downloaded};
pub use error::{ClientError, Reason};
pub use pages::{File, PageOptions, Site, SiteList};
pub use pay_sessions::{PaySession, PolledPaySession, wait_for_payment};
pub use unpack::{UnpackError, UnpackLimits, open_archive, safe_path, unpack};
