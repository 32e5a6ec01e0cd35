//! Writes a zip archive as a stream: each file is deflated once and its sizes follow in a data descriptor.

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};
use std::io::{self, Read, Write};

/// Limits of 32-bit offsets and sizes. Callers leave out files for which [`ZipWriter::has_room`] is false.
const MOST_BYTES: u64 = 3 << 30;
const MOST_FILES: usize = 60_000;
/// A data descriptor follows the file; names are UTF-8.
const FLAGS: u16 = 1 << 3 | 1 << 11;
const DEFLATED: u16 = 8;
const VERSION: u16 = 20;
/// The earliest date of the format (1980-01-01); real times are in the manifest.
const DOS_EPOCH_DATE: u16 = 0x0021;

struct ZipEntry {
    name: String,
    crc: u32,
    packed: u32,
    size: u32,
    offset: u32,
}

pub(super) struct ZipWriter<W> {
    out: CountingWriter<W>,
    entries: Vec<ZipEntry>,
}

struct CountingWriter<W> {
    out: W,
    written: u64,
}

impl<W: Write> Write for CountingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = self.out.write(bytes)?;
        self.written += taken as u64;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<W: Write> ZipWriter<W> {
    pub(super) const fn new(out: W) -> Self {
        Self { out: CountingWriter { out, written: 0 }, entries: Vec::new() }
    }

    /// Whether a file of this size can still be added.
    pub(super) fn has_room(&self, size: u64) -> bool {
        self.entries.len() < MOST_FILES && self.out.written.saturating_add(size) < MOST_BYTES
    }

    pub(super) fn add(&mut self, name: &str, mut from: impl Read) -> io::Result<()> {
        let offset = to_u32(self.out.written)?;
        let name_len = u16::try_from(name.len()).map_err(io::Error::other)?;
        let mut head = Vec::with_capacity(30 + name.len());
        head.extend(0x0403_4b50_u32.to_le_bytes());
        push_u16s(&mut head, &[VERSION, FLAGS, DEFLATED, 0, DOS_EPOCH_DATE]);
        head.extend([0; 12]);
        push_u16s(&mut head, &[name_len, 0]);
        head.extend(name.as_bytes());
        self.out.write_all(&head)?;
        let before = self.out.written;
        let mut crc = Crc::new();
        let mut deflate = DeflateEncoder::new(&mut self.out, Compression::new(5));
        let mut size = 0_u64;
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let read = from.read(&mut buffer)?;
            if read == 0 {
                break;
            }
            crc.update(&buffer[..read]);
            size += read as u64;
            deflate.write_all(&buffer[..read])?;
        }
        deflate.finish()?;
        let (packed, size, crc) = (to_u32(self.out.written - before)?, to_u32(size)?, crc.sum());
        let mut tail = Vec::with_capacity(16);
        for word in [0x0807_4b50, crc, packed, size] {
            tail.extend(word.to_le_bytes());
        }
        self.out.write_all(&tail)?;
        self.entries.push(ZipEntry { name: name.to_owned(), crc, packed, size, offset });
        Ok(())
    }

    /// Writes the central directory and completes the archive.
    pub(super) fn finish(mut self) -> io::Result<W> {
        let start = to_u32(self.out.written)?;
        for entry in &self.entries {
            let mut head = Vec::with_capacity(46 + entry.name.len());
            head.extend(0x0201_4b50_u32.to_le_bytes());
            push_u16s(&mut head, &[VERSION, VERSION, FLAGS, DEFLATED, 0, DOS_EPOCH_DATE]);
            for word in [entry.crc, entry.packed, entry.size] {
                head.extend(word.to_le_bytes());
            }
            push_u16s(&mut head, &[u16::try_from(entry.name.len()).unwrap_or_default(), 0, 0, 0, 0]);
            head.extend([0; 4]);
            head.extend(entry.offset.to_le_bytes());
            head.extend(entry.name.as_bytes());
            self.out.write_all(&head)?;
        }
        let length = to_u32(self.out.written)? - start;
        let count = u16::try_from(self.entries.len()).map_err(io::Error::other)?;
        let mut end = Vec::with_capacity(22);
        end.extend(0x0605_4b50_u32.to_le_bytes());
        push_u16s(&mut end, &[0, 0, count, count]);
        end.extend(length.to_le_bytes());
        end.extend(start.to_le_bytes());
        push_u16s(&mut end, &[0]);
        self.out.write_all(&end)?;
        Ok(self.out.out)
    }
}

fn push_u16s(to: &mut Vec<u8>, all: &[u16]) {
    to.extend(all.iter().flat_map(|short| short.to_le_bytes()));
}

fn to_u32(n: u64) -> io::Result<u32> {
    u32::try_from(n).map_err(|_| io::Error::other("the archive is too large"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropleaf_content::{Limits, Source, Upload, prepare};

    #[test]
    fn the_archive_is_one_that_our_own_strict_reader_takes() {
        let mut zip = ZipWriter::new(Vec::new());
        zip.add("index.html", &b"<title>Kept</title>"[..]).unwrap();
        zip.add("empty.txt", io::empty()).unwrap();
        zip.add("deep/\u{fc}ber.css", &vec![b'x'; 200_000][..]).unwrap();
        assert!(zip.has_room(1) && !zip.has_room(4 << 30));
        let bytes = zip.finish().unwrap();
        let dir = tempfile::tempdir().unwrap();
        let source = Source::Memory(bytes.into());
        let upload = Upload { filename: Some("a.zip"), content_type: None, e2e: false, source };
        let bundle = prepare(upload, &Limits::default(), dir.path()).unwrap();
        let files: Vec<_> = bundle.files.iter().map(|file| (file.path.as_str(), file.size_bytes)).collect();
        assert_eq!(files, [("deep/\u{fc}ber.css", 200_000), ("empty.txt", 0), ("index.html", 19)]);
        assert_eq!(bundle.title, "Kept");
    }
}
