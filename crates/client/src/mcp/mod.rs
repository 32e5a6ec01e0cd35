//! The bridge between a client of the Model Context Protocol that speaks over standard input and output and the server's
//! `/mcp`. It carries messages and knows no tool, so both ways offer the same.
//!
//! `bridge` reads lines and starts exchanges; `exchange` sends one message and waits for its answer; `session` is what
//! the older revisions keep between messages; `listener` holds their stream of news open.

mod bridge;
mod exchange;
mod lines;
mod listener;
mod message;
mod session;
mod sse;
mod trouble;
mod wire;

pub use bridge::{Bridge, BridgeOptions};
pub use lines::{LONGEST, Line, Lines};
