//! Reads an upload by position, from memory or from a file, without loading it whole.

use std::io::{self, Read, Seek, SeekFrom};

use bytes::Bytes;

/// Where the uploaded bytes are.
#[derive(Debug)]
pub enum Source {
    Memory(Bytes),
    /// Readable and seekable; its position does not matter.
    File(std::fs::File),
}

pub(crate) const CHUNK: usize = 64 * 1024;

pub(crate) struct Input {
    source: Source,
    len: u64,
}

impl Input {
    pub(crate) fn open(mut source: Source) -> io::Result<Self> {
        let len = match &mut source {
            Source::Memory(bytes) => bytes.len() as u64,
            Source::File(file) => file.seek(SeekFrom::End(0))?,
        };
        Ok(Self { source, len })
    }

    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// All bytes at once, if they are in memory and at most [`CHUNK`].
    pub(crate) fn whole(&self) -> Option<&[u8]> {
        match &self.source {
            Source::Memory(bytes) if bytes.len() <= CHUNK => Some(bytes),
            Source::Memory(_) | Source::File(_) => None,
        }
    }

    /// Reads up to `buf.len()` bytes at `offset`; returns 0 only at the end.
    fn read_at(&mut self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        match &mut self.source {
            Source::Memory(bytes) => {
                let start = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
                let count = buf.len().min(bytes.len() - start);
                buf[..count].copy_from_slice(&bytes[start..start + count]);
                Ok(count)
            }
            Source::File(file) => {
                file.seek(SeekFrom::Start(offset))?;
                file.read(buf)
            }
        }
    }

    /// The bytes from `start` to `end` as a reader. `end` beyond the input is the input's end.
    pub(crate) fn region(&mut self, start: u64, end: u64) -> Region<'_> {
        let end = end.min(self.len);
        Region { input: self, position: start, end }
    }

    /// The first bytes, at most `count`.
    pub(crate) fn head(&mut self, count: usize) -> io::Result<Vec<u8>> {
        let mut head = Vec::new();
        self.region(0, count as u64).read_to_end(&mut head)?;
        Ok(head)
    }

    /// Passes all bytes in order to `take`, in chunks.
    pub(crate) fn for_each_chunk<E: From<io::Error>>(
        &mut self,
        mut take: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        if let Source::Memory(bytes) = &self.source {
            return bytes.chunks(CHUNK).try_for_each(take);
        }
        let mut buffer = vec![0; CHUNK];
        let mut region = self.region(0, u64::MAX);
        loop {
            let count = region.read(&mut buffer)?;
            if count == 0 {
                return Ok(());
            }
            take(&buffer[..count])?;
        }
    }
}

pub(crate) struct Region<'a> {
    input: &'a mut Input,
    position: u64,
    end: u64,
}

impl Read for Region<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let left = self.end.saturating_sub(self.position);
        let count = usize::try_from(left).unwrap_or(usize::MAX).min(buf.len());
        if count == 0 {
            return Ok(0);
        }
        let read = self.input.read_at(self.position, &mut buf[..count])?;
        self.position += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn both(bytes: &'static [u8]) -> [Input; 2] {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        [Source::Memory(Bytes::from_static(bytes)), Source::File(file)].map(|s| Input::open(s).unwrap())
    }

    #[test]
    fn memory_and_file_read_alike() {
        for mut input in both(b"0123456789") {
            assert_eq!(input.len(), 10);
            assert_eq!(input.head(4).unwrap(), b"0123");
            assert_eq!(input.head(40).unwrap(), b"0123456789");
            let mut middle = Vec::new();
            input.region(3, 6).read_to_end(&mut middle).unwrap();
            assert_eq!(middle, b"345");
            let mut beyond = Vec::new();
            input.region(9, u64::MAX).read_to_end(&mut beyond).unwrap();
            assert_eq!(beyond, b"9");
            assert_eq!(input.region(20, 30).read(&mut [0; 4]).unwrap(), 0);
        }
    }
}
