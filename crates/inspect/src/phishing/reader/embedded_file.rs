//! Recognizes files that are embedded in text: programs and archives as base64, hex, escapes or lists of numbers.

use dropleaf_core::program::{COMPOUND, is_program_magic, is_program_name, is_windows_header};

use crate::phishing::facts::EmbeddedFile;

/// Shorter texts contain no file.
const SHORTEST: usize = 64;
/// How many bytes of a file are decoded, and the most characters that may encode them.
const HEAD_BYTES: usize = 1024;
const HEAD_CHARACTERS: usize = 4 * HEAD_BYTES;
/// Where the ISO 9660 volume identifier is in base64, and how it begins there.
const ISO_AT: usize = 43_692;
const ISO: &str = "Q0QwMD";
/// Names of the first entry in office documents and e-books, which are zip archives too.
const DOCUMENTS: [&str; 7] =
    ["[Content_Types].xml", "_rels/", "mimetype", "docProps/", "xl/", "word/", "ppt/"];

/// The file contained in a literal of a script or in the URL of a link.
pub(crate) fn in_text(text: &str) -> Option<EmbeddedFile> {
    if text.len() < SHORTEST {
        return None;
    }
    let packed = text.split_once(";base64,").map_or(text, |(_, packed)| packed);
    if packed.get(ISO_AT..ISO_AT + ISO.len()) == Some(ISO) {
        return Some(EmbeddedFile::Program);
    }
    let raw = matches!(packed.as_bytes().first(), Some(b'M' | b'P' | 0x7f)).then(|| latin(packed));
    let backwards = packed
        .starts_with('=')
        .then(|| base64(packed.bytes().rev().skip_while(|byte| *byte == b'=').take(HEAD_CHARACTERS)));
    [raw, backwards, hex(packed), Some(base64(packed.bytes().take(HEAD_CHARACTERS)))]
        .into_iter()
        .flatten()
        .find_map(|head| carried(&head))
}

/// The file contained in a list of numbers: `77, 90, 144` or `0x4d, 0x5a`.
pub(crate) fn in_numbers(list: &str) -> Option<EmbeddedFile> {
    let mut head = Vec::new();
    for word in list.split(',').take(HEAD_BYTES) {
        let word = word.trim().get(..word.trim().len().min(8)).unwrap_or_default();
        let number = match word.strip_prefix("0x").or(word.strip_prefix("0X")) {
            Some(digits) => u8::from_str_radix(digits.trim_end_matches([']', ')', ';']), 16),
            None => word.trim_end_matches([']', ')', ';']).parse(),
        };
        let Ok(byte) = number else { break };
        head.push(byte);
    }
    (head.len() >= 16).then(|| carried(&head)).flatten()
}

fn carried(head: &[u8]) -> Option<EmbeddedFile> {
    if is_program_magic(head) || is_windows_header(head) {
        return Some(EmbeddedFile::Program);
    }
    // The head of a compound file does not tell whether it is an installer or a document.
    if [COMPOUND, &b"7z\xbc\xaf\x27\x1c"[..], b"Rar!\x1a\x07"].iter().any(|magic| head.starts_with(magic)) {
        return Some(EmbeddedFile::Archive);
    }
    let name = archived(head)?;
    if is_program_name(name) || name.starts_with("META-INF/") || name == "AndroidManifest.xml" {
        return Some(EmbeddedFile::Program);
    }
    (!DOCUMENTS.iter().any(|start| name.starts_with(start))).then_some(EmbeddedFile::Archive)
}

/// The name of the first entry of a zip archive.
fn archived(head: &[u8]) -> Option<&str> {
    if !head.starts_with(b"PK\x03\x04") {
        return None;
    }
    let len = usize::from(u16::from_le_bytes([*head.get(26)?, *head.get(27)?]));
    Some(head.get(30..30 + len).and_then(|name| std::str::from_utf8(name).ok()).unwrap_or_default())
}

