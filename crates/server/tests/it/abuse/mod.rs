//! Tests limits that protect the server: requests, storage, connections, request heads and memory.

mod anonymous_room;
mod anonymous_upload;
mod head_size;
mod limits;
mod limits_nodes;
mod slow_readers;
mod stored_turns;
