//! The options of an upload, listed once: forms and the check for misspelled protections are parsed by this table, and tests
//! compare the types of JSON bodies, MCP tools and OpenAPI with it. `options` gives each its meaning. Spec §2 `SiteUpload`.

/// How JSON sends an option; forms send text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionKind {
    Text,
    Flag,
    /// A number of hours, `never`, or null with the same meaning.
    Hours,
    EpochSeconds,
}

#[derive(Debug, Clone, Copy)]
pub struct UploadOption {
    pub name: &'static str,
    pub alias: Option<&'static str>,
    pub kind: OptionKind,
    /// Not a protection: an empty one counts as not sent.
    pub may_be_empty: bool,
}

const fn option(name: &'static str, kind: OptionKind) -> UploadOption {
    UploadOption { name, alias: None, kind, may_be_empty: false }
}

pub const UPLOAD_OPTIONS: [UploadOption; 15] = [
    UploadOption { alias: Some("public_slug"), ..option("slug", OptionKind::Text) },
    option("password", OptionKind::Text),
    option("expires_in_hours", OptionKind::Hours),
    option("burn_after_read", OptionKind::Flag),
    option("e2e", OptionKind::Flag),
    option("csp_strict", OptionKind::Flag),
    UploadOption { may_be_empty: true, ..option("agentation", OptionKind::Flag) },
    UploadOption { may_be_empty: true, ..option("live", OptionKind::Flag) },
    UploadOption { may_be_empty: true, ..option("show_changes", OptionKind::Flag) },
    UploadOption { may_be_empty: true, ..option("spa", OptionKind::Flag) },
    UploadOption { alias: Some("allowed_email_domain"), ..option("email_gate_domain", OptionKind::Text) },
    UploadOption { may_be_empty: true, ..option("title", OptionKind::Text) },
    option("visibility", OptionKind::Text),
    option("pii_check", OptionKind::Text),
    // Only for a replacement.
    option(EXPECTED_UPDATED_AT, OptionKind::EpochSeconds),
];

/// The option that only a replacement takes.
pub const EXPECTED_UPDATED_AT: &str = "expected_updated_at";

/// The names, without aliases.
pub const NAMES: [&str; UPLOAD_OPTIONS.len()] = {
    let mut names = [""; UPLOAD_OPTIONS.len()];
    let mut i = 0;
    while i < names.len() {
        names[i] = UPLOAD_OPTIONS[i].name;
        i += 1;
    }
    names
};

/// The option with this name or alias.
pub fn find(name: &str) -> Option<&'static UploadOption> {
    UPLOAD_OPTIONS.iter().find(|option| option.name == name || option.alias == Some(name))
}

/// The aliases, each with the name it stands for.
pub fn aliases() -> impl Iterator<Item = (&'static str, &'static str)> {
    UPLOAD_OPTIONS.iter().filter_map(|option| Some((option.alias?, option.name)))
}
