//! A path to publish: a file, a folder or standard input, and the key of its entry in the record of published pages.

use crate::cli::exit::WrongUse;
use anyhow::{Context, Result, bail};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathKind {
    File,
    Folder,
    Stdin,
}

/// One PATH of the command line.
#[derive(Debug)]
pub(super) struct PublishPath {
    /// As it was given.
    pub(super) path: PathBuf,
    pub(super) kind: PathKind,
    /// The absolute path; empty for standard input. If the last part is a link, it is not resolved: the name is what
    /// identifies the page, wherever it points today.
    pub(super) absolute: PathBuf,
}

impl PublishPath {
    pub(super) fn find(path: &Path) -> Result<Self> {
        if path == Path::new("-") {
            return Ok(Self { path: path.to_owned(), kind: PathKind::Stdin, absolute: PathBuf::new() });
        }
        let unreadable = || format!("cannot read {}", path.display());
        let meta = std::fs::metadata(path).with_context(unreadable)?;
        let kind = if meta.is_dir() {
            PathKind::Folder
        } else if meta.is_file() {
            PathKind::File
        } else {
            let text = format!(
                "{} is neither a file nor a folder; to publish from a pipe, use: … | dropleaf publish - --name FILE",
                path.display()
            );
            bail!(WrongUse(text));
        };
        let absolute = absolute(path).with_context(unreadable)?;
        Ok(Self { path: path.to_owned(), kind, absolute })
    }

    /// The name of the path in the record of published pages; `None` for standard input, which has no path.
    pub(super) fn record_key(&self) -> Option<String> {
        (self.kind != PathKind::Stdin).then(|| match self.absolute.to_str() {
            Some(text) => text.to_owned(),
            // No path starts with these words, because it starts with a slash.
            None => format!("bytes:{}", self.absolute.as_os_str().as_bytes().escape_ascii()),
        })
    }

    /// For messages.
    pub(super) fn shown(&self) -> String {
        if self.kind == PathKind::Stdin {
            "standard input".to_owned()
        } else {
            self.path.display().to_string()
        }
    }
}

fn absolute(path: &Path) -> std::io::Result<PathBuf> {
    let Some(name) = path.file_name() else { return path.canonicalize() };
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    Ok(parent.unwrap_or_else(|| Path::new(".")).canonicalize()?.join(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_same_file_has_one_name_and_a_link_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir(root.join("site")).unwrap();
        fs::write(root.join("site/a.html"), "a").unwrap();
        std::os::unix::fs::symlink("site", root.join("current")).unwrap();
        let key = |path: &str| PublishPath::find(&root.join(path)).unwrap().record_key().unwrap();
        let site = root.join("site").display().to_string();
        for same in ["site", "site/", "site/.", "site/../site", "current/../site", "./site"] {
            assert_eq!(key(same), site, "{same}");
        }
        assert_eq!(key("current/a.html"), key("site/a.html"));
        assert_ne!(key("current"), site);
    }

    #[test]
    fn what_is_no_file_is_refused_and_standard_input_has_no_name() {
        let error = PublishPath::find(Path::new("/dev/null")).unwrap_err();
        assert!(error.to_string().contains("neither a file nor a folder"), "{error}");
        assert!(PublishPath::find(Path::new("/nowhere/at/all")).is_err());
        assert_eq!(PublishPath::find(Path::new("-")).unwrap().record_key(), None);
    }
}
