//! Archives that are truncated, spliced, split, or ambiguous.

use super::{Archive, Built, Cases, Item, with, zip64_field};
use crate::RefusalCode;

fn base() -> Built {
    Archive::site().item(Item::deflated("a.txt", b"some text, some text, some text")).build()
}

pub(super) fn add(cases: &mut Cases) {
    cut(cases);
    end_record(cases);
    directory(cases);
    around(cases);
    zip64(cases);
}

fn cut(cases: &mut Cases) {
    let base = base();
    for (what, length) in [
        ("cut after the signature", 4),
        ("cut in the first local header", 20),
        ("cut in the data", 50),
        ("cut before the central directory", base.directory_at),
        ("cut in the central directory", base.directory_at + 60),
        ("cut before the end record", base.end_at),
        ("cut in the end record", base.end_at + 10),
        ("cut by one byte", base.bytes.len() - 1),
    ] {
        cases.invalid(what, base.bytes[..length].to_vec());
    }
    cases.invalid("start is missing", base.bytes[10..].to_vec());
    cases.invalid("middle is missing", [&base.bytes[..40], &base.bytes[60..]].concat());
    cases.invalid("only zeroes", vec![0; 1000]);
    cases.invalid("only signatures", b"PK\x03\x04".repeat(1000));
    cases.invalid("only end records", b"PK\x05\x06".repeat(1000));
}

fn end_record(cases: &mut Cases) {
    let base = base();
    for (what, at, value) in [
        ("this disk is 1", 4, 1),
        ("directory on disk 1", 6, 1),
        ("one record fewer on this disk", 8, 1),
        ("one record more in total", 10, 3),
        ("comment longer than the file", 20, 9),
    ] {
        cases.invalid(what, base.clone().patched(base.end_at + at, &u16::to_le_bytes(value)).bytes);
    }
    for (what, count) in [("count too small", 1_u8), ("count too large", 3), ("count is zero", 0)] {
        let built = base.clone().patched(base.end_at + 8, &[count, 0, count, 0]);
        cases.invalid(what, built.bytes);
    }
    let directory_at = u32::try_from(base.directory_at).unwrap_or(0);
    let size = u32::try_from(base.end_at - base.directory_at).unwrap_or(0);
    for (what, size, at) in [
        ("directory size one too small", size - 1, directory_at),
        ("directory size one too large", size + 1, directory_at),
        ("directory starts one later", size - 1, directory_at + 1),
        ("directory starts at zero", size, 0),
        ("directory beyond the file", size, 0x7fff_ffff),
        ("directory size wraps around", u32::MAX - 1, directory_at),
    ] {
        let fields = [size.to_le_bytes(), at.to_le_bytes()].concat();
        cases.invalid(what, base.clone().patched(base.end_at + 12, &fields).bytes);
    }
}

fn directory(cases: &mut Cases) {
    let base = base();
    let at = base.directory_at;
    cases.invalid("directory signature is wrong", base.clone().patched(at, b"PK\x01\x03").bytes);
    for (what, field) in [("name", 28), ("extra field", 30), ("comment", 32)] {
        cases.invalid(
            format!("directory {what} reaches beyond"),
            base.clone().patched(at + field, &[0xff, 0x7f]).bytes,
        );
    }
    cases.invalid("entry on disk 1", base.clone().patched(at + 34, &[1, 0]).bytes);
    let mut gap = base.bytes.clone();
    gap.splice(base.end_at..base.end_at, *b"gap");
    cases.invalid("gap before the end record", gap);
    let mut hidden = base.bytes.clone();
    hidden.splice(at..at, *b"gap");
    cases.invalid("gap before the directory, offsets kept", hidden);
}

fn around(cases: &mut Cases) {
    let prefix = |shift| {
        Archive::site()
            .but(|archive| (archive.prefix, archive.shift) = (b"#!/bin/sh\n".to_vec(), shift))
            .build()
            .bytes
    };
    cases.invalid("bytes in front, offsets kept", prefix(false));
    cases.invalid("bytes in front, offsets shifted", prefix(true));
    let base = base();
    cases.invalid("bytes after the end", [base.bytes.as_slice(), b"tail"].concat());
    cases.invalid("two archives in a row", [base.bytes.as_slice(), &base.bytes].concat());
    let second = Archive::default().build().bytes;
    cases.invalid(
        "end record inside the comment",
        Archive::site().but(|archive| archive.comment = second).build().bytes,
    );
    // Both end records reach exactly to the end of the file: readers would disagree.
    let mut fake = Archive::default().build().bytes;
    let real = Archive::site().build();
    let mut ambiguous = real.bytes.clone();
    let length = u16::try_from(fake.len()).unwrap_or(0);
    ambiguous.splice(real.end_at + 20.., length.to_le_bytes());
    ambiguous.append(&mut fake);
    cases.invalid("two end records that both fit", ambiguous);
}

