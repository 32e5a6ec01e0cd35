//! Finds the paths in an import map: the values of its object, at any depth.

/// Import maps are short; anything beyond this is not read.
pub(crate) const MOST_BYTES: usize = 64 * 1024;

/// Every value that is the path of a file. URLs of other sites and folders are left out.
pub(crate) fn paths(map: &str) -> impl Iterator<Item = &str> {
    let is_path = |value: &&str| value.starts_with(['.', '/']) && !value.ends_with('/');
    values(map).filter(is_path)
}

/// The strings that follow a colon, except those with an escaped quote, which are not paths.
fn values(map: &str) -> impl Iterator<Item = &str> {
    let mut rest = map;
    std::iter::from_fn(move || {
        loop {
            let open = rest.find('"')?;
            let is_value = rest[..open].trim_end().ends_with(':');
            let text = &rest[open + 1..];
            let close = text.find('"')?;
            let escaped = text[..close].ends_with('\\');
            rest = &text[close + 1..];
            if is_value && !escaped {
                return Some(&text[..close]);
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_are_paths_are_found() {
        let map = r#"{"imports": {"three": "./three.module.js", "three/addons/": "./addons/", "vue": "https://x/vue.js",
                      "/a.js" : "/b.js"}, "scopes": {"./x/": {"y": "../y.mjs"}}, "odd": "./a\"b"}"#;
        assert_eq!(paths(map).collect::<Vec<_>>(), ["./three.module.js", "/b.js", "../y.mjs"]);
        assert_eq!(paths("{\"a\": \"").count(), 0);
    }
}
