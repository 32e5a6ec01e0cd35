//! Reads the end record and the central directory, the only authoritative list of entries.

use std::io::{self, BufReader, Read};

use memchr::memmem;

use super::entry::{ZipEntry, u16_at, u32_at};
use super::names::NameFaults;
use super::zip64::{self, IN_ZIP64_FIELD};
use super::{Limits, names, too_many_files};
use crate::input::{CHUNK, Input, Region};
use crate::refusal::Refusal;

const END_SIGNATURE: &[u8; 4] = b"PK\x05\x06";
const END_BYTES: usize = 22;
const LONGEST_COMMENT: usize = 0xffff;
const RECORD_SIGNATURE: u32 = 0x0201_4b50;
const RECORD_BYTES: usize = 46;
/// Folders and system files are records too, so there may be more records than files.
const RECORDS_PER_FILE: usize = 4;

const ENCRYPTED: u16 = 1 | 1 << 6 | 1 << 13;
const PATCH: u16 = 1 << 5;
const SYMLINK: u32 = 0o120_000;
const FOLDER: u32 = 0o040_000;
const REGULAR: u32 = 0o100_000;

#[derive(Debug)]
pub(super) struct Directory {
    pub(super) entries: Vec<ZipEntry>,
    /// The offset of the central directory: no entry may extend beyond it.
    pub(super) start: u64,
}

pub(super) fn read(input: &mut Input, limits: &Limits) -> Result<Directory, Refusal> {
    let end = find_end(input)?;
    let records = usize::try_from(end.records).unwrap_or(usize::MAX);
    if records > limits.files.saturating_mul(RECORDS_PER_FILE) {
        return Err(too_many_files(records, limits));
    }
    let mut reader = BufReader::with_capacity(CHUNK, input.region(end.directory.start, end.directory.end));
    // The count is only a claim; there is no room for more records than this.
    let room = (end.directory.end - end.directory.start) / RECORD_BYTES as u64;
    let mut entries = Vec::with_capacity(records.min(usize::try_from(room).unwrap_or(usize::MAX)));
    let mut faults = NameFaults::default();
    for _ in 0..records {
        let (name, record) = read_record(&mut reader)?;
        if let Some((name, written)) = faults.collect(names::check(name, limits)) {
            entries.push(record.entry(name, written)?);
        }
    }
    faults.into_result()?;
    if reader.read(&mut [0])? != 0 {
        return Err(Refusal::archive(
            "The archive has more entries than its end record states. Create the archive again.",
        ));
    }
    Ok(Directory { entries, start: end.directory.start })
}

fn find_end(input: &mut Input) -> Result<zip64::End, Refusal> {
    let tail_bytes = (END_BYTES + LONGEST_COMMENT + zip64::LOCATOR_BYTES) as u64;
    let tail_start = input.len().saturating_sub(tail_bytes);
    let mut tail = Vec::new();
    input.region(tail_start, u64::MAX).read_to_end(&mut tail)?;

    // A second end record, in the comment or before it, would let another program read a different archive.
    let ends_file = |at: usize| {
        at + END_BYTES <= tail.len() && at + END_BYTES + usize::from(u16_at(&tail, at + 20)) == tail.len()
    };
    let candidates: Vec<usize> = memmem::find_iter(&tail, END_SIGNATURE).collect();
    let Some(&at) = candidates.last() else {
        return Err(Refusal::archive(
            "The zip archive is incomplete: its end record is missing. Create it again or send it again.",
        ));
    };
    if !ends_file(at) || candidates.iter().filter(|&&at| ends_file(at)).count() != 1 {
        return Err(Refusal::archive(
            "The archive does not end exactly with one end record: bytes are missing, added or ambiguous. \
             Create the archive again.",
        ));
    }
    let record = &tail[at..];
    let locator = at.checked_sub(zip64::LOCATOR_BYTES).filter(|from| zip64::is_locator(&tail[*from..]));
    if let Some(from) = locator {
        let end = zip64::read_end(input, &tail[from..at], tail_start + from as u64)?;
        check_same_end(record, &end)?;
        return Ok(end);
    }
    let (disk_records, records) = (u16_at(record, 8), u16_at(record, 10));
    let (size, start) = (u32_at(record, 12), u32_at(record, 16));
    if records == u16::MAX || size == IN_ZIP64_FIELD || start == IN_ZIP64_FIELD {
        return Err(Refusal::archive(
            "The archive uses zip64, but its zip64 end record is missing. Create the archive again.",
        ));
    }
    if u16_at(record, 4) != 0 || u16_at(record, 6) != 0 || disk_records != records {
        return Err(Refusal::archive("The archive is split into several files. Create it as a single file."));
    }
    let (start, end) = (u64::from(start), tail_start + at as u64);
    if start + u64::from(size) != end {
        return Err(Refusal::archive(
            "The archive's central directory is not at the position in its end record. Create the archive again, \
             without bytes before or after it.",
        ));
    }
    Ok(zip64::End { records: u64::from(records), directory: start..end })
}

