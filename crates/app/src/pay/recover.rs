//! Finishes payments that a crash or a silent facilitator left open.
