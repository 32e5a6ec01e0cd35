//! Judges whether the files of pages can be stored, read, listed and deleted.

use super::{Check, Finding};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyStore {
    Folder,
    Bucket,
}

/// What is tried with a small object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyStep {
    Write,
    Read,
    List,
    Multipart,
    Delete,
}

impl BodyStep {
    /// As in "cannot …".
    const fn verb(self) -> &'static str {
        match self {
            Self::Write => "write objects",
            Self::Read => "read objects",
            Self::List => "list objects",
            Self::Multipart => "upload an object in parts",
            Self::Delete => "delete objects",
        }
    }

    /// The right that an access key needs.
    const fn right(self) -> &'static str {
        match self {
            Self::Write => "s3:PutObject",
            Self::Read => "s3:GetObject",
            Self::List => "s3:ListBucket",
            Self::Multipart => "s3:PutObject and s3:AbortMultipartUpload",
            Self::Delete => "s3:DeleteObject",
        }
    }
}

/// Why a step failed, without texts of the other server, which may contain secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepFailure {
    Denied,
    /// The access key or its signature is wrong.
    Unauthenticated,
    NoSuchBucket,
    ClockSkewed,
    Unreachable,
    Full,
    /// What was read is not what was written.
    Different,
    Other,
}

#[derive(Debug, Clone)]
pub enum BodiesFacts {
    /// It could not be opened; the reason contains no secret.
    NotOpened(String),
    /// The steps in their order; those after a failed write are left out.
    Tried { store: BodyStore, steps: Vec<(BodyStep, Option<StepFailure>)> },
}

pub fn bodies(facts: &BodiesFacts) -> Finding {
    const CHECK: Check = Check::Bodies;
    let (store, steps) = match facts {
        BodiesFacts::NotOpened(why) => {
            return Finding::problem(
                CHECK,
                format!("The storage for files cannot be opened: {why}."),
                "Check `blobs_url`.",
            );
        }
        BodiesFacts::Tried { store, steps } => (*store, steps),
    };
    let failed: Vec<_> = steps.iter().filter_map(|(step, failure)| Some((*step, (*failure)?))).collect();
    let parts = failed.iter().map(|(step, failure)| judge(store, *step, *failure)).collect();
    Finding::join(CHECK, parts).unwrap_or_else(|| {
        let place = if store == BodyStore::Bucket { "The bucket" } else { "The folder" };
        Finding::ok(CHECK, format!("{place} can be written, read and listed, and objects can be deleted."))
    })
}

fn judge(store: BodyStore, step: BodyStep, failure: StepFailure) -> Finding {
    const CHECK: Check = Check::Bodies;
    let cannot = format!("The server cannot {}", step.verb());
    if failure == StepFailure::Full {
        return Finding::problem(
            CHECK,
            format!("{cannot}: the disk is full."),
            "Free some space, or move `blobs_url` to a larger disk.",
        );
    }
    if store == BodyStore::Folder {
        return Finding::problem(
            CHECK,
            format!("{cannot} in the folder of `blobs_url`."),
            "Give the user of the server the folder: `chown -R dropleaf: DIR`, and check that the disk is not mounted read-only.",
        );
    }
    let (why, fix) = match failure {
        StepFailure::Denied => {
            ("access is denied", format!("Give the access key the right {} for the bucket.", step.right()))
        }
        StepFailure::Unauthenticated => (
            "the access key is refused",
            "Check `s3.access_key_id` and `s3.secret_access_key`, and `region` in `blobs_url`.".to_owned(),
        ),
        StepFailure::NoSuchBucket => {
            ("the bucket does not exist", "Create the bucket, or correct its name in `blobs_url`.".to_owned())
        }
        StepFailure::ClockSkewed => (
            "the clocks differ too much",
            "Set the clock of this machine: `timedatectl set-ntp true`.".to_owned(),
        ),
        StepFailure::Unreachable => {
            ("the S3 server does not respond", "Check `endpoint` in `blobs_url`, and the network.".to_owned())
        }
        StepFailure::Different => (
            "it reads something else than it wrote",
            "Check that `blobs_url` leads to one bucket without a cache.".to_owned(),
        ),
        StepFailure::Full | StepFailure::Other => {
            ("the S3 server reports an error", "See the log of the S3 server.".to_owned())
        }
    };
    Finding::problem(CHECK, format!("{cannot}: {why}."), fix)
}
