//! Decodes the encodings that hide a page inside a script: base64, percent-encoding and lists of character codes.

/// Shorter literals hide nothing worth decoding.
const SHORTEST: usize = 16;

/// The decoded text of a literal, if it is encoded.
pub(crate) fn decode_literal(literal: &str) -> Option<String> {
    let literal = literal.trim();
    if literal.len() < SHORTEST {
        return None;
    }
    if literal.matches('%').take(6).count() == 6 {
        return Some(percent(literal));
    }
    let packed = literal.split_once(";base64,").map_or(literal, |(_, packed)| packed);
    base64(packed)
}

/// Decodes base64 of readable text. Gives up on images and fonts after the first 256 bytes.
pub(crate) fn base64(packed: &str) -> Option<String> {
    const LOOK: usize = 256;
    let mut text = Vec::with_capacity(packed.len().min(LOOK));
    let (mut bits, mut held) = (0_u32, 0);
    for byte in packed.bytes() {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => break,
            b' ' | b'\n' | b'\r' | b'\t' => continue,
            _ => return None,
        };
        bits = bits << 6 | u32::from(digit);
        held += 6;
        if held >= 8 {
            held -= 8;
            let Ok(byte) = u8::try_from(bits >> held & 0xff) else { return None };
            text.push(byte);
            if text.len() == LOOK && !is_readable(&text) {
                return None;
            }
        }
    }
    (text.len() >= 8 && is_readable(&text)).then(|| String::from_utf8_lossy(&text).into_owned())
}

fn is_readable(bytes: &[u8]) -> bool {
    let bytes = &bytes[..bytes.len().min(256)];
    let odd = bytes.iter().filter(|byte| byte.is_ascii_control() && !byte.is_ascii_whitespace()).count();
    let ascii = bytes.iter().filter(|byte| byte.is_ascii()).count();
    odd == 0 && (ascii * 10 >= bytes.len() * 7 || std::str::from_utf8(bytes).is_ok())
}

pub(crate) fn percent(packed: &str) -> String {
    let bytes = packed.as_bytes();
    let mut text = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = |from: usize, len: usize| {
            let digits = packed.get(from..from + len).filter(|it| it.bytes().all(|b| b.is_ascii_hexdigit()));
            digits.and_then(|digits| u32::from_str_radix(digits, 16).ok())
        };
        let wide = bytes[at] == b'%' && matches!(bytes.get(at + 1), Some(b'u' | b'U'));
        let code = if bytes[at] != b'%' {
            None
        } else if wide {
            hex(at + 2, 4)
        } else {
            hex(at + 1, 2)
        };
        match code {
            Some(code) if wide => {
                let c = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
                text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                at += 6;
            }
            Some(code) => {
                text.push(u8::try_from(code).unwrap_or_default());
                at += 3;
            }
            None => {
                text.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// Decodes lists of character codes such as `60,104,49,62` anywhere in a script.
pub(crate) fn char_codes(script: &str, most: usize) -> String {
    let mut text = String::new();
    let mut run = String::new();
    let mut number: Option<u32> = None;
    let mut settle = |run: &mut String| {
        if run.len() >= 8 && text.len() < most {
            text.push_str(run);
        }
        run.clear();
    };
    for byte in script.bytes() {
        match byte {
            b'0'..=b'9' => {
                number = Some(number.unwrap_or(0).saturating_mul(10).saturating_add(u32::from(byte - b'0')));
            }
            b',' | b')' | b']' => match number.take().and_then(char::from_u32) {
                Some(c) if !c.is_control() || c.is_whitespace() => {
                    run.push(c);
                    if byte != b',' {
                        settle(&mut run);
                    }
                }
                _ => settle(&mut run),
            },
            b' ' | b'\n' | b'\r' | b'\t' => {}
            _ => {
                number = None;
                if !run.is_empty() && !matches!(byte, b'(' | b'[') {
                    settle(&mut run);
                }
            }
        }
    }
    settle(&mut run);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_text_is_found() {
        assert_eq!(decode_literal("PGZvcm0gYWN0aW9uPSJ4Ij4=").as_deref(), Some("<form action=\"x\">"));
        assert_eq!(
            decode_literal("data:text/html;base64,PGgxPkhlbGxvPC9oMT4=").as_deref(),
            Some("<h1>Hello</h1>")
        );
        assert_eq!(
            decode_literal("%3Cform%20method%3D%22post%22%u0041%3E").as_deref(),
            Some("<form method=\"post\"A>")
        );
        assert_eq!(char_codes("String.fromCharCode(60,104,49,62,80,97,121,33)", 99), "<h1>Pay!");
    }

    #[test]
    fn the_rest_is_left_alone() {
        for literal in
            ["short", "iVBORw0KGgoAAAANSUhEUgAAAAUA", "a sentence with spaces, and commas!", "%%%%%%%"]
        {
            assert_eq!(decode_literal(literal), None, "{literal}");
        }
        assert_eq!(char_codes("f(1, 2, 3) + [4, 5]", 99), "");
    }
}
