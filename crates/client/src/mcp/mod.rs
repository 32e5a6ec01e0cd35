//! The bridge between an MCP (Model Context Protocol) client on standard input and output and the server's `/mcp`. It forwards
//! messages and knows no tools, so both transports offer the same ones.
//!
//! `bridge` reads lines and starts exchanges; `exchange` sends one message until it is answered; `link` sends it once; `session`
//! is the state that older protocol versions keep between messages; `listener` keeps their notification stream open.

mod backoff;
mod bridge;
mod exchange;
mod failure;
mod lines;
mod link;
mod listener;
mod message;
mod session;
mod sse;
mod wire;

pub use bridge::{Bridge, BridgeOptions};
pub use lines::{LONGEST, Line, Lines};
