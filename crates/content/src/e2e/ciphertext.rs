//! Tests whether bytes can be ciphertext: good ciphertext is indistinguishable from random bytes, and hardly anything else is.
//! The thresholds refuse honest ciphertext less than once in a hundred million uploads; encrypting it again with a new IV then
//! passes.

use dropleaf_core::program::is_program_head;

/// How many of the first bytes are searched for signatures of other formats.
const HEAD_BYTES: usize = 4096;
/// From this length on each of the 256 byte values is expected ten times, and Pearson's chi-squared test applies.
const MANY_BYTES: u64 = 2560;
/// Pearson's statistic for random bytes has 255 degrees of freedom: its mean is 255, and by the bound of Laurent and
/// Massart, P(X ≥ 255 + 2√(255x) + 2x) ≤ e⁻ˣ, it is above 700 with a probability below 10⁻³⁴. English text of 2,560
/// bytes reaches 40,000, a program more.
const MOST_UNEVEN: f64 = 700.0;

/// Signatures of at least four bytes. A random payload begins with a given one with probability at most 2⁻³².
const FORMATS: [(&[u8], &str); 10] = [
    (b"PK\x03\x04", "a zip archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a\x07", "a rar archive"),
    (b"%PDF-", "a PDF"),
    (b"\x89PNG\r\n\x1a\n", "a picture"),
    (b"\xfd7zXZ\x00", "a compressed file"),
    (b"\x28\xb5\x2f\xfd", "a compressed file"),
    (b"\x1f\x8b\x08\x00", "a compressed file"),
    (b"\x1f\x8b\x08\x08", "a compressed file"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a document or installer"),
];

/// Counts the bytes of a payload as it is streamed.
#[derive(Debug)]
pub(crate) struct CiphertextCheck {
    counts: [u64; 256],
    head: Vec<u8>,
    len: u64,
}

impl Default for CiphertextCheck {
    fn default() -> Self {
        Self { counts: [0; 256], head: Vec::new(), len: 0 }
    }
}

impl CiphertextCheck {
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        let room = HEAD_BYTES - self.head.len();
        self.head.extend_from_slice(&bytes[..bytes.len().min(room)]);
        for byte in bytes {
            self.counts[usize::from(*byte)] += 1;
        }
        self.len += bytes.len() as u64;
    }

    /// A description of the bytes, if they can hardly be ciphertext.
    pub(crate) fn plaintext_kind(&self) -> Option<&'static str> {
        if let Some((_, kind)) = FORMATS.iter().find(|(mark, _)| self.head.starts_with(mark)) {
            return Some(kind);
        }
        // One in 2³² random payloads begins like one of these; a Windows program must match six bytes.
        let is_short = self.head.starts_with(b"MZ") || self.head.starts_with(b"ZM");
        if is_program_head(&self.head) && (!is_short || self.has_windows_header()) {
            return Some("a program");
        }
        if self.len >= u64::from(SHORTEST_TEXT) && self.is_text() {
            return Some("plain text");
        }
        self.is_uneven().then_some("structured data")
    }

    /// Checks for the PE header, because `MZ` alone begins one in 65,536 random payloads.
    fn has_windows_header(&self) -> bool {
        let place = self.head.get(0x3c..0x40).and_then(|bytes| <[u8; 4]>::try_from(bytes).ok());
        let place = place.and_then(|bytes| usize::try_from(u32::from_le_bytes(bytes)).ok());
        place.and_then(|place| self.head.get(place..place.checked_add(4)?)) == Some(b"PE\0\0")
    }

    /// Whether the head is UTF-8 text without control characters. At most one in 10¹¹ payloads of 29 random bytes is: only
    /// about two in five byte values can occur in text at all.
    fn is_text(&self) -> bool {
        let text = match std::str::from_utf8(&self.head) {
            Ok(text) => text,
            // The last character may be cut off.
            Err(error) if error.error_len().is_none() && self.len > HEAD_BYTES as u64 => {
                std::str::from_utf8(&self.head[..error.valid_up_to()]).unwrap_or_default()
            }
            Err(_) => return false,
        };
        !text.is_empty() && !text.chars().any(|c| c.is_control() && !c.is_ascii_whitespace())
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of bytes are far below 2⁵²")]
    fn is_uneven(&self) -> bool {
        if self.len < MANY_BYTES {
            // The probability that one value is this frequent in n random bytes is below 256·C(n, m)·256⁻ᵐ with m = 17 + n/16,
            // which is largest for the shortest payloads and below 10⁻³¹ even there.
            let most = self.counts.iter().max().copied().unwrap_or(0);
            return most > 16 + self.len / 16;
        }
        let expected = self.len as f64 / 256.0;
        let statistic: f64 =
            self.counts.iter().map(|count| (*count as f64 - expected).powi(2) / expected).sum();
        statistic > MOST_UNEVEN
    }
}

