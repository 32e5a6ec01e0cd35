//! The exit codes of commands, and the errors that stand for one of them.

use super::{check, ledger, remote};
use dropleaf_client::ClientError;
use dropleaf_core::{Code, Error};
use dropleaf_store::backup::BackupError;
use std::fmt;
use std::process::ExitCode;

/// The arguments do not fit together, or the server refused them. The parser of the command line uses the same code.
const WRONG_USE: u8 = 2;
/// A command found a problem: an inconsistent ledger, files that would be refused, a damaged backup.
const FOUND: u8 = 3;
const NOT_ALLOWED: u8 = 4;
const UNREACHABLE: u8 = 5;

/// The command cannot be carried out with these arguments.
#[derive(Debug)]
pub(super) struct WrongUse(pub(super) String);

/// The command needs a key, and there is none for the server.
#[derive(Debug)]
pub(super) struct NotSignedIn(pub(super) String);

impl fmt::Display for WrongUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for NotSignedIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for WrongUse {}
impl std::error::Error for NotSignedIn {}

/// Whether the content check refused what a command was to store.
fn is_content_refusal(error: &Error) -> bool {
    matches!(error.code, Code::PhishingBlocked | Code::ContentBlocked | Code::SecretsFound)
}

/// The exit code for this error.
pub fn exit_code(error: &anyhow::Error) -> ExitCode {
    let response = error.downcast_ref::<ClientError>();
    let is_found = error.is::<ledger::Unbalanced>()
        || error.is::<check::Refused>()
        || error.downcast_ref::<Error>().is_some_and(is_content_refusal)
        || response.is_some_and(remote::is_refusal);
    if is_found {
        return ExitCode::from(FOUND);
    }
    if error.is::<WrongUse>() {
        return ExitCode::from(WRONG_USE);
    }
    if error.is::<NotSignedIn>() {
        return ExitCode::from(NOT_ALLOWED);
    }
    match error.downcast_ref::<BackupError>() {
        Some(BackupError::Refused(_)) => return ExitCode::from(WRONG_USE),
        Some(BackupError::Damaged(_)) => return ExitCode::from(FOUND),
        Some(BackupError::NotAllowed(_)) => return ExitCode::from(NOT_ALLOWED),
        Some(BackupError::Unreachable(_)) => return ExitCode::from(UNREACHABLE),
        _ => {}
    }
    match response {
        Some(ClientError::Address(_)) => ExitCode::from(WRONG_USE),
        Some(ClientError::Refused { status: 401 | 403, .. }) => ExitCode::from(NOT_ALLOWED),
        Some(ClientError::Unreachable { .. }) => ExitCode::from(UNREACHABLE),
        _ => ExitCode::FAILURE,
    }
}
