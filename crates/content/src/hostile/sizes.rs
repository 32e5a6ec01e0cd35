//! Zip bombs, and archives with too many files.

use super::{Archive, Cases, Item, with};
use crate::RefusalCode::{InvalidArchive, TooLarge, TooManyFiles};

const MIB: usize = 1 << 20;

pub(super) fn add(cases: &mut Cases) {
    let zeroes = vec![0; 90 * MIB];
    let bomb = Item::deflated("bomb.txt", &zeroes);
    cases.add("flat bomb", with(bomb.clone()), TooLarge);
    cases.add(
        "flat bomb named as a system file",
        with(bomb.clone().but(|i| i.name = b".DS_Store".to_vec())),
        TooLarge,
    );
    cases.add("bomb that says it is small", with(bomb.clone().but(|item| item.size = 1000)), InvalidArchive);
    cases.add(
        "bomb that says it is a folder",
        with(bomb.but(|i| (i.name, i.size) = (b"a/".to_vec(), 0))),
        InvalidArchive,
    );

    let piece = Item::deflated("x", &zeroes[..2 * MIB]);
    let many = |count: usize| {
        let named =
            |number: usize| piece.clone().but(|item| item.name = format!("f{number}.txt").into_bytes());
        let archive = (0..count).map(named).fold(Archive::site(), Archive::item);
        archive.build().bytes
    };
    cases.add("bomb in 40 pieces", many(40), TooLarge);
    cases.add("bomb in 60 pieces, above the limit", many(60), TooLarge);

    let huge = Item::stored("huge.bin", b"x").but(|item| {
        (item.method, item.size) = (8, 0xffff_fff0);
    });
    cases.add("declares 4 GiB", with(huge), TooLarge);
    let declared = |size: u32| Item::deflated("big.bin", b"x").but(|item| item.size = size);
    cases.add("declares one byte above the limit", with(declared(100 << 20)), TooLarge);
    cases.add("declares 200 times its size and more", with(declared(2 << 20)), TooLarge);

    cases.add("2001 files", files(2000, "f"), TooManyFiles);
    cases.add("65000 entries", files(65_000, "f"), TooManyFiles);
    cases.add("100000 entries", files(100_000, "f"), TooManyFiles);
    cases.add("9000 system files", files(9000, "__MACOSX/f"), TooManyFiles);
    let folders = (0..9000).map(|n| Item::folder(format!("d{n}/"))).fold(Archive::site(), Archive::item);
    cases.add("9000 folders", folders.build().bytes, TooManyFiles);
}

/// A site with this many additional empty files.
fn files(count: usize, prefix: &str) -> Vec<u8> {
    let archive =
        (0..count).map(|n| Item::stored(format!("{prefix}{n}"), b"")).fold(Archive::site(), Archive::item);
    archive.build().bytes
}
