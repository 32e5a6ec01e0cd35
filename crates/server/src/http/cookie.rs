//! Reads and writes cookies. `__Host-` binds each to one host where browsers accept the prefix; all are `HttpOnly` and
//! `SameSite=Lax`, so that no POST form of another site sends them.

use http::{HeaderMap, HeaderValue, header};

/// The cookie's name at a host where browsers accept `Secure` cookies, or not.
fn name(is_secure: bool, word: &str) -> String {
    let prefix = if is_secure { "__Host-" } else { "" };
    format!("{prefix}{word}")
}

/// The values a browser sent for a cookie: one, unless others were planted. The header is parsed as
/// bytes, pair by pair: a page on a sibling host can plant a cookie that is not ASCII, and it must not hide the others.
pub(super) fn read<'a>(
    headers: &'a HeaderMap,
    is_secure: bool,
    word: &str,
) -> impl Iterator<Item = &'a str> + use<'a> {
    let name = name(is_secure, word);
    let pairs = headers.get_all(header::COOKIE).iter().flat_map(|line| line.as_bytes().split(|b| *b == b';'));
    pairs
        .filter_map(|pair| std::str::from_utf8(pair).ok()?.trim_ascii().split_once('='))
        .filter_map(move |(key, value)| (key == name && value.is_ascii()).then_some(value))
}

/// The `Set-Cookie` value with a lifetime in seconds; zero deletes the cookie. The value must be base64url or
/// hexadecimal.
pub(super) fn set(is_secure: bool, word: &str, value: &str, max_age: i64) -> Option<HeaderValue> {
    write(is_secure, word, value, &format!("; Max-Age={max_age}"))
}

/// The `Set-Cookie` value that lasts until the browser is closed.
pub(super) fn set_for_session(is_secure: bool, word: &str, value: &str) -> Option<HeaderValue> {
    write(is_secure, word, value, "")
}

fn write(is_secure: bool, word: &str, value: &str, max_age: &str) -> Option<HeaderValue> {
    let secure = if is_secure { "; Secure" } else { "" };
    let name = name(is_secure, word);
    HeaderValue::from_str(&format!("{name}={value}; Path=/{max_age}; HttpOnly; SameSite=Lax{secure}")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropleaf_core::host::Origin;

    #[test]
    fn a_cookie_that_is_not_ascii_hides_no_other() {
        let read = |lines: &[&[u8]]| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(header::COOKIE, HeaderValue::from_bytes(line).unwrap());
            }
            read(&headers, true, "session").map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(read(&[b"x=\xff\xfe; __Host-session=good; y=\xe9"]), ["good"]);
        assert_eq!(
            read(&[b"\xc3\xa9=1", b"__Host-session=good", b"\xff"]),
            ["good"],
            "as HTTP/2 splits them"
        );
        assert_eq!(read(&[b"__Host-session=\xff; __Host-session=good"]), ["good"]);
        assert_eq!(read(&["__Host-session=\u{e9}; a=b".as_bytes()]), [""; 0], "not a value of ours");
        assert_eq!(read(&[b";;=;  __Host-session=good  ;"]), ["good"]);
    }

    #[test]
    fn a_cookie_is_tied_to_its_host_where_browsers_take_it() {
        for (url, is_tied) in
            [("https://a.example", true), ("http://localhost:8080", true), ("http://192.0.2.1", false)]
        {
            let is_secure = Origin::parse(url).unwrap().takes_secure_cookies();
            let set = set(is_secure, "session", "x", 5).unwrap();
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
            assert_eq!(read(&headers, is_secure, "session").collect::<Vec<_>>(), [expected], "{url}");
        }
    }
}
