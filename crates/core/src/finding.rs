//! What a check found in an upload: which rule, where, why it counts, and what would help. Sent as `reasons`.

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The name of the rule, which does not change.
    pub rule: String,
    /// The path inside the upload.
    pub file: String,
    /// From 1; None when it is about the file as a whole.
    pub line: Option<u64>,
    pub why: String,
    pub fix: String,
}
