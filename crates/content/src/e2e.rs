//! End-to-end ciphertext: kept verbatim. Only the frame is checked, so that a mistake of the
//! sender shows at upload and not in the viewer's browser. It never sees a key.

use crate::bundle::{Bundle, Kind};
use crate::input::Input;
use crate::mime::BINARY;
use crate::pack::Packer;
use crate::refusal::{Refusal, RefusalCode};

const PATH: &str = "payload.e2e";
const MAGIC: &[u8] = b"E2E1";
const HEADER_BYTES: usize = 40;
const TAG_BYTES: u64 = 16;
/// So much of a payload without a frame is looked at for signs that it is not encrypted.
const LOOKED_AT_BYTES: usize = 512;
/// IV, tag and at least one byte.
const SHORTEST_BARE: u64 = 12 + TAG_BYTES + 1;
const SHORTEST_FRAMED: u64 = HEADER_BYTES as u64 + TAG_BYTES;

pub(crate) fn prepare(input: &mut Input, packer: &mut Packer<'_>) -> Result<Bundle, Refusal> {
    let head = input.head(LOOKED_AT_BYTES)?;
    check(&head[..head.len().min(HEADER_BYTES)], input.len()).map_err(|detail| {
        Refusal::new(RefusalCode::InvalidCiphertext, format!("The ciphertext {detail}."))
    })?;
    let mut sink = packer.begin(PATH, BINARY, input.len())?;
    input.for_each_chunk(|chunk| sink.write(chunk))?;
    let file = packer.finish(sink)?;
    let title = "Encrypted page".to_owned();
    let warnings = plain_kind(&head).map(warning).into_iter().collect();
    Ok(Bundle::assemble(Kind::E2e, title, PATH.to_owned(), vec![file], warnings))
}

/// What a payload without a frame is, if it can hardly be ciphertext: the first bytes of ciphertext are random.
fn plain_kind(head: &[u8]) -> Option<&'static str> {
    if head.starts_with(MAGIC) {
        return None;
    }
    if head.starts_with(b"%PDF-") {
        return Some("a PDF");
    }
    if head.starts_with(b"PK\x03\x04") {
        return Some("a zip archive");
    }
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        // The last character may be cut.
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&head[..error.valid_up_to()]).ok()?
        }
        Err(_) => return None,
    };
    let is_text = !text.chars().any(|c| c.is_control() && !c.is_ascii_whitespace());
    is_text.then_some("plain text")
}

fn warning(kind: &str) -> String {
    format!(
        "The upload says e2e=true, but the payload looks like {kind} and not like ciphertext: it is stored unencrypted, and \
         the viewer cannot open it. Encrypt it first, send bytes instead of base64, or publish it without e2e."
    )
}

fn check(head: &[u8], len: u64) -> Result<(), &'static str> {
    if !head.starts_with(MAGIC) {
        return if len < SHORTEST_BARE {
            Err("is too short: a bare payload is IV (12 bytes), ciphertext and tag (16 bytes)")
        } else {
            Ok(())
        };
    }
    if len < SHORTEST_FRAMED || head.len() < HEADER_BYTES {
        return Err("is too short for an E2E1 frame: 40 bytes of header, then ciphertext and tag (16 bytes)");
    }
    let (kdf, flags) = (head[4], head[5]);
    let iterations = u32::from_be_bytes([head[8], head[9], head[10], head[11]]);
    if flags & !1 != 0 || head[6] != 0 || head[7] != 0 {
        return Err(
            "has reserved E2E1 header bits set: only bit 0 of byte 5 may be set, bytes 6 and 7 are zero",
        );
    }
    match kdf {
        0 if iterations == 0 => Ok(()),
        0 => Err("states iterations without a passphrase: with kdf 0, bytes 8 to 11 are zero"),
        1 if (600_000..=10_000_000).contains(&iterations) => Ok(()),
        1 => Err("states a PBKDF2 iteration count outside 600000 to 10000000"),
        _ => Err("names an unknown key derivation: byte 4 is 0 (key) or 1 (PBKDF2)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kdf: u8, flags: u8, reserved: u16, iterations: u32, rest: usize) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([kdf, flags]);
        bytes.extend(reserved.to_be_bytes());
        bytes.extend(iterations.to_be_bytes());
        bytes.resize(12 + rest, 7);
        bytes
    }

    fn accepts(bytes: &[u8]) -> bool {
        check(&bytes[..bytes.len().min(HEADER_BYTES)], bytes.len() as u64).is_ok()
    }

    #[test]
    fn sane_frames_are_accepted() {
        assert!(accepts(&frame(0, 0, 0, 0, 44)));
        assert!(accepts(&frame(0, 1, 0, 0, 100)));
        assert!(accepts(&frame(1, 0, 0, 600_000, 44)));
        assert!(accepts(&frame(1, 0, 0, 10_000_000, 44)));
    }

    #[test]
    fn broken_frames_are_refused() {
        for bytes in [
            frame(2, 0, 0, 0, 44),
            frame(0, 2, 0, 0, 44),
            frame(0, 0, 1, 0, 44),
            frame(0, 0, 0, 1, 44),
            frame(1, 0, 0, 599_999, 44),
            frame(1, 0, 0, 10_000_001, 44),
            frame(0, 0, 0, 0, 43),
            MAGIC.to_vec(),
        ] {
            assert!(!accepts(&bytes), "{bytes:?}");
        }
    }

    #[test]
    fn payloads_that_are_not_encrypted_are_known() {
        let long = "é".repeat(300);
        let plain: [(&[u8], &str); 6] = [
            ("<!doctype html>\n<title>Hi</title><p>Hello".as_bytes(), "plain text"),
            ("\u{feff}# Überschrift\r\n\tund Text dazu".as_bytes(), "plain text"),
            (&long.as_bytes()[..511], "plain text"),
            ("q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA=".as_bytes(), "plain text"),
            (b"%PDF-1.7\n%\xff\xff\xff\xff", "a PDF"),
            (b"PK\x03\x04\x14\x00\x00\x00", "a zip archive"),
        ];
        for (payload, kind) in plain {
            assert_eq!(plain_kind(payload), Some(kind), "{payload:?}");
        }
        let noise: Vec<u8> = (0..512_u32).map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()[0]).collect();
        for payload in
            [noise.as_slice(), &noise[..29], &[1; 29], b"E2E1 and so on in plain text", b"text\0text"]
        {
            assert_eq!(plain_kind(payload), None, "{payload:?}");
        }
    }

    #[test]
    fn bare_payloads_need_29_bytes() {
        assert!(!accepts(&[1; 28]));
        assert!(accepts(&[1; 29]));
    }
}