fn zip64(cases: &mut Cases) {
    let base = base();
    let at = base.end_at;
    cases.invalid("zip64 count", base.clone().patched(at + 8, &[0xff; 4]).bytes);
    cases.invalid("zip64 directory size", base.clone().patched(at + 12, &[0xff; 4]).bytes);
    cases.invalid("zip64 directory offset", base.clone().patched(at + 16, &[0xff; 4]).bytes);
    for (what, field) in [("packed size", 20), ("size", 24), ("offset", 42)] {
        let built = base.clone().patched(base.directory_at + field, &[0xff; 4]);
        cases.invalid(format!("zip64 {what} of an entry"), built.bytes);
    }
    let mut locator = base.bytes.clone();
    locator.splice(at..at, [b"PK\x06\x07".as_slice(), &[0; 16]].concat());
    cases.invalid("zip64 locator", locator);
    zip64_end(cases);
    zip64_entries(cases);
}

/// Complete zip64 archives with one wrong field in an end record.
fn zip64_end(cases: &mut Cases) {
    let base = Archive::site().but(|archive| archive.zip64 = true).build();
    let (record, locator, end) = (base.end_at, base.end_at + 56, base.end_at + 76);
    let wide = |value: u64| value.to_le_bytes().to_vec();
    for (what, at, with) in [
        ("signature", record, b"PK\x06\x05".to_vec()),
        ("length with room for more", record + 4, wide(45)),
        ("length near the largest", record + 4, wide(u64::MAX)),
        ("disk", record + 16, vec![1]),
        ("disk of the directory", record + 20, vec![1]),
        ("count on this disk", record + 24, wide(2)),
        ("counts", record + 24, [wide(2), wide(2)].concat()),
        ("counts near the largest", record + 24, [wide(u64::MAX), wide(u64::MAX)].concat()),
        ("directory size", record + 40, wide(1)),
        ("directory size near the largest", record + 40, wide(u64::MAX)),
        ("directory offset", record + 48, wide(0)),
        ("directory that wraps around", record + 40, [wide(u64::MAX), wide(record as u64 + 1)].concat()),
        ("locator's disk", locator + 4, vec![1]),
        ("locator's offset", locator + 8, wide(record as u64 - 1)),
        ("locator's offset near the largest", locator + 8, wide(u64::MAX)),
        ("locator's number of disks", locator + 16, vec![2]),
        ("plain disk", end + 4, vec![1, 0]),
        ("plain count", end + 10, vec![2, 0]),
        ("plain directory size", end + 12, vec![1, 0, 0, 0]),
        ("plain directory offset", end + 16, vec![1, 0, 0, 0]),
    ] {
        // An impossible count is refused for the number of files.
        let built = base.clone().patched(at, &with).bytes;
        if what == "counts near the largest" {
            cases.add(format!("zip64 end: {what}"), built, RefusalCode::TooManyFiles);
        } else {
            cases.invalid(format!("zip64 end: {what}"), built);
        }
    }
    let mut gap = base.bytes.clone();
    gap.splice(locator..locator, *b"gap");
    cases.invalid("zip64 end: gap before the locator", gap);
    let mut gone = base.bytes;
    gone.drain(record..locator);
    cases.invalid("zip64 end: record is missing", gone);
}

/// Entries with false zip64 fields.
fn zip64_entries(cases: &mut Cases) {
    type Change = fn(&mut Item, (u64, u64));
    const TEXT: &[u8] = b"some text, some text, some text";
    let sizes = |item: &Item| (TEXT.len() as u64, item.packed.len() as u64);
    let changes: [(&str, Change); 13] = [
        ("no field", |item, _| item.central_extra.clear()),
        ("field of no length", |item, _| item.central_extra = zip64_field(&[])),
        ("field with one size", |item, (size, _)| item.central_extra = zip64_field(&[size])),
        ("two fields", |item, _| item.central_extra.extend_from_within(..)),
        ("field that is cut", |item, _| item.central_extra.truncate(19)),
        ("other size", |item, (size, packed)| item.central_extra = zip64_field(&[size + 1, packed])),
        ("other packed size", |item, (size, packed)| item.central_extra = zip64_field(&[size, packed - 1])),
        ("other offset", |item, (size, packed)| item.central_extra = zip64_field(&[size, packed, 7])),
        ("size near the largest", |item, (_, packed)| item.central_extra = zip64_field(&[u64::MAX, packed])),
        ("size of 4 GiB", |item, (_, packed)| item.central_extra = zip64_field(&[1 << 32, packed])),
        ("no local field", |item, _| item.local.extra.clear()),
        ("other local size", |item, (size, packed)| item.local.extra = zip64_field(&[size + 1, packed])),
        ("local field with one size", |item, (size, _)| item.local.extra = zip64_field(&[size])),
    ];
    for (what, change) in changes {
        let mut item = Item::zip64("a", TEXT);
        let sizes = sizes(&item);
        change(&mut item, sizes);
        cases.invalid(format!("zip64 entry: {what}"), with(item));
    }
    for (what, at) in [("checksum", 4), ("packed size", 8), ("high half of the size", 20)] {
        let item = Item::zip64_streamed("a", TEXT).but(|item| item.descriptor[at] ^= 1);
        cases.invalid(format!("zip64 descriptor with another {what}"), with(item));
    }
    let plain = Item::streamed("a", TEXT).but(|item| {
        item.descriptor = Item::zip64_streamed("a", TEXT).descriptor;
    });
    cases.invalid("zip64 descriptor of a plain entry", with(plain));
}