/// Characters that each stand for one byte.
fn latin(text: &str) -> Vec<u8> {
    text.chars().take(HEAD_BYTES).map_while(|c| u8::try_from(u32::from(c)).ok()).collect()
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text
        .bytes()
        .take(2 * HEAD_BYTES)
        .map_while(|byte| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
        .collect();
    (digits.len() >= SHORTEST)
        .then(|| digits.as_chunks::<2>().0.iter().map(|[high, low]| high << 4 | low).collect())
}

/// Skips spaces as `atob` does; line breaks in a literal have become spaces, too.
fn base64(text: impl Iterator<Item = u8>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let (mut bits, mut held) = (0_u32, 0);
    for byte in text {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b' ' | b'\n' | b'\r' | b'\t' => continue,
            _ => break,
        };
        bits = bits << 6 | u32::from(digit);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from(bits >> held & 0xff).unwrap_or_default());
            if bytes.len() == HEAD_BYTES {
                break;
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_and_archives_are_seen_in_every_packing() {
        // The first 64 bytes of a Windows program.
        let program =
            "TVqQAAMAAAAEAAAA//8AALgAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAgAAAAA==";
        let backwards: String = program.chars().rev().collect();
        let broken = format!("{} {}", &program[..3], &program[3..]);
        let zeros = |count: usize| "0,".repeat(count);
        let numbers = format!("77,90,144,{}128,0,0,0])", zeros(57));
        let hexes = format!("0x4D, 0x5a,0x90, {}0x80,0,0,0]", zeros(57));
        let address = format!("data:application/octet-stream;base64,{program}");
        for text in [program.to_owned(), broken, backwards, address] {
            assert_eq!(in_text(&text), Some(EmbeddedFile::Program), "{text}");
        }
        let plain = format!("4d5a9000{}80000000", "00".repeat(56));
        assert_eq!(in_text(&plain), Some(EmbeddedFile::Program));
        let raw = format!("MZ\u{90}{}\u{40}\0\0\0PE\0\0{}", "\0".repeat(57), "\0".repeat(80));
        assert_eq!(in_text(&raw), Some(EmbeddedFile::Program));
        assert_eq!(
            (in_numbers(&numbers), in_numbers(&hexes)),
            (Some(EmbeddedFile::Program), Some(EmbeddedFile::Program))
        );
        let zip = |name: &str| {
            let mut bytes = b"PK\x03\x04\x14\0\0\0\x08\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0".to_vec();
            bytes.extend([u8::try_from(name.len()).unwrap(), 0, 0, 0]);
            bytes.extend(name.as_bytes());
            bytes.resize(120, 7);
            bytes
                .iter()
                .flat_map(|byte| [byte >> 4, byte & 15])
                .filter_map(|it| char::from_digit(it.into(), 16))
                .collect::<String>()
        };
        assert_eq!(in_text(&zip("invoice/invoice.js")), Some(EmbeddedFile::Archive));
        assert_eq!(in_text(&zip("setup.exe")), Some(EmbeddedFile::Program));
        assert_eq!(in_text(&zip("META-INF/MANIFEST.MF")), Some(EmbeddedFile::Program));
        assert_eq!(in_text(&zip("[Content_Types].xml")), None);
        let iso = format!("{}Q0QwMDEB{}", "A".repeat(ISO_AT), "A".repeat(100));
        assert_eq!(in_text(&iso), Some(EmbeddedFile::Program));
    }

    #[test]
    fn pictures_fonts_and_texts_are_let_be() {
        for text in [
            "iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==",
            "d09GMgABAAAAAAQ4ABAAAAAACVwAAAPaAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAP0ZGVE0cGiAbIBw",
            "My summer in the mountains was long and warm, and this sentence about it is long as well.",
            "MZ is how programs of Windows begin, and this sentence is about them; it is no program itself.",
            // Words and hashes that decode to `MZ` or `ZM`.
            "TV revenue by quarter and region, with forecasts for the next two years and a note on the method",
            "Wk 0/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18/19/20/21/22/23/24/25/26/27/28/29/30/31",
            "4d5a1f0c9b7e3a6d58c2f4b1e09d7c6a5b3f2e1d0c9b8a7f6e5d4c3b2a190807",
            "4d5a1f0c9b7e3a6d58c2f4b1e09d7c6a5b3f2e1d0c9b8a7f6e5d4c3b2a1908074d5a1f0c9b7e3a6d58c2f4b1e09d7c6a5b3f2e1d0c9b8a7f6e5d4c3b2a190807",
            "Price,Quantity,Total\n1,2,3\n1,2,3\n1,2,3\n1,2,3\n1,2,3\n1,2,3\n1,2,3\n1,2,3\n1,2,3\n1,2,3\n",
        ] {
            assert_eq!(in_text(text), None, "{text}");
        }
        assert_eq!(in_numbers("1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18"), None);
        assert_eq!(in_numbers("77, 90"), None);
    }
}
