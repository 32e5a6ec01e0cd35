//! Writes zip archives byte by byte, both valid ones and ones with false values in any field.

use std::io::Write;

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

/// One entry; every field of its headers may be falsified.
#[derive(Debug, Clone)]
pub struct Item {
    pub name: Vec<u8>,
    pub flags: u16,
    pub method: u16,
    pub crc: u32,
    pub packed_bytes: u32,
    pub size: u32,
    /// Unix mode, as the upper half of the external attributes.
    pub mode: u32,
    pub disk: u16,
    /// The offset stated in the central directory; the correct one if absent.
    pub offset: Option<u32>,
    pub packed: Vec<u8>,
    pub local: Local,
    /// Data descriptor, written after the data.
    pub descriptor: Vec<u8>,
    pub central_extra: Vec<u8>,
}

/// What the local header states instead of the values in the central directory.
#[derive(Debug, Clone, Default)]
pub struct Local {
    pub absent: bool,
    pub signature: Option<u32>,
    pub name: Option<Vec<u8>>,
    pub flags: Option<u16>,
    pub method: Option<u16>,
    pub crc: Option<u32>,
    pub packed_bytes: Option<u32>,
    pub size: Option<u32>,
    pub extra: Vec<u8>,
    /// The stated length of `extra`, if false.
    pub extra_bytes: Option<u16>,
}

impl Item {
    /// A stored file.
    pub fn stored(name: impl AsRef<[u8]>, data: &[u8]) -> Self {
        let mut crc = Crc::new();
        crc.update(data);
        let bytes = u32::try_from(data.len()).unwrap_or(u32::MAX);
        Self {
            name: name.as_ref().to_vec(),
            flags: 0,
            method: 0,
            crc: crc.sum(),
            packed_bytes: bytes,
            size: bytes,
            mode: 0o100_644,
            disk: 0,
            offset: None,
            packed: data.to_vec(),
            local: Local::default(),
            descriptor: Vec::new(),
            central_extra: Vec::new(),
        }
    }

    /// A deflated file.
    pub fn deflated(name: impl AsRef<[u8]>, data: &[u8]) -> Self {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        let packed = encoder.write_all(data).and_then(|()| encoder.finish()).unwrap_or_default();
        let packed_bytes = u32::try_from(packed.len()).unwrap_or(u32::MAX);
        Self { method: 8, packed, packed_bytes, ..Self::stored(name, data) }
    }

    /// A deflated file as streaming tools write it: sizes and checksum follow the data.
    pub fn streamed(name: impl AsRef<[u8]>, data: &[u8]) -> Self {
        let item = Self::deflated(name, data);
        let words = [0x0807_4b50, item.crc, item.packed_bytes, item.size];
        let descriptor = words.iter().flat_map(|word: &u32| word.to_le_bytes()).collect();
        let local = Local { crc: Some(0), packed_bytes: Some(0), size: Some(0), ..Local::default() };
        Self { flags: 8, descriptor, local, ..item }
    }

    /// A deflated file from a tool that uses zip64 for every size: all its numbers are in zip64 fields, except the
    /// offset, which [`Archive::build`] writes.
    pub fn zip64(name: impl AsRef<[u8]>, data: &[u8]) -> Self {
        let item = Self::deflated(name, data);
        let sizes = [u64::from(item.size), u64::from(item.packed_bytes)];
        let field = zip64_field(&sizes);
        let local = Local { extra: field.clone(), ..Local::default() };
        Self { size: u32::MAX, packed_bytes: u32::MAX, central_extra: field, local, ..item }
    }

    /// The same with sizes and checksum after the data, in 64 bits.
    pub fn zip64_streamed(name: impl AsRef<[u8]>, data: &[u8]) -> Self {
        let item = Self::deflated(name, data);
        let (size, packed_bytes) = (u64::from(item.size), u64::from(item.packed_bytes));
        let descriptor = [
            [0x0807_4b50, item.crc].iter().flat_map(|word: &u32| word.to_le_bytes()).collect::<Vec<u8>>(),
            [packed_bytes, size].iter().flat_map(|word| word.to_le_bytes()).collect(),
        ];
        let local = Local {
            crc: Some(0),
            packed_bytes: Some(u32::MAX),
            size: Some(u32::MAX),
            extra: zip64_field(&[0, 0]),
            ..Local::default()
        };
        Self { flags: 8, descriptor: descriptor.concat(), local, ..item }
    }

    pub fn folder(name: impl AsRef<[u8]>) -> Self {
        Self { mode: 0o040_755, ..Self::stored(name, b"") }
    }

