//! Checks local headers: each must agree with the central directory, and the byte ranges of the entries must not overlap.
//! Overlapping entries are how small archives unpack to terabytes.

use std::io::Read;
use std::ops::Range;

use super::directory::Directory;
use super::entry::{ZipEntry, u16_at, u32_at, u64_at};
use super::zip64::{self, IN_ZIP64_FIELD};
use crate::input::Input;
use crate::refusal::Refusal;

const SIGNATURE: u32 = 0x0403_4b50;
const HEADER_BYTES: u64 = 30;
const DESCRIPTOR_SIGNATURE: u32 = 0x0807_4b50;
/// In the longest form: signature, checksum, two 64-bit sizes.
const DESCRIPTOR_BYTES: usize = 24;
/// Sizes and checksum follow the data instead of preceding it, as streaming tools write them.
const HAS_DESCRIPTOR: u16 = 1 << 3;
/// Flags that change how an entry is read: encryption and patch data.
const UNREADABLE: u16 = 1 | 1 << 5 | 1 << 6 | 1 << 13;

/// The offset of each entry's data, in the order of the directory.
pub(super) fn locate(input: &mut Input, directory: &Directory) -> Result<Vec<u64>, Refusal> {
    let entries = &directory.entries;
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_by_key(|&index| entries[index].offset);
    if order.first().is_some_and(|&first| entries[first].offset != 0) {
        return Err(Refusal::archive(
            "The archive has bytes before its first entry. Create a plain zip, not a self-extracting one.",
        ));
    }
    let mut starts = vec![0; entries.len()];
    for (position, &index) in order.iter().enumerate() {
        let end = order.get(position + 1).map_or(directory.start, |&next| entries[next].offset);
        starts[index] = locate_one(input, &entries[index], end.min(directory.start))?;
    }
    Ok(starts)
}

/// `end` is the offset of the next entry or of the central directory.
fn locate_one(input: &mut Input, entry: &ZipEntry, end: u64) -> Result<u64, Refusal> {
    let overlaps =
        || entry.refusal("its data overlaps another part of the archive. Create the archive again.");
    let name_start = entry.offset + HEADER_BYTES;
    if name_start + entry.written.len() as u64 > end {
        return Err(overlaps());
    }
    let mut header = vec![0; 30 + entry.written.len()];
    input.region(entry.offset, end).read_exact(&mut header)?;
    if u32_at(&header, 0) != SIGNATURE {
        return Err(entry.refusal("its local header is missing. Create the archive again."));
    }
    let name_bytes = u16_at(&header, 26);
    if usize::from(name_bytes) != entry.written.len() || &header[30..] != entry.written.as_bytes() {
        return Err(entry.refusal("its local header has a different name. Create the archive again."));
    }
    let (extra_start, extra_bytes) = (name_start + u64::from(name_bytes), u64::from(u16_at(&header, 28)));
    let data_start = extra_start + extra_bytes;
    let data_end = data_start + entry.packed;
    if data_end > end {
        return Err(overlaps());
    }
    let flags = u16_at(&header, 6);
    let differs = flags & UNREADABLE != 0
        || flags & HAS_DESCRIPTOR != entry.flags & HAS_DESCRIPTOR
        || u16_at(&header, 8) != entry.method;
    let [crc, packed, size] = [u32_at(&header, 14), u32_at(&header, 18), u32_at(&header, 22)];
    let mut stated = [crc, packed, size].map(u64::from);
    let mut is_zip64 = entry.is_zip64;
    if packed == IN_ZIP64_FIELD || size == IN_ZIP64_FIELD {
        let mut extra = Vec::new();
        input.region(extra_start, data_start).read_to_end(&mut extra)?;
        let sizes = zip64::field(&extra).ok().flatten().and_then(zip64::local_sizes);
        let Some(sizes) = sizes else {
            return Err(entry.refusal(
                "its local header uses zip64 without a complete zip64 field. Create the archive again, as a plain zip.",
            ));
        };
        if size == IN_ZIP64_FIELD {
            stated[2] = sizes[0];
        }
        if packed == IN_ZIP64_FIELD {
            stated[1] = sizes[1];
        }
        is_zip64 = true;
    }
    let expected = [u64::from(entry.crc), entry.packed, entry.size];
    let later = flags & HAS_DESCRIPTOR != 0;
    if differs
        || !stated
            .iter()
            .zip(expected)
            .all(|(&stated, expected)| stated == expected || (later && stated == 0))
    {
        return Err(entry.refusal(
            "its local header disagrees with the central directory (flags, method, size or checksum). \
             Create the archive again.",
        ));
    }
    if later {
        check_descriptor(input, entry, data_end..end, expected, is_zip64)?;
    }
    Ok(data_start)
}

/// Descriptors with and without a signature are in use. The sizes have 64 bits only in a zip64 entry.
fn check_descriptor(
    input: &mut Input,
    entry: &ZipEntry,
    space: Range<u64>,
    expected: [u64; 3],
    is_zip64: bool,
) -> Result<(), Refusal> {
    let mut bytes = Vec::with_capacity(DESCRIPTOR_BYTES);
    let end = space.end.min(space.start + DESCRIPTOR_BYTES as u64);
    input.region(space.start, end).read_to_end(&mut bytes)?;
    let agrees = |at: usize| {
        bytes.len() >= at + 12
            && [u32_at(&bytes, at), u32_at(&bytes, at + 4), u32_at(&bytes, at + 8)].map(u64::from) == expected
    };
    let agrees_wide = |at: usize| {
        is_zip64
            && bytes.len() >= at + 20
            && [u64::from(u32_at(&bytes, at)), u64_at(&bytes, at + 4), u64_at(&bytes, at + 12)] == expected
    };
    let agrees = |at: usize| agrees(at) || agrees_wide(at);
    if (u32_at(&bytes, 0) == DESCRIPTOR_SIGNATURE && agrees(4)) || agrees(0) {
        return Ok(());
    }
    Err(entry.refusal(
        "the sizes and checksum after its data are missing or disagree with the central directory. \
         Create the archive again.",
    ))
}
