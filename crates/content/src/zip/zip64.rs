//! Reads zip64 fields of small archives, which some tools write whatever the size. The 64-bit values must fit 32 bits and
//! agree with every other record, so that a reader that ignores them sees the same archive.

use std::io::Read;
use std::ops::Range;

use super::entry::{u16_at, u32_at, u64_at};
use crate::input::Input;
use crate::refusal::Refusal;

const FIELD: u16 = 1;
const LOCATOR: &[u8; 4] = b"PK\x06\x07";
pub(super) const LOCATOR_BYTES: usize = 20;
const END: &[u8; 4] = b"PK\x06\x06";
const END_BYTES: usize = 56;
/// The length that an end record without extensible data states: the part after the length field.
const END_REST_BYTES: u64 = 44;

/// A 32-bit field with this value means that the 64-bit field applies.
pub(super) const IN_ZIP64_FIELD: u32 = u32::MAX;

/// What the end record of an archive states about the central directory.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct End {
    pub(super) records: u64,
    pub(super) directory: Range<u64>,
}

pub(super) fn is_locator(bytes: &[u8]) -> bool {
    bytes.starts_with(LOCATOR)
}

/// Reads the zip64 end record that a locator points to. It must lie directly before the locator, and the central directory
/// directly before it.
pub(super) fn read_end(input: &mut Input, locator: &[u8], locator_at: u64) -> Result<End, Refusal> {
    let wrong = || {
        Refusal::archive(
            "The archive's zip64 end record is missing, damaged or in the wrong place. Create the archive again.",
        )
    };
    let at = locator_at.checked_sub(END_BYTES as u64).ok_or_else(wrong)?;
    if u32_at(locator, 4) != 0 || u64_at(locator, 8) != at || u32_at(locator, 16) != 1 {
        return Err(wrong());
    }
    let mut record = Vec::with_capacity(END_BYTES);
    input.region(at, locator_at).read_to_end(&mut record)?;
    let whole = record.len() == END_BYTES && record.starts_with(END) && u64_at(&record, 4) == END_REST_BYTES;
    let one_disk = u32_at(&record, 16) == 0 && u32_at(&record, 20) == 0;
    let (disk_records, records) = (u64_at(&record, 24), u64_at(&record, 32));
    let (size, start) = (u64_at(&record, 40), u64_at(&record, 48));
    if !whole || !one_disk || disk_records != records || start.checked_add(size) != Some(at) {
        return Err(wrong());
    }
    Ok(End { records, directory: start..at })
}

/// The zip64 field among the extra fields of an entry. `None` if there is none; an error if there are two, or if the fields do
/// not exactly fill their space.
pub(super) fn field(extra: &[u8]) -> Result<Option<&[u8]>, &'static str> {
    let (mut rest, mut found) = (extra, None);
    while !rest.is_empty() {
        let end = 4 + usize::from(u16_at(rest, 2));
        let Some(data) = rest.get(4..end) else { return Err("its extra fields are damaged") };
        if u16_at(rest, 0) == FIELD && found.replace(data).is_some() {
            return Err("it has two zip64 fields");
        }
        rest = &rest[end..];
    }
    Ok(found)
}

/// Size, packed size and offset of a record in the central directory; those given as [`IN_ZIP64_FIELD`] are taken from its zip64
/// field. A field contains either exactly those, or all values from the first on; then the others must agree.
pub(super) fn resolve(stated: [u32; 3], extra: &[u8]) -> Result<[u64; 3], &'static str> {
    let missing = stated.iter().filter(|value| **value == IN_ZIP64_FIELD).count();
    let mut values = stated.map(u64::from);
    if missing == 0 {
        return Ok(values);
    }
    let field = field(extra)?.ok_or("it uses zip64, but has no zip64 field")?;
    if field.len() == missing * 8 {
        let open = values.iter_mut().zip(stated).filter(|(_, stated)| *stated == IN_ZIP64_FIELD);
        for (at, (value, _)) in open.enumerate() {
            *value = u64_at(field, at * 8);
        }
    } else if matches!(field.len(), 16 | 24 | 28) {
        for (at, value) in values.iter_mut().enumerate() {
            let in_field = field.get(at * 8..at * 8 + 8).map(|_| u64_at(field, at * 8));
            match in_field {
                Some(in_field) if stated[at] == IN_ZIP64_FIELD => *value = in_field,
                Some(in_field) if in_field == *value => {}
                None if stated[at] != IN_ZIP64_FIELD => {}
                _ => return Err("its zip64 field disagrees with its record"),
            }
        }
        if field.len() == 28 && u32_at(field, 24) != 0 {
            return Err("it is in another part of a split archive");
        }
    } else {
        return Err("its zip64 field has a wrong length");
    }
    if values.iter().any(|value| *value >= u64::from(IN_ZIP64_FIELD)) {
        return Err("it is larger than 4 GiB");
    }
    Ok(values)
}

/// Size and packed size in the zip64 field of a local header, which must contain both.
pub(super) fn local_sizes(field: &[u8]) -> Option<[u64; 2]> {
    (field.len() == 16).then(|| [u64_at(field, 0), u64_at(field, 8)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zip64(values: &[u64]) -> Vec<u8> {
        let length = u16::try_from(values.len() * 8).unwrap();
        let head = [FIELD.to_le_bytes(), length.to_le_bytes()].concat();
        [head, values.iter().flat_map(|value| value.to_le_bytes()).collect()].concat()
    }

    #[test]
    fn fields_are_found_among_others_and_only_once() {
        let time = b"UT\x01\x00\x03".to_vec();
        let one = [time.clone(), zip64(&[7]), time.clone()].concat();
        assert_eq!(field(&one).unwrap(), Some(7_u64.to_le_bytes().as_slice()));
        assert_eq!(field(&time), Ok(None));
        assert_eq!(field(b""), Ok(None));
        assert!(field(&[zip64(&[7]), zip64(&[7])].concat()).is_err());
        assert!(field(&one[..one.len() - 1]).is_err());
        assert!(field(b"\x01").is_err());
    }

    #[test]
    fn what_is_elsewhere_comes_from_the_field_and_the_rest_must_agree() {
        const E: u32 = IN_ZIP64_FIELD;
        assert_eq!(resolve([1, 2, 3], b"garbage"), Ok([1, 2, 3]));
        assert_eq!(resolve([E, E, 3], &zip64(&[10, 20])), Ok([10, 20, 3]));
        assert_eq!(resolve([1, 2, E], &zip64(&[30])), Ok([1, 2, 30]));
        assert_eq!(
            resolve([E, 2, E], &zip64(&[10, 30])),
            Ok([10, 2, 30]),
            "exactly those that are elsewhere"
        );
        assert_eq!(resolve([E, E, 3], &zip64(&[10, 20, 3])), Ok([10, 20, 3]), "all of them, and they agree");
        assert_eq!(resolve([E, 2, 3], &zip64(&[10, 2])), Ok([10, 2, 3]));
        for (stated, extra) in [
            ([E, E, 3], zip64(&[10, 20, 4])),
            ([E, 2, 3], zip64(&[10, 5])),
            ([E, E, E], zip64(&[10, 20])),
            ([E, 2, 3], vec![]),
            ([E, 2, 3], zip64(&[u64::from(E)])),
            ([E, 2, 3], zip64(&[u64::MAX])),
            ([E, 2, 3], zip64(&[])),
            ([E, 2, 3], zip64(&[1, 2, 3, 4])),
        ] {
            assert!(resolve(stated, &extra).is_err(), "{stated:?} {extra:?}");
        }
    }
}