/// IV, tag and one byte of ciphertext.
const SHORTEST_TEXT: u32 = 29;

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(bytes: &[u8]) -> Option<&'static str> {
        let mut check = CiphertextCheck::default();
        for chunk in bytes.chunks(1000) {
            check.update(chunk);
        }
        check.plaintext_kind()
    }

    fn noise(seed: u32, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        blake3::Hasher::new().update(&seed.to_le_bytes()).finalize_xof().fill(&mut bytes);
        bytes
    }

    #[test]
    fn random_bytes_of_any_length_pass() {
        for len in [16, 17, 28, 29, 30, 64, 100, 500, 2000, 2559, 2560, 2561, 4096, 5000, 70_000, 1_000_000] {
            let tries: u32 = if len > 10_000 { 5 } else { 500 };
            for seed in 0..tries {
                assert_eq!(kind(&noise(seed, len)), None, "{len} {seed}");
            }
        }
    }

    #[test]
    fn what_is_not_encrypted_is_known() {
        let mut program = b"MZ\x90\x00".to_vec();
        program.resize(0x3c, 0);
        program.extend(0x80_u32.to_le_bytes());
        program.resize(0x80, 0);
        program.extend(b"PE\0\0");
        // The bytes of packed programs after their headers are as evenly distributed as ciphertext.
        program.extend(noise(1, 100_000));
        let mut program_of_linux = b"\x7fELF".to_vec();
        program_of_linux.extend(noise(2, 100_000));
        for (bytes, said) in [
            (program, "a program"),
            (program_of_linux, "a program"),
            (b"PK\x03\x04".iter().copied().chain(noise(3, 5000)).collect(), "a zip archive"),
            (b"%PDF-1.7\n%\xff\xff\xff\xff".iter().copied().chain(noise(4, 300)).collect(), "a PDF"),
            (b"<!doctype html>\n<title>Hi</title><p>Hello".to_vec(), "plain text"),
            ("\u{feff}# \u{dc}berschrift\r\n\tund Text dazu".as_bytes().to_vec(), "plain text"),
            (b"q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA=".to_vec(), "plain text"),
            ("\u{e9}".repeat(3000).into_bytes(), "plain text"),
            (vec![7; 64], "structured data"),
            (vec![0; 5000], "structured data"),
            // A shortcut without its signature, text with two bytes per character, a disk image of zeros followed by random
            // bytes.
            ([[0_u8; 400].to_vec(), noise(5, 800)].concat(), "structured data"),
            ("Wide letters of an office".bytes().flat_map(|b| [b, 0]).collect(), "structured data"),
            ([vec![0; 40_000], noise(6, 1_000_000)].concat(), "structured data"),
        ] {
            assert_eq!(kind(&bytes), Some(said), "{:?}", &bytes[..8]);
        }
    }

    #[test]
    fn two_letters_of_a_header_are_not_enough() {
        let mut honest = noise(7, 1000);
        honest[..2].copy_from_slice(b"MZ");
        assert_eq!(kind(&honest), None);
    }
}