/// Each field of the plain end record must either refer to the zip64 record or agree with it.
fn check_same_end(record: &[u8], end: &zip64::End) -> Result<(), Refusal> {
    let short = |at: usize, expected: u64| {
        let stated = u16_at(record, at);
        stated == u16::MAX || u64::from(stated) == expected
    };
    let long = |at: usize, expected: u64| {
        let stated = u32_at(record, at);
        stated == IN_ZIP64_FIELD || u64::from(stated) == expected
    };
    let size = end.directory.end - end.directory.start;
    let agree = short(4, 0)
        && short(6, 0)
        && short(8, end.records)
        && short(10, end.records)
        && long(12, size)
        && long(16, end.directory.start);
    if agree {
        return Ok(());
    }
    Err(Refusal::archive("The archive's two end records disagree. Create the archive again."))
}

/// A record of the central directory, without its name.
struct Record {
    fields: [u8; RECORD_BYTES],
    extra: Vec<u8>,
}

fn read_record(reader: &mut BufReader<Region<'_>>) -> Result<(Vec<u8>, Record), Refusal> {
    let mut fields = [0; RECORD_BYTES];
    fill(reader, &mut fields)?;
    if u32_at(&fields, 0) != RECORD_SIGNATURE {
        return Err(Refusal::archive(
            "The archive's central directory is damaged. Create the archive again.",
        ));
    }
    let mut name = vec![0; usize::from(u16_at(&fields, 28))];
    fill(reader, &mut name)?;
    let mut extra = vec![0; usize::from(u16_at(&fields, 30))];
    fill(reader, &mut extra)?;
    let comment = u64::from(u16_at(&fields, 32));
    if io::copy(&mut reader.take(comment), &mut io::sink())? != comment {
        return Err(cut_short());
    }
    Ok((name, Record { fields, extra }))
}

impl Record {
    fn entry(&self, name: String, written: String) -> Result<ZipEntry, Refusal> {
        let fields = &self.fields;
        let stated = [u32_at(fields, 24), u32_at(fields, 20), u32_at(fields, 42)];
        let [size, packed, offset] = zip64::resolve(stated, &self.extra).map_err(|why| {
            ZipEntry::named(name.clone()).refusal(format!("{why}. Create the archive again, as a plain zip."))
        })?;
        let entry = ZipEntry {
            name,
            written,
            flags: u16_at(fields, 8),
            method: u16_at(fields, 10),
            crc: u32_at(fields, 16),
            packed,
            size,
            offset,
            is_zip64: stated.contains(&IN_ZIP64_FIELD),
        };
        if u16_at(fields, 34) != 0 {
            return Err(entry
                .refusal("it is in another part of a split archive. Create the archive as a single file."));
        }
        check_entry(&entry, u32_at(fields, 38) >> 16)?;
        Ok(entry)
    }
}

fn check_entry(entry: &ZipEntry, mode: u32) -> Result<(), Refusal> {
    if entry.flags & ENCRYPTED != 0 {
        return Err(entry.refusal("it is encrypted. Create the archive without a password."));
    }
    if entry.flags & PATCH != 0 || !matches!(entry.method, 0 | 8) {
        return Err(entry.refusal(format!(
            "its compression method ({}) is not supported. Create the archive with \"deflate\" or \"store\".",
            entry.method
        )));
    }
    match (mode & 0o170_000, entry.is_folder()) {
        (0 | REGULAR, _) | (FOLDER, true) => {}
        (FOLDER, false) => return Err(entry.refusal("it is a folder, but its name does not end with \"/\".")),
        (SYMLINK, _) => return Err(entry.refusal("it is a link. Replace it with the file it points to.")),
        _ => return Err(entry.refusal("it is a device, pipe or socket. Remove it.")),
    }
    if entry.is_folder() && entry.size != 0 {
        return Err(entry.refusal("it is a folder, but it has content. Create the archive again."));
    }
    if entry.method == 0 && entry.packed != entry.size {
        return Err(
            entry.refusal("it is not compressed, but its two sizes differ. Create the archive again.")
        );
    }
    Ok(())
}

fn fill(reader: &mut impl Read, buf: &mut [u8]) -> Result<(), Refusal> {
    reader.read_exact(buf).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => cut_short(),
        _ => error.into(),
    })
}

fn cut_short() -> Refusal {
    Refusal::archive("The archive's central directory is cut short. Create the archive again.")
}
