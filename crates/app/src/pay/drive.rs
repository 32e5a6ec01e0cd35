//! Drives a reserved payment to its end: asks to settle it, reads the answer, and makes what it buys.
