//! What a caller of the service needs: its acts as typed methods, a bridge for clients of the Model Context Protocol, and
//! a file that remembers who is signed in where.
//! Knows nothing of the server's insides and depends on no other crate of ours.

mod account;
mod client;
mod credentials;
mod device;
mod error;
pub mod mcp;
mod multipart;
mod pages;

pub use account::Me;
pub use client::{Client, server_name};
pub use credentials::{Credentials, CredentialsError, Login};
pub use device::{DeviceCode, Key, OWN_CLIENT, Polled, Tokens, wait_for_answer};
pub use error::{ClientError, Reason};
pub use pages::{File, PageOptions, Site, SiteList};
