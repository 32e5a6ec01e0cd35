//! Tests published pages as viewers get them, and the feedback that viewers leave.

mod addresses;
mod changes;
mod encrypted;
mod fast_path;
mod feedback;
mod feedback_hostile;
mod feedback_list;
mod feedback_replies;
mod feedback_threads;
mod feedback_toolbar;
mod hosts;
mod live;
mod live_comments;
mod root_cookie;
mod root_paths;
mod sandboxed_frames;
mod shared_address;
mod static_addresses;
mod strict_csp;
mod view_counts;
mod view_files;
mod view_fresh;
mod view_headers;
mod view_http;
mod view_page;
mod view_stale;
