//! Cookies as headers. `__Host-` ties each to one host, where browsers take such a cookie; all are out of reach of
//! scripts, and none travels with a form of another site.

use dropleaf_core::host::Origin;
use http::{HeaderMap, HeaderValue, header};

/// What a cookie is called at this origin.
fn name(origin: &Origin, word: &str) -> String {
    let prefix = if origin.takes_secure_cookies() { "__Host-" } else { "" };
    format!("{prefix}{word}")
}

/// The values a browser sent for a cookie of this origin: one, unless somebody planted others.
pub(super) fn read<'a>(
    headers: &'a HeaderMap,
    origin: &Origin,
    word: &str,
) -> impl Iterator<Item = &'a str> + use<'a> {
    let name = name(origin, word);
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    lines
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter_map(move |(key, value)| (key == name).then_some(value))
}

/// The header that keeps it for so many seconds; zero forgets it. The value must be plain: base64url or hexadecimal.
pub(super) fn set(origin: &Origin, word: &str, value: &str, max_age: i64) -> Option<HeaderValue> {
    let secure = if origin.takes_secure_cookies() { "; Secure" } else { "" };
    let name = name(origin, word);
    let text = format!("{name}={value}; Path=/; Max-Age={max_age}; HttpOnly; SameSite=Lax{secure}");
    HeaderValue::from_str(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_tied_to_its_host_where_browsers_take_it() {
        for (url, is_tied) in
            [("https://a.example", true), ("http://localhost:8080", true), ("http://192.0.2.1", false)]
        {
            let origin = Origin::parse(url).unwrap();
            let set = set(&origin, "session", "x", 5).unwrap();
            let line = if is_tied {
                "__Host-session=x; Path=/; Max-Age=5; HttpOnly; SameSite=Lax; Secure"
            } else {
                "session=x; Path=/; Max-Age=5; HttpOnly; SameSite=Lax"
            };
            assert_eq!(set, line, "{url}");
            let mut headers = HeaderMap::new();
            headers
                .append(header::COOKIE, HeaderValue::from_static("a=1; session=plain; __Host-session=tied"));
            headers.append(header::COOKIE, HeaderValue::from_static("b"));
            let expected = if is_tied { "tied" } else { "plain" };
            assert_eq!(read(&headers, &origin, "session").collect::<Vec<_>>(), [expected], "{url}");
        }
    }
}
