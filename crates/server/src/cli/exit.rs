//! The exit codes of commands, and the errors that stand for one of them. docs/cli.md has the same table.

use super::output::visible;
use super::{check, doctor, ledger, remote};
use dropleaf_client::ClientError;
use dropleaf_core::{Code, Error};
use dropleaf_store::DbError;
use dropleaf_store::backup::BackupError;
use std::fmt;
use std::process::ExitCode;

/// What each exit code means. They are stable: scripts rely on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Exit {
    Done = 0,
    Failed = 1,
    WrongUse = 2,
    Found = 3,
    NotAllowed = 4,
    Unreachable = 5,
    NewerSchema = 6,
}

impl Exit {
    #[cfg(test)]
    const ALL: [Self; 7] = [
        Self::Done,
        Self::Failed,
        Self::WrongUse,
        Self::Found,
        Self::NotAllowed,
        Self::Unreachable,
        Self::NewerSchema,
    ];

    /// The sentence in docs/cli.md.
    #[cfg(test)]
    const fn meaning(self) -> &'static str {
        match self {
            Self::Done => "Done.",
            Self::Failed => "Failed: the message says why.",
            Self::WrongUse => "Wrong use: unknown options, or arguments that do not fit together.",
            Self::Found => "Refused by the content check, or a check found a problem.",
            Self::NotAllowed => "Not signed in, or not allowed.",
            Self::Unreachable => "The server cannot be reached.",
            Self::NewerSchema => "A newer version of the program has upgraded the database.",
        }
    }
}

/// The command cannot be carried out with these arguments. The parser of the command line uses the same code.
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

/// Prints the error of a command, if there is one, and returns the exit code.
pub fn finish(outcome: &anyhow::Result<()>) -> ExitCode {
    let exit = match outcome {
        Ok(()) => Exit::Done,
        Err(error) => {
            eprintln!("dropleaf: {}", error_text(error));
            exit_of(error)
        }
    };
    ExitCode::from(exit as u8)
}

/// An error for the terminal. It may repeat what a server or a file said; its own line breaks stay.
pub(super) fn error_text(error: &anyhow::Error) -> String {
    let text = format!("{error:#}");
    let lines: Vec<String> = text.lines().map(visible).collect();
    lines.join("\n")
}

fn exit_of(error: &anyhow::Error) -> Exit {
    let response = error.downcast_ref::<ClientError>();
    let is_found = error.is::<ledger::Unbalanced>()
        || error.is::<check::Refused>()
        || error.is::<doctor::ProblemsFound>()
        || error.downcast_ref::<Error>().is_some_and(is_content_refusal)
        || response.is_some_and(remote::is_refusal);
    if is_found {
        return Exit::Found;
    }
    if error.is::<WrongUse>() {
        return Exit::WrongUse;
    }
    if error.is::<NotSignedIn>() {
        return Exit::NotAllowed;
    }
    if matches!(error.downcast_ref::<DbError>(), Some(DbError::NewerSchema { .. })) {
        return Exit::NewerSchema;
    }
    match error.downcast_ref::<BackupError>() {
        Some(BackupError::Db(DbError::NewerSchema { .. })) => return Exit::NewerSchema,
        Some(BackupError::Refused(_)) => return Exit::WrongUse,
        Some(BackupError::Damaged(_)) => return Exit::Found,
        Some(BackupError::NotAllowed(_)) => return Exit::NotAllowed,
        Some(BackupError::Unreachable(_)) => return Exit::Unreachable,
        _ => {}
    }
    match response {
        Some(ClientError::Address(_)) => Exit::WrongUse,
        Some(ClientError::Refused { status: 401 | 403, .. }) => Exit::NotAllowed,
        Some(ClientError::Unreachable { .. }) => Exit::Unreachable,
        _ => Exit::Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::help;

    #[test]
    fn the_documentation_has_the_same_table() {
        let page = include_str!("../../../../docs/cli.md");
        let section = page.split("\n## Exit codes\n").nth(1).unwrap().split("\n## ").next().unwrap();
        let rows: Vec<&str> =
            section.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| Code")).collect();
        let expected: Vec<String> =
            Exit::ALL.map(|exit| format!("| {} | {} |", exit as u8, exit.meaning())).into();
        assert_eq!(rows, expected);
    }

    #[test]
    fn errors_keep_their_lines_and_move_no_cursor() {
        let error = anyhow::anyhow!("a\u{1b}[2J\nb").context("not published");
        assert_eq!(error_text(&error), "not published: a\\u{1b}[2J\nb");
    }

    #[test]
    fn each_error_has_its_code() {
        let refused = |status: u16, reasons: serde_json::Value| {
            let body = serde_json::json!({ "reasons": reasons });
            let (code, description) = ("x".to_owned(), "x".to_owned());
            let reasons = match body["reasons"].as_array() {
                Some(list) if !list.is_empty() => vec![dropleaf_client::Reason {
                    rule: String::new(),
                    file: String::new(),
                    line: None,
                    why: String::new(),
                    fix: String::new(),
                }],
                _ => Vec::new(),
            };
            ClientError::Refused { status, code, description, retry_after: None, reasons, body }.into()
        };
        let away = ClientError::Unreachable { server: "x".into(), why: "y".into() };
        let newer = || DbError::NewerSchema { found: 2, known: 1 };
        let cases: [(anyhow::Error, Exit); 11] = [
            (anyhow::anyhow!("x"), Exit::Failed),
            (WrongUse("x".into()).into(), Exit::WrongUse),
            (ClientError::Address("x".into()).into(), Exit::WrongUse),
            (ledger::Unbalanced.into(), Exit::Found),
            (refused(422, serde_json::json!([1])), Exit::Found),
            (refused(422, serde_json::json!([])), Exit::Failed),
            (refused(403, serde_json::json!([])), Exit::NotAllowed),
            (NotSignedIn("x".into()).into(), Exit::NotAllowed),
            (anyhow::Error::from(away).context("was not published"), Exit::Unreachable),
            (anyhow::Error::from(newer()).context("cannot migrate the database"), Exit::NewerSchema),
            (BackupError::from(newer()).into(), Exit::NewerSchema),
        ];
        for (error, exit) in cases {
            assert_eq!(exit_of(&error), exit, "{error:#}");
        }
        let wrong = help::command().try_get_matches_from(["dropleaf", "--nonsense"]).unwrap_err();
        assert_eq!(wrong.exit_code(), i32::from(Exit::WrongUse as u8));
    }
}
