//! Entries whose headers contradict their data or each other.

use super::{Archive, Cases, Item, with};

const TEXT: &[u8] = b"all work and no play makes jack a dull boy, all work and no play";

type Change = fn(&mut Item);

pub(super) fn add(cases: &mut Cases) {
    unreadable(cases);
    data(cases);
    local_headers(cases);
    descriptors(cases);
    overlaps(cases);
}

fn unreadable(cases: &mut Cases) {
    for (what, bit) in
        [("encrypted", 0), ("patch data", 5), ("strongly encrypted", 6), ("masked headers", 13)]
    {
        cases.invalid(what, with(Item::stored("a", TEXT).but(|item| item.flags = 1 << bit)));
    }
    for method in [1, 6, 9, 12, 14, 93, 95, 99, 0xffff] {
        cases.invalid(
            format!("method {method}"),
            with(Item::stored("a", TEXT).but(|item| item.method = method)),
        );
    }
}

fn data(cases: &mut Cases) {
    cases.invalid("wrong checksum, stored", with(Item::stored("a", TEXT).but(|item| item.crc ^= 1)));
    cases.invalid("wrong checksum, deflated", with(Item::deflated("a", TEXT).but(|item| item.crc ^= 1)));
    let changes: [(&str, Change); 9] = [
        ("size one too small", |item| item.size -= 1),
        ("size one too large", |item| item.size += 1),
        ("size zero", |item| item.size = 0),
        ("packed size one too small", |item| item.packed_bytes -= 1),
        ("packed size zero", |item| item.packed_bytes = 0),
        ("deflated data is noise", |item| item.packed.fill(0xff)),
        ("deflated data is cut", |item| {
            item.packed.truncate(8);
            item.packed_bytes = 8;
        }),
        ("bytes after the deflated data", |item| {
            item.packed.extend(b"hidden");
            item.packed_bytes += 6;
        }),
        ("said to be stored", |item| item.method = 0),
    ];
    for (what, change) in changes {
        cases.invalid(what, with(Item::deflated("a", TEXT).but(change)));
    }
    cases.invalid("stored with two sizes", with(Item::stored("a", TEXT).but(|item| item.size += 1)));
    cases.invalid("said to be deflated", with(Item::stored("a", TEXT).but(|item| item.method = 8)));
}

fn local_headers(cases: &mut Cases) {
    let changes: [(&str, Change); 11] = [
        ("no local signature", |item| item.local.signature = Some(0)),
        ("local signature of a directory record", |item| item.local.signature = Some(0x0201_4b50)),
        ("other local name", |item| item.local.name = Some(b"b".to_vec())),
        ("longer local name", |item| item.local.name = Some(b"a.html".to_vec())),
        ("local name slips", |item| item.local.name = Some(b"../../evil".to_vec())),
        ("other local method", |item| item.local.method = Some(0)),
        ("other local checksum", |item| item.local.crc = Some(7)),
        ("other local size", |item| item.local.size = Some(7)),
        ("other local packed size", |item| item.local.packed_bytes = Some(7)),
        ("encrypted only in the local header", |item| item.local.flags = Some(1)),
        ("zip64 sizes in the local header", |item| {
            (item.local.size, item.local.packed_bytes) = (Some(u32::MAX), Some(u32::MAX));
        }),
    ];
    for (what, change) in changes {
        cases.invalid(what, with(Item::deflated("a", TEXT).but(change)));
    }
}

fn descriptors(cases: &mut Cases) {
    let changes: [(&str, Change); 7] = [
        ("descriptor missing", |item| item.descriptor.clear()),
        ("descriptor cut", |item| item.descriptor.truncate(11)),
        ("descriptor with another checksum", |item| item.descriptor[4] ^= 1),
        ("descriptor with another packed size", |item| item.descriptor[8] ^= 1),
        ("descriptor with another size", |item| item.descriptor[12] ^= 1),
        ("descriptor only in the local header", |item| {
            (item.flags, item.local.flags) = (0, Some(8));
        }),
        ("descriptor only in the directory", |item| item.local.flags = Some(0)),
    ];
    for (what, change) in changes {
        cases.invalid(what, with(Item::streamed("a", TEXT).but(change)));
    }
}

fn overlaps(cases: &mut Cases) {
    // Several names for one piece of data.
    let again = |name: &str| Item::stored(name, TEXT).but(|item| item.local.absent = true);
    let same =
        Archive::site().item(Item::stored("a", TEXT)).item(again("b").but(|item| item.offset = Some(90)));
    let at = same.build().bytes.windows(4).rposition(|w| w == b"PK\x03\x04").unwrap_or(0);
    let shared = u32::try_from(at).unwrap_or(0);
    let same =
        Archive::site().item(Item::stored("a", TEXT)).item(again("b").but(|i| i.offset = Some(shared)));
    cases.invalid("two entries share one local header", same.build().bytes);
    cases.invalid(
        "two entries share the first header",
        with(again("index.html2").but(|i| i.offset = Some(0))),
    );

    // The data of the first entry covers the whole second entry, as in the best-known flat bomb.
    let inner = Archive::default().item(Item::stored("b", TEXT)).build();
    let swallowed = inner.bytes[..inner.directory_at].to_vec();
    let outer = Item::stored("a", &swallowed);
    let header = u32::try_from(Archive::site().build().directory_at + 30 + 1).unwrap_or(0);
    let quoted = Archive::site().item(outer).item(again("b").but(|item| item.offset = Some(header)));
    cases.invalid("entry inside the data of another", quoted.build().bytes);

    cases.invalid("data reaches into the next entry", {
        let long = Item::stored("a", TEXT).but(|item| {
            (item.packed_bytes, item.size) = (item.packed_bytes + 10, item.size + 10);
        });
        Archive::site().item(long).item(Item::stored("b", TEXT)).build().bytes
    });
    cases.invalid("data reaches into the central directory", {
        with(Item::stored("a", TEXT).but(|item| {
            (item.packed_bytes, item.size) = (item.packed_bytes + 10, item.size + 10);
        }))
    });
    cases.invalid(
        "extra field reaches into the central directory",
        with(Item::stored("a", TEXT).but(|item| item.local.extra_bytes = Some(60_000))),
    );
    for (what, offset) in [("offset beyond the file", 0x00ff_ffff), ("offset near the largest", 0xffff_fffe)]
    {
        cases.invalid(what, with(Item::stored("a", TEXT).but(|item| item.offset = Some(offset))));
    }
    let directory =
        u32::try_from(Archive::site().item(Item::stored("a", TEXT)).build().directory_at).unwrap_or(0);
    cases.invalid(
        "offset is the central directory",
        with(Item::stored("a", TEXT).but(|item| item.offset = Some(directory))),
    );
}
