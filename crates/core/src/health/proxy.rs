//! Judges what happens to a request on its way from the public address to the server.

use super::{Check, Finding};
use std::net::SocketAddr;

/// A request of ours, as the server received it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrived {
    /// The `Host` header or `:authority`.
    pub host: String,
    /// Whether the server itself ended TLS.
    pub has_tls: bool,
    pub peer: SocketAddr,
    /// The lines of `X-Forwarded-For`.
    pub forwarded_for: Vec<String>,
    pub forwarded_proto: Option<String>,
    pub has_via: bool,
    pub version: String,
    /// The server's limit of open files.
    pub open_files: Option<u64>,
}

/// What came of a request to our own public address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SelfCheck {
    /// The server is not running.
    Stopped,
    /// There is nothing to connect to, or no secret to sign with; with a sentence.
    Skipped(String),
    Unreachable(String),
    /// A response without the proof that our server wrote it.
    Foreign {
        status: u16,
    },
    Answered(Arrived),
}

/// The sentence for checks that need the answer of [`public_address`].
const NEEDS_ANSWER: &str = "This needs an answer of the server through its public address.";

pub fn public_address(result: &SelfCheck, url: &str, listen: &str) -> Finding {
    const CHECK: Check = Check::PublicAddress;
    match result {
        SelfCheck::Stopped => Finding::not_checked(CHECK, "The server is not running."),
        SelfCheck::Skipped(why) => Finding::not_checked(CHECK, why.clone()),
        SelfCheck::Unreachable(why) => Finding::problem(
            CHECK,
            format!("{url} cannot be reached from this machine: {why}."),
            format!(
                "Check that the reverse proxy runs and forwards to {listen}, and that no firewall blocks the port. If only this \
                 machine cannot reach its own public address, test with `curl -i {url}/healthz` from another network."
            ),
        ),
        SelfCheck::Foreign { status: status @ 502..=504 } => Finding::problem(
            CHECK,
            format!("The proxy at {url} answers with status {status}: it cannot reach this server."),
            format!(
                "Let the proxy forward to {listen} over plain HTTP, for example `reverse_proxy {listen}` in Caddy."
            ),
        ),
        SelfCheck::Foreign { status } => Finding::problem(
            CHECK,
            format!(
                "{url} is answered by something else (status {status}), or by a server with another secret."
            ),
            format!(
                "Check that DNS and the proxy lead to this server at {listen}, and run the checks with the settings of the server; \
                 all nodes need the same `secret_key`."
            ),
        ),
        SelfCheck::Answered(_) => Finding::ok(CHECK, format!("{url} leads to this server.")),
    }
}

/// `expected` is the host of `base_url`, with its port unless that is the default one.
pub fn host(result: &SelfCheck, expected: &str, scheme: &str) -> Finding {
    const CHECK: Check = Check::Host;
    let SelfCheck::Answered(arrived) = result else { return Finding::not_checked(CHECK, NEEDS_ANSWER) };
    let plain = |text: &str| {
        let port = if scheme == "https" { ":443" } else { ":80" };
        text.strip_suffix(port).unwrap_or(text).to_ascii_lowercase()
    };
    if plain(&arrived.host) != plain(expected) {
        return Finding::problem(
            CHECK,
            format!(
                "The proxy changes the Host header: `{}` arrived instead of `{expected}`. Such requests get 421.",
                arrived.host
            ),
            "Let the proxy keep it. nginx: `proxy_set_header Host $http_host;`, Apache: `ProxyPreserveHost On`; Caddy does so by default.",
        );
    }
    if scheme == "https" && arrived.forwarded_proto.as_deref() == Some("http") {
        return Finding::warning(
            CHECK,
            "The proxy received the request over plain HTTP, although `base_url` begins with https://.",
            "Let the first proxy connect to the next one over HTTPS, and redirect plain HTTP to HTTPS.",
        );
    }
    Finding::ok(CHECK, format!("Host arrives as `{expected}`."))
}

/// What came of a larger or slower request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivery {
    /// Not sent, because the first request was not answered.
    NotSent,
    /// As it should be.
    Complete,
    /// The response to it.
    Refused {
        status: u16,
    },
    /// The connection failed or the response was not as expected; with a sentence.
    Broken(String),
    Late,
}

pub fn upload_size(result: &Delivery, bytes: u64) -> Finding {
    const CHECK: Check = Check::UploadSize;
    let mib = bytes.div_ceil(1 << 20);
    let fix = format!("Let the proxy accept larger bodies. nginx: `client_max_body_size {mib}m;`.");
    match result {
        Delivery::NotSent => Finding::not_checked(CHECK, NEEDS_ANSWER),
        Delivery::Late => Finding::not_checked(
            CHECK,
            format!("Sending {mib} MiB through the public address took too long."),
        ),
        Delivery::Complete => Finding::ok(CHECK, format!("A body of {mib} MiB arrives.")),
        Delivery::Refused { status: 413 } => Finding::problem(
            CHECK,
            format!("The proxy refuses a body of {mib} MiB, the limit for uploads."),
            fix,
        ),
        Delivery::Refused { status } => Finding::problem(
            CHECK,
            format!("A body of {mib} MiB does not arrive: the proxy answers with status {status}."),
            fix,
        ),
        Delivery::Broken(why) => {
            Finding::problem(CHECK, format!("A body of {mib} MiB does not arrive: {why}."), fix)
        }
    }
}

pub fn large_headers(result: &Delivery) -> Finding {
    const CHECK: Check = Check::LargeHeaders;
    const FIX: &str = "nginx: `large_client_header_buffers 4 768k;` and `proxy_buffer_size 16k;`.";
    match result {
        Delivery::NotSent => Finding::not_checked(CHECK, NEEDS_ANSWER),
        Delivery::Late => Finding::not_checked(CHECK, "There was no response in time."),
        Delivery::Complete => Finding::ok(CHECK, "Large headers arrive in both directions."),
        Delivery::Refused { status } => Finding::warning(
            CHECK,
            format!("The proxy does not pass large headers on: it answers with status {status}."),
            FIX,
        ),
        Delivery::Broken(why) => {
            Finding::warning(CHECK, format!("The proxy does not pass large headers on: {why}."), FIX)
        }
    }
}

/// Whether the first part of a response arrived before the last one was written.
pub fn streaming(result: &Delivery) -> Finding {
    const CHECK: Check = Check::Streaming;
    match result {
        Delivery::NotSent => Finding::not_checked(CHECK, NEEDS_ANSWER),
        Delivery::Late => Finding::not_checked(CHECK, "There was no response in time."),
        Delivery::Complete => Finding::ok(CHECK, "Responses arrive while they are written."),
        Delivery::Refused { status } => {
            Finding::not_checked(CHECK, format!("The request was answered with status {status}."))
        }
        Delivery::Broken(why) => Finding::warning(
            CHECK,
            format!("The proxy holds responses back: {why}. MCP clients then wait for notifications."),
            "nginx: `proxy_buffering off;`.",
        ),
    }
}