    /// The same entry with a change applied.
    #[must_use]
    pub fn but(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

#[derive(Debug, Clone, Default)]
pub struct Archive {
    pub items: Vec<Item>,
    pub comment: Vec<u8>,
    /// Bytes before the first entry; offsets count from after them unless `shift` is set.
    pub prefix: Vec<u8>,
    pub shift: bool,
    /// Writes a zip64 end record and its locator, and puts all values there.
    pub zip64: bool,
}

/// The bytes of an archive, and the offsets of its parts, so that tests can damage them.
#[derive(Debug, Clone)]
pub struct Built {
    pub bytes: Vec<u8>,
    pub directory_at: usize,
    pub end_at: usize,
}

impl Archive {
    /// An archive with a valid `index.html`.
    pub fn site() -> Self {
        Self::default().item(Item::deflated("index.html", b"<!doctype html><title>Site</title><h1>Site</h1>"))
    }

    #[must_use]
    pub fn item(mut self, item: Item) -> Self {
        self.items.push(item);
        self
    }

    #[must_use]
    pub fn but(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    pub fn build(&self) -> Built {
        let mut out = Bytes(self.prefix.clone());
        let base = if self.shift { 0 } else { self.prefix.len() };
        let mut offsets = Vec::with_capacity(self.items.len());
        for item in &self.items {
            offsets.push(truncated(out.0.len() - base));
            if !item.local.absent {
                out.local(item);
            }
        }
        let directory_at = out.0.len();
        for (item, offset) in self.items.iter().zip(offsets) {
            out.central(item, item.offset.unwrap_or(offset));
        }
        let end_at = out.0.len();
        let mut count = u16::try_from(self.items.len() % 65_536).unwrap_or_default();
        let mut place = [truncated(end_at - directory_at), truncated(directory_at - base)];
        if self.zip64 {
            let records = self.items.len() as u64;
            out.u32(0x0606_4b50).u64(44).u16(45).u16(45).u32(0).u32(0).u64(records).u64(records);
            out.u64((end_at - directory_at) as u64).u64((directory_at - base) as u64);
            out.u32(0x0706_4b50).u32(0).u64((end_at - base) as u64).u32(1);
            (count, place) = (u16::MAX, [u32::MAX; 2]);
        }
        out.u32(0x0605_4b50).u16(0).u16(0).u16(count).u16(count).u32(place[0]).u32(place[1]);
        out.u16(u16::try_from(self.comment.len()).unwrap_or(u16::MAX)).all(&self.comment);
        Built { bytes: out.0, directory_at, end_at }
    }
}

impl Built {
    /// Overwrites bytes at an offset.
    #[must_use]
    pub fn patched(mut self, at: usize, with: &[u8]) -> Self {
        if let Some(place) = self.bytes.get_mut(at..at + with.len()) {
            place.copy_from_slice(with);
        }
        self
    }
}

/// A zip64 extra field with these values.
pub fn zip64_field(values: &[u64]) -> Vec<u8> {
    let length = u16::try_from(values.len() * 8).unwrap_or(u16::MAX);
    let head = [1_u16, length].into_iter().flat_map(u16::to_le_bytes);
    head.chain(values.iter().flat_map(|value| value.to_le_bytes())).collect()
}

fn truncated(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

struct Bytes(Vec<u8>);

impl Bytes {
    fn all(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }

    fn u16(&mut self, value: u16) -> &mut Self {
        self.all(&value.to_le_bytes())
    }

    fn u32(&mut self, value: u32) -> &mut Self {
        self.all(&value.to_le_bytes())
    }

    fn u64(&mut self, value: u64) -> &mut Self {
        self.all(&value.to_le_bytes())
    }

    fn length(&mut self, bytes: &[u8]) -> &mut Self {
        self.u16(u16::try_from(bytes.len()).unwrap_or(u16::MAX))
    }

    fn local(&mut self, item: &Item) {
        let local = &item.local;
        let name = local.name.as_ref().unwrap_or(&item.name);
        self.u32(local.signature.unwrap_or(0x0403_4b50)).u16(20);
        self.u16(local.flags.unwrap_or(item.flags)).u16(local.method.unwrap_or(item.method));
        self.u16(0).u16(0x21).u32(local.crc.unwrap_or(item.crc));
        self.u32(local.packed_bytes.unwrap_or(item.packed_bytes)).u32(local.size.unwrap_or(item.size));
        self.length(name)
            .u16(local.extra_bytes.unwrap_or(u16::try_from(local.extra.len()).unwrap_or(u16::MAX)));
        self.all(name).all(&local.extra).all(&item.packed).all(&item.descriptor);
    }

    fn central(&mut self, item: &Item, offset: u32) {
        self.u32(0x0201_4b50).u16(0x0314).u16(20).u16(item.flags).u16(item.method).u16(0).u16(0x21);
        self.u32(item.crc).u32(item.packed_bytes).u32(item.size);
        self.length(&item.name).length(&item.central_extra).u16(0).u16(item.disk).u16(0);
        self.u32(item.mode << 16).u32(offset).all(&item.name).all(&item.central_extra);
    }
}
