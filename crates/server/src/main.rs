//! The binary: reads the environment once and hands over to the command line.

use std::process::ExitCode;

/// Publishes about 14% and serves about 8% more pages per CPU time than the system allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[expect(clippy::disallowed_methods, reason = "the one place where the environment comes in")]
fn main() -> ExitCode {
    let env: Vec<(String, String)> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    dropleaf::cli::finish(&dropleaf::cli::Cli::from_arguments().run(env))
}
