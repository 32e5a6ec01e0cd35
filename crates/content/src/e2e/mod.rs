//! Prepares end-to-end ciphertext, which is stored verbatim. Checks the frame and whether the bytes can be ciphertext at all,
//! so that a sender's mistake shows at upload and no other kind of file is served unchecked. Never sees a key.

mod ciphertext;

use crate::bundle::{Bundle, BundleKind};
use crate::input::Input;
use crate::mime::BINARY;
use crate::pack::Packer;
use crate::refusal::{Refusal, RefusalCode};
use ciphertext::CiphertextCheck;

const PATH: &str = "payload.e2e";
const MAGIC: &[u8] = b"E2E1";
const HEADER_BYTES: usize = 40;
const TAG_BYTES: u64 = 16;
/// IV, tag and at least one byte of ciphertext.
const SHORTEST_BARE: u64 = 12 + TAG_BYTES + 1;
const SHORTEST_FRAMED: u64 = HEADER_BYTES as u64 + TAG_BYTES;

pub(crate) fn prepare(input: &mut Input, packer: &mut Packer<'_>) -> Result<Bundle, Refusal> {
    let refusal =
        |detail: &str| Refusal::new(RefusalCode::InvalidCiphertext, format!("The payload {detail}."));
    let head = input.head(HEADER_BYTES)?;
    check(&head, input.len()).map_err(refusal)?;
    // A frame begins with a known header; what follows is as random as a bare payload.
    let mut skipped = if head.starts_with(MAGIC) { HEADER_BYTES } else { 0 };
    let mut ciphertext_check = CiphertextCheck::default();
    let mut sink = packer.begin(PATH, BINARY, input.len())?;
    input.for_each_chunk(|chunk| {
        let header = skipped.min(chunk.len());
        skipped -= header;
        ciphertext_check.update(&chunk[header..]);
        sink.write(chunk)
    })?;
    if let Some(kind) = ciphertext_check.plaintext_kind() {
        let detail = format!(
            "is not encrypted: with e2e=true the file must be AES-GCM ciphertext, but it looks like {kind}. Encrypt it \
             first, send bytes instead of base64, or publish it without e2e"
        );
        return Err(refusal(&detail));
    }
    if sink.is_disk_image() {
        return Err(refusal("is not encrypted: it looks like a disk image. Publish it without e2e"));
    }
    let mut file = packer.finish(sink)?;
    // The bytes have passed the ciphertext check. The packer detects programs by as few as two bytes, and some ciphertext
    // begins with them.
    file.mime = BINARY;
    let title = "Encrypted page".to_owned();
    Ok(Bundle::assemble(BundleKind::E2e, title, PATH.to_owned(), vec![file], Vec::new()))
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
            "has reserved E2E1 header bits set: only bit 0 of byte 5 may be set, and bytes 6 and 7 must be zero",
        );
    }
    match kdf {
        0 if iterations == 0 => Ok(()),
        0 => Err("has an iteration count without a passphrase: with kdf 0, bytes 8 to 11 must be zero"),
        1 if (600_000..=10_000_000).contains(&iterations) => Ok(()),
        1 => Err("has a PBKDF2 iteration count outside the range 600000 to 10000000"),
        _ => Err("has an unknown key derivation: byte 4 must be 0 (key) or 1 (PBKDF2)"),
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
    fn bare_payloads_need_29_bytes() {
        assert!(!accepts(&[1; 28]));
        assert!(accepts(&[1; 29]));
    }
}
