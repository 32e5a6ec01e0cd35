//! Entries of an archive that are not published.

use super::entry::ZipEntry;
use crate::name_list::NameList;

/// Whether an entry is not published: files that operating systems add, and hidden files, which are meant for tools and
/// contain secrets more often than pages (`.git`, `.env`). That includes `.well-known/`, whose files would speak for the
/// server on the page's host.
pub fn is_excluded(name: &str) -> bool {
    let path = name.strip_suffix('/').unwrap_or(name);
    let last = path.rsplit('/').next().unwrap_or_default();
    path.split('/').next() == Some("__MACOSX")
        || path.split('/').any(|part| part.starts_with('.'))
        || ["Thumbs.db", "desktop.ini"].iter().any(|junk| last.eq_ignore_ascii_case(junk))
}

/// One line about everything that is left out.
pub(super) fn warning(left_out: &[&ZipEntry]) -> Option<String> {
    let names = || left_out.iter().filter(|entry| !entry.is_folder()).map(|entry| entry.name.as_str());
    let files: NameList = names().collect();
    if files.is_empty() {
        return None;
    }
    let what = if files.count() == 1 { "hidden or system file was" } else { "hidden or system files were" };
    let mut line = format!("{} {what} not published: {files}.", files.count());
    if names().any(|name| name.split('/').any(|part| part == ".well-known")) {
        line.push_str(" Pages cannot serve files under .well-known/.");
    }
    Some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_and_system_files_are_left_out() {
        for name in [
            "./",
            ".env",
            "a/.git/config",
            ".doctrees/",
            ".well-known/x",
            "site/.well-known/x",
            ".nojekyll",
            "__MACOSX/",
            "__MACOSX/._a",
            "a/.DS_Store",
            "thumbs.db",
            "x/Thumbs.db",
            "Desktop.ini",
            "...",
        ] {
            assert!(is_excluded(name), "{name}");
        }
        for name in ["a/__MACOSX/b", "DS_Store", "a.b/c", "well-known/x", "thumbs.db/x", "a/b."] {
            assert!(!is_excluded(name), "{name}");
        }
    }

    #[test]
    fn what_is_left_out_is_counted_and_a_few_are_named() {
        let entries: Vec<ZipEntry> =
            [".env", ".git/", ".git/config", ".git/HEAD", ".vite/x", ".DS_Store", ".a", ".b"]
                .map(|name| ZipEntry::named(name.to_owned()))
                .into();
        let line = |count: usize| warning(&entries.iter().take(count).collect::<Vec<_>>());
        assert_eq!(line(0), None);
        assert_eq!(line(2).unwrap(), "1 hidden or system file was not published: .env.");
        assert_eq!(
            line(8).unwrap(),
            "7 hidden or system files were not published: .env, .git/config, .git/HEAD, .vite/x, .DS_Store \
             and 2 more."
        );
        let known = ZipEntry::named(".well-known/security.txt".to_owned());
        assert!(warning(&[&known]).unwrap().ends_with("Pages cannot serve files under .well-known/."));
    }
}
