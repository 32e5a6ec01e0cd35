//! Where a person goes after signing in: only paths on this host, which prevents open redirects.

/// The maximum length: enough for a complete authorization request.
const LONGEST: usize = 4096;

/// The path, if no browser can interpret it as another host.
pub fn local(path: &str) -> Option<&str> {
    let plain = path.bytes().all(|b| b.is_ascii_graphic() && b != b'\\');
    let own = path.starts_with('/') && !path.starts_with("//");
    (plain && own && path.len() <= LONGEST).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::local;

    #[test]
    fn only_paths_of_this_host_are_followed() {
        for good in ["/", "/dashboard?q=a%20b", "/oauth/authorize?redirect_uri=http%3A%2F%2Fx", "/a//b"] {
            assert_eq!(local(good), Some(good));
        }
        for bad in [
            "",
            "//evil.example",
            "/\\evil.example",
            "\\\\evil",
            "https://evil.example",
            "/a\nb",
            "/a b",
            "/\t/x",
            "x",
        ] {
            assert_eq!(local(bad), None, "{bad:?}");
        }
        assert_eq!(local(&format!("/{}", "a".repeat(5000))), None);
    }
}
