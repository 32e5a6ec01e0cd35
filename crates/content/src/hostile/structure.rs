//! Archives that are cut, spliced, split, or readable in more than one way.

use super::{Archive, Built, Cases, Item};

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
}
