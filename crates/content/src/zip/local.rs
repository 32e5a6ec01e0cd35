//! Local headers: each must say the same as the central directory, and the byte ranges of the
//! entries must not touch. Overlapping entries are how small archives unpack to terabytes.

use std::io::Read;

use super::directory::{Directory, Entry, u16_at, u32_at};
use crate::input::Input;
use crate::refusal::Refusal;

const SIGNATURE: u32 = 0x0403_4b50;
const HEADER_BYTES: u64 = 30;
const DESCRIPTOR_SIGNATURE: u32 = 0x0807_4b50;
/// Sizes and checksum follow the data instead of preceding it, as streaming tools write it.
const HAS_DESCRIPTOR: u16 = 1 << 3;
/// What makes an entry readable in another way: encryption and patch data.
const UNREADABLE: u16 = 1 | 1 << 5 | 1 << 6 | 1 << 13;

/// Where the data of each entry starts, in the order of the directory.
pub(super) fn locate(input: &mut Input, directory: &Directory) -> Result<Vec<u64>, Refusal> {
    let entries = &directory.entries;
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_by_key(|&index| entries[index].offset);
    if order.first().is_some_and(|&first| entries[first].offset != 0) {
        return Err(Refusal::archive(
            "The archive has bytes before its first entry. Make a plain zip, not a self-extracting one.",
        ));
    }
    let mut starts = vec![0; entries.len()];
    for (position, &index) in order.iter().enumerate() {
        let end = order.get(position + 1).map_or(directory.start, |&next| entries[next].offset);
        starts[index] = locate_one(input, &entries[index], end.min(directory.start))?;
    }
    Ok(starts)
}

/// `end` is where the next entry, or the central directory, starts.
fn locate_one(input: &mut Input, entry: &Entry, end: u64) -> Result<u64, Refusal> {
    let overlaps = || entry.refusal("its data overlaps another part of the archive. Make the archive again.");
    let name_start = entry.offset + HEADER_BYTES;
    if name_start + entry.name.len() as u64 > end {
        return Err(overlaps());
    }
    let mut header = vec![0; 30 + entry.name.len()];
    input.region(entry.offset, end).read_exact(&mut header)?;
    if u32_at(&header, 0) != SIGNATURE {
        return Err(entry.refusal("its local header is missing. Make the archive again."));
    }
    let name_bytes = u16_at(&header, 26);
    if usize::from(name_bytes) != entry.name.len() || &header[30..] != entry.name.as_bytes() {
        return Err(entry.refusal("it has another name in its local header. Make the archive again."));
    }
    let flags = u16_at(&header, 6);
    let differs = flags & UNREADABLE != 0
        || flags & HAS_DESCRIPTOR != entry.flags & HAS_DESCRIPTOR
        || u16_at(&header, 8) != entry.method;
    let stated = [u32_at(&header, 14), u32_at(&header, 18), u32_at(&header, 22)].map(u64::from);
    let expected = [u64::from(entry.crc), entry.packed, entry.size];
    let later = flags & HAS_DESCRIPTOR != 0;
    if differs || !stated.iter().zip(expected).all(|(&said, meant)| said == meant || (later && said == 0)) {
        return Err(entry.refusal(
            "its local header disagrees with the central directory (flags, method, size or checksum). \
             Make the archive again.",
        ));
    }
    let data_start = name_start + u64::from(name_bytes) + u64::from(u16_at(&header, 28));
    let data_end = data_start + entry.packed;
    if data_end > end {
        return Err(overlaps());
    }
    if later {
        check_descriptor(input, entry, data_end, end, expected)?;
    }
    Ok(data_start)
}

/// The descriptor comes with or without a signature; both are in use.
fn check_descriptor(
    input: &mut Input,
    entry: &Entry,
    start: u64,
    end: u64,
    expected: [u64; 3],
) -> Result<(), Refusal> {
    let mut bytes = Vec::with_capacity(16);
    input.region(start, end.min(start + 16)).read_to_end(&mut bytes)?;
    let agrees = |at: usize| {
        bytes.len() >= at + 12
            && [u32_at(&bytes, at), u32_at(&bytes, at + 4), u32_at(&bytes, at + 8)].map(u64::from) == expected
    };
    if (u32_at(&bytes, 0) == DESCRIPTOR_SIGNATURE && agrees(4)) || agrees(0) {
        return Ok(());
    }
    Err(entry.refusal(
        "the sizes and checksum after its data are missing or disagree with the central directory. \
         Make the archive again.",
    ))
}
