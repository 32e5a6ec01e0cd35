//! Resolves relative URLs inside an upload, and finds the script files that a text names.

use crate::phishing::reader::encodings::percent;

/// Longer URLs are not taken for file names.
const LONGEST: usize = 512;

/// The path in the upload that a relative URL of a page leads to, in lowercase, so that a script cannot escape the
/// check by the case of its name.
pub(crate) fn resolve(page: &str, address: &str) -> String {
    let address = address.split(['?', '#']).next().unwrap_or_default();
    let mut segments: Vec<&str> =
        if address.starts_with(['/', '\\']) { Vec::new() } else { page.split('/').collect() };
    segments.pop();
    segments.retain(|segment| !segment.is_empty());
    let address = if address.contains('%') { percent(address) } else { address.to_owned() };
    for segment in address.split(['/', '\\']) {
        match segment {
            "." | "" => {}
            ".." => {
                segments.pop();
            }
            _ => segments.push(segment),
        }
    }
    segments.join("/").to_lowercase()
}

/// The path that relative URLs of a page with `<base>` are resolved against.
pub(crate) fn based(page: &str, base: &str) -> String {
    let mut place = resolve(page, base);
    if base.split(['?', '#']).next().is_some_and(|path| path.ends_with(['/', '\\'])) {
        place.push('/');
    }
    place
}

/// Quoted strings that end like a script's file name: imports, `src` values, worker URLs. One forward pass, whatever
/// their number.
pub(crate) fn named_scripts(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let mut from = 0;
    memchr::memchr2_iter(b'j', b'J', bytes).filter_map(move |at| {
        let end = at + 2;
        let is_name = bytes.get(at + 1).is_some_and(|b| b.eq_ignore_ascii_case(&b's'))
            && at.checked_sub(1).is_some_and(|before| is_ending(&bytes[..=before]))
            && bytes.get(end).is_some_and(|b| matches!(b, b'"' | b'\'' | b'`' | b'?' | b'#' | b'&'));
        if !is_name {
            return None;
        }
        let since = from.max(at.saturating_sub(LONGEST));
        from = end;
        let quote = memchr::memrchr3(b'"', b'\'', b'`', &bytes[since..at])?;
        text.get(since + quote + 1..end)
    })
}

/// Whether the text before `js` ends in `.`, `.m` or `.c`.
fn is_ending(before: &[u8]) -> bool {
    before.ends_with(b".")
        || matches!(before, [.., b'.', letter] if matches!(letter.to_ascii_lowercase(), b'm' | b'c'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_lead_to_paths() {
        for (page, address, path) in [
            ("index.html", "a.js", "a.js"),
            ("x/index.html", "./a.js?v=1#y", "x/a.js"),
            ("x/y/index.html", "../A.js", "x/a.js"),
            ("x/index.html", "/a.js", "a.js"),
            ("x/index.html", "%61%2ejs", "x/a.js"),
            ("x/index.html", "..\\b\\a.js", "b/a.js"),
            ("index.html", "../../a.js", "a.js"),
        ] {
            assert_eq!(resolve(page, address), path, "{page} {address}");
        }
        assert_eq!(resolve(&based("x/index.html", "sub/"), "a.js"), "x/sub/a.js");
        assert_eq!(resolve(&based("x/index.html", "sub/z.html"), "a.js"), "x/sub/a.js");
        assert_eq!(resolve(&based("x/index.html", "/"), "a.js"), "a.js");
    }

    #[test]
    fn scripts_are_named_in_quotes() {
        let names = |text| named_scripts(text).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(
            names(
                "import './a.js'; import x from \"../b.mjs\";import(`c.CJS`);s.src='d.js?v=1' // e.js x.json 'f.jsx'"
            ),
            ["./a.js", "../b.mjs", "c.CJS", "d.js"]
        );
        assert_eq!(names(&".js".repeat(100)), [""; 0]);
    }
}
