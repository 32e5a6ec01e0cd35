//! Detects SVG files, and tells static pictures from interactive documents.

use memchr::memmem;

/// Names of elements and attributes, with their prefix, are shorter than this.
const LONGEST_NAME: usize = 64;

/// Whether the bytes begin an XML document whose first element is `svg`, in UTF-8 or, with a byte order mark, in UTF-16.
pub(crate) fn is_svg(head: &[u8]) -> bool {
    let read: Option<fn([u8; 2]) -> u16> = match head {
        [0xff, 0xfe, ..] => Some(u16::from_le_bytes),
        [0xfe, 0xff, ..] => Some(u16::from_be_bytes),
        _ => None,
    };
    let Some(read) = read else { return begins_svg(head) };
    let units = head[2..].chunks_exact(2).map(|pair| read([pair[0], pair[1]]));
    let text: String = char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
    begins_svg(text.as_bytes())
}

fn begins_svg(head: &[u8]) -> bool {
    let mut rest = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    loop {
        let end: &[u8] = if rest.starts_with(b"<!--") {
            b"-->"
        } else if rest.starts_with(b"<?") {
            b"?>"
        } else if rest.get(..9).is_some_and(|start| start.eq_ignore_ascii_case(b"<!doctype")) {
            // An internal subset contains declarations.
            let plain = memchr::memchr(b'>', rest);
            let subset = memchr::memchr(b'[', rest).filter(|at| plain.is_none_or(|plain| *at < plain));
            if subset.is_some() { b"]>" } else { b">" }
        } else {
            break;
        };
        match memmem::find(rest, end) {
            Some(at) => rest = rest[at + end.len()..].trim_ascii_start(),
            None => return false,
        }
    }
    let Some(name) = rest.strip_prefix(b"<") else { return false };
    let stop =
        name.iter().position(|b| b.is_ascii_whitespace() || matches!(b, b'>' | b'/')).unwrap_or(name.len());
    name[..stop].rsplit(|b| *b == b':').next() == Some(b"svg")
}

/// Text (in lower case) that makes an SVG more than a picture, or is likely to.
const ACTIVE: [&str; 9] = [
    "script",
    "foreignobject",
    "xml-stylesheet",
    "@import",
    ":hover",
    "cursor",
    "<!entity",
    "begin=",
    "://www.w3.org/1999/xhtml",
];

/// Whether an SVG looks the same when it is shown as a picture: it has no scripts, no links and loads nothing. False in case
/// of doubt.
pub(crate) fn is_picture(text: &str) -> bool {
    let small = text.to_ascii_lowercase();
    let bytes = small.as_bytes();
    if ACTIVE.iter().any(|word| memmem::find(bytes, word.as_bytes()).is_some()) {
        return false;
    }
    let loads = ["href", "url("]
        .iter()
        .any(|word| memmem::find_iter(bytes, word).any(|at| !stays_inside(&small[at + word.len()..])));
    !loads && !has_handler(bytes) && !has_link(bytes)
}

/// Whether the text after `href` or `url(` refers to a part of the same SVG, or to embedded data.
fn stays_inside(rest: &str) -> bool {
    let target = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || matches!(c, '=' | '"' | '\''));
    target.starts_with('#') || target.starts_with("data:")
}

/// Whether there is an attribute such as `onclick=`.
fn has_handler(text: &[u8]) -> bool {
    memmem::find_iter(text, b"on").any(|at| {
        let starts =
            at > 0 && (text[at - 1].is_ascii_whitespace() || matches!(text[at - 1], b'"' | b'\'' | b'/'));
        starts && {
            let rest = &text[at..text.len().min(at + LONGEST_NAME)];
            let name = rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
            name == rest.len() || rest[name..].trim_ascii_start().first().is_none_or(|byte| *byte == b'=')
        }
    })
}

/// Whether there is an element `a`, with or without a prefix.
fn has_link(text: &[u8]) -> bool {
    memchr::memchr_iter(b'<', text).any(|at| {
        let rest = &text[at + 1..text.len().min(at + 1 + LONGEST_NAME)];
        let name = rest.split(|byte| byte.is_ascii_whitespace() || matches!(byte, b'<' | b'>' | b'/')).next();
        name.and_then(|name| name.rsplit(|byte| *byte == b':').next()) == Some(b"a")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawings_begin_with_their_element() {
        for good in [
            "<svg/>",
            "<svg xmlns='http://www.w3.org/2000/svg'>",
            "\u{feff}<?xml version='1.0'?>\n<!-- made > by hand --> <!DOCTYPE svg PUBLIC 'a' 'b'>\n<svg>",
            "<!DOCTYPE svg [ <!ENTITY a '>'> ]><svg:svg xmlns:svg='x'>",
        ] {
            assert!(is_svg(good.as_bytes()), "{good}");
            assert!(utf16(good).iter().all(|bytes| is_svg(bytes)), "{good}");
        }
        for bad in [
            "",
            "<",
            "<html><svg>",
            "<!doctype html><p>",
            "text",
            "<!-- ",
            "<svgx>",
            "<?xml",
            "<!DOCTYPE svg [",
        ] {
            assert!(!is_svg(bad.as_bytes()), "{bad}");
            assert!(!utf16(bad).iter().any(|bytes| is_svg(bytes)), "{bad}");
        }
    }

    /// The text in UTF-16 with a byte order mark, in both byte orders.
    fn utf16(text: &str) -> [Vec<u8>; 2] {
        let units: Vec<u16> =
            "\u{feff}".encode_utf16().chain(text.trim_start_matches('\u{feff}').encode_utf16()).collect();
        [u16::to_le_bytes, u16::to_be_bytes].map(|bytes| units.iter().copied().flat_map(bytes).collect())
    }

    #[test]
    fn interactive_drawing_is_no_picture() {
        for still in [
            "<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink'><rect fill='url(#g)'/></svg>",
            "<svg><use xlink:href = '#a'/><image href=\"data:image/png;base64,AA\"/><text>on = 1, a < b</text></svg>",
            "<svg><style>.a{fill:url( #g )}</style><animate attributeName='x' dur='1s'/></svg>",
        ] {
            assert!(is_picture(still), "{still}");
        }
        for interactive in [
            "<svg><script>1</script></svg>",
            "<svg><SCRIPT/></svg>",
            "<svg onload='f()'/>",
            "<svg><rect/onclick = f() /></svg>",
            "<svg><a href='#b'/></svg>",
            "<svg><svg:a xlink:href='#b'/></svg>",
            "<svg><image href='b.png'/></svg>",
            "<svg><use href='https://x.example/a.svg#b'/></svg>",
            "<svg><rect fill='url(b.svg#g)'/></svg>",
            "<svg><style>@import 'b.css'; rect:hover{}</style></svg>",
            "<svg><foreignObject/></svg>",
            "<?xml-stylesheet href='#a'?><svg/>",
            "<svg><animate begin='b.click'/></svg>",
        ] {
            assert!(!is_picture(interactive), "{interactive}");
        }
    }

    #[test]
    fn hostile_drawings_take_no_longer_than_they_are() {
        for piece in ["<", "on", " on", "<a:", "href", "url("] {
            is_picture(&format!("<svg>{}", piece.repeat((8 << 20) / piece.len())));
        }
    }
}
