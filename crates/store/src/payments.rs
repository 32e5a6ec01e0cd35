//! Rows of `payments`: reserved under a key that no second payment has, moved on by guarded statements, kept for good.
