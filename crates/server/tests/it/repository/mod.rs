//! Checks documents and generated files of the repository against the code.

mod docs;
mod generated;
mod spec_map;
