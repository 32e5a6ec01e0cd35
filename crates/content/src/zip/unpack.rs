//! Unpacks one entry in chunks, and verifies its size, checksum and end of data.

use std::io::{self, Read};

use flate2::{Crc, Decompress, FlushDecompress, Status};

use super::entry::ZipEntry;
use crate::input::{CHUNK, Input, Region};
use crate::refusal::{Refusal, RefusalCode};

/// The packed data of one entry.
pub(super) struct EntryData<'a> {
    pub(super) input: &'a mut Input,
    pub(super) entry: &'a ZipEntry,
    pub(super) start: u64,
    /// How many bytes the rest of the archive may still unpack to.
    pub(super) budget: &'a mut u64,
}

impl EntryData<'_> {
    pub(super) fn unpack(&mut self, take: impl FnMut(&[u8]) -> io::Result<()>) -> Result<(), Refusal> {
        let entry = self.entry;
        let mut region = self.input.region(self.start, self.start + entry.packed);
        let mut meter = Meter { entry, budget: &mut *self.budget, crc: Crc::new(), left: entry.size, take };
        // Some tools mark empty entries as deflated and write no data at all.
        if entry.method == 0 || (entry.packed == 0 && entry.size == 0) {
            stored(&mut region, &mut meter)?;
        } else {
            inflated(&mut region, &mut meter)?;
        }
        meter.finish()
    }
}

/// Counts and checks the unpacked bytes.
struct Meter<'a, T> {
    entry: &'a ZipEntry,
    budget: &'a mut u64,
    crc: Crc,
    left: u64,
    take: T,
}

impl<T: FnMut(&[u8]) -> io::Result<()>> Meter<'_, T> {
    fn take(&mut self, chunk: &[u8]) -> Result<(), Refusal> {
        let count = chunk.len() as u64;
        let Some(left) = self.left.checked_sub(count) else {
            return Err(self
                .entry
                .refusal("it unpacks to more than its stated size. Create the archive again."));
        };
        let Some(budget) = self.budget.checked_sub(count) else {
            let detail = "with it, the unpacked archive exceeds the limit. Remove some files.";
            return Err(Refusal::of_entry(RefusalCode::TooLarge, self.entry.name.as_bytes(), detail));
        };
        (self.left, *self.budget) = (left, budget);
        self.crc.update(chunk);
        Ok((self.take)(chunk)?)
    }

    fn finish(self) -> Result<(), Refusal> {
        if self.left != 0 {
            return Err(self
                .entry
                .refusal("it unpacks to less than its stated size. Create the archive again."));
        }
        if self.crc.sum() != self.entry.crc {
            return Err(self
                .entry
                .refusal("its checksum is wrong: the archive is damaged. Create it again."));
        }
        Ok(())
    }
}

type TakeResult = Result<(), Refusal>;

fn stored<T: FnMut(&[u8]) -> io::Result<()>>(
    region: &mut Region<'_>,
    meter: &mut Meter<'_, T>,
) -> TakeResult {
    let mut buffer = vec![0; CHUNK];
    loop {
        let count = region.read(&mut buffer)?;
        if count == 0 {
            return Ok(());
        }
        meter.take(&buffer[..count])?;
    }
}

fn inflated<T: FnMut(&[u8]) -> io::Result<()>>(
    region: &mut Region<'_>,
    meter: &mut Meter<'_, T>,
) -> TakeResult {
    let damaged =
        |entry: &ZipEntry| entry.refusal("its compressed data is damaged. Create the archive again.");
    let (mut packed, mut plain) = (vec![0; CHUNK], vec![0; CHUNK]);
    let (mut from, mut to) = (0, 0);
    let mut inflate = Decompress::new(false);
    loop {
        if from == to {
            (from, to) = (0, region.read(&mut packed)?);
        }
        let (read_before, made_before) = (inflate.total_in(), inflate.total_out());
        let status = inflate
            .decompress(&packed[from..to], &mut plain, FlushDecompress::None)
            .map_err(|_| damaged(meter.entry))?;
        let read = inflate.total_in() - read_before;
        let made = inflate.total_out() - made_before;
        from += usize::try_from(read).unwrap_or(to - from);
        meter.take(&plain[..usize::try_from(made).unwrap_or(0)])?;
        if status == Status::StreamEnd {
            break;
        }
        // There is always room for output, so this means that the data is truncated.
        if read == 0 && made == 0 {
            return Err(damaged(meter.entry));
        }
    }
    if inflate.total_in() != meter.entry.packed {
        return Err(meter.entry.refusal("it has bytes after its compressed data. Create the archive again."));
    }
    Ok(())
}
