//! Recognizes files that run on a viewer's computer by name and by first bytes: programs, installers, disk images, shortcuts
//! and system scripts. Who may publish them is decided elsewhere.

/// The media type of such a file, whatever its name says: browsers download it instead of displaying it.
pub const PROGRAM: &str = "application/x-executable";

/// How many of a file's first bytes are examined.
const HEAD_BYTES: usize = 4096;
/// Where an ISO 9660 volume has its signature.
const ISO_AT: u64 = 0x8001;
const ISO: [u8; 5] = *b"CD001";

/// Extensions that a desktop or phone runs, installs or mounts when the file is opened.
const EXTENSIONS: [&str; 6] = [
    // Windows: programs, libraries, installers.
    "exe com scr pif cpl dll ocx sys drv efi ax msi msp mst msix msixbundle appx appxbundle appinstaller application xll wll",
    // Windows: scripts, shortcuts, settings and help that run commands.
    "bat cmd ps1 ps1xml psm1 psd1 vbs vbe jse wsf wsh wsc sct hta lnk url scf reg inf msc chm hlp gadget library-ms search-ms \
     settingcontent-ms diagcab one onepkg rdp",
    // Disk images and cabinets, which hide that their content was downloaded.
    "iso img vhd vhdx cab wim udf",
    // Java, Android and iOS.
    "jar jnlp class apk apkm xapk aab ipa dex",
    // macOS.
    "dmg pkg mpkg command tool workflow action scpt scptd applescript terminal dylib kext",
    // Linux.
    "deb rpm appimage run desktop flatpakref flatpak snap so",
];

/// First bytes that mark a program under any name.
const MAGIC: [&[u8]; 15] = [
    b"\x7fELF",
    // Mach-O of 32 and 64 bits in both byte orders, then universal binaries, whose magic Java classes share.
    b"\xfe\xed\xfa\xce",
    b"\xfe\xed\xfa\xcf",
    b"\xce\xfa\xed\xfe",
    b"\xcf\xfa\xed\xfe",
    b"\xca\xfe\xba\xbe",
    // A Windows shortcut: header size and class identifier.
    b"\x4c\x00\x00\x00\x01\x14\x02\x00\x00\x00\x00\x00\xc0\x00\x00\x00\x00\x00\x00\x46",
    b"MSCF\x00\x00\x00\x00",
    b"ITSF\x03\x00\x00\x00",
    b"conectix",
    b"vhdxfile",
    b"MSWIM\x00\x00\x00",
    // OneNote.
    b"\xe4\x52\x5c\x7b\x8c\xd8\xa7\x4d\xae\xb1\x53\x78\xd0\x29\x96\xd3",
    b"!<arch>\ndebian-binary",
    b"\xed\xab\xee\xdb",
];
/// Compound files: Windows installers, but also office documents, encrypted documents of every kind, mail and drawings.
pub const COMPOUND: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";
/// Where the header of a compound file states the sector size (as a power of two) and the first sector of the directory, and
/// where the directory's first entry, the root, states its class.
const SECTOR_SHIFT_AT: usize = 0x1e;
const DIRECTORY_AT: usize = 0x30;
const CLASS_AT: u64 = 0x50;
/// The classes of the Windows Installer, which opens no file of another class: transforms, packages, patches. They differ in
/// the first byte.
const INSTALLERS: [u8; 3] = [0x82, 0x84, 0x86];
const INSTALLER: [u8; 15] = *b"\x10\x0c\x00\x00\x00\x00\x00\xc0\x00\x00\x00\x00\x00\x00\x46";

/// Whether a file of this name runs when it is opened. Windows drops trailing dots and spaces.
pub fn is_program_name(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    extension(name).is_some_and(|extension| is_listed(&extension))
}

fn extension(name: &str) -> Option<String> {
    let name = name.trim_end_matches(|c: char| c == '.' || c.is_whitespace());
    let (_, extension) = name.rsplit_once('.')?;
    Some(extension.to_ascii_lowercase())
}

fn is_listed(extension: &str) -> bool {
    EXTENSIONS.iter().any(|group| group.split_ascii_whitespace().any(|known| known == extension))
}

/// Collects the bytes needed to recognize a program while a file is streamed.
#[derive(Debug, Default)]
pub struct Sniffer {
    head: Vec<u8>,
    iso: [u8; 5],
    /// The class of a compound file's root entry.
    class: [u8; 16],
}

impl Sniffer {
    /// Takes the bytes at `offset`.
    pub fn take(&mut self, offset: u64, bytes: &[u8]) {
        if self.head.len() < HEAD_BYTES && offset == self.head.len() as u64 {
            let room = HEAD_BYTES - self.head.len();
            self.head.extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
        copy(offset, bytes, ISO_AT, &mut self.iso);
        if let Some(at) = class_at(&self.head) {
            copy(offset, bytes, at, &mut self.class);
        }
    }

    /// Whether the file is a program by its name or by its bytes.
    pub fn is_program(&self, path: &str) -> bool {
        is_program_name(path) || self.is_disk_image() || self.is_installer() || is_program_head(&self.head)
    }

    /// Whether the file is an ISO 9660 volume.
    pub fn is_disk_image(&self) -> bool {
        self.iso == ISO
    }

    fn is_installer(&self) -> bool {
        INSTALLERS.contains(&self.class[0]) && self.class[1..] == INSTALLER
    }
}

/// Copies the bytes at `offset` that overlap the window at `from`.
fn copy(offset: u64, bytes: &[u8], from: u64, window: &mut [u8]) {
    let end = offset + bytes.len() as u64;
    if offset >= from + window.len() as u64 || end <= from {
        return;
    }
    for (place, at) in window.iter_mut().zip(from..) {
        let index = at.checked_sub(offset).and_then(|index| usize::try_from(index).ok());
        if let Some(byte) = index.and_then(|index| bytes.get(index)) {
            *place = *byte;
        }
    }
}

/// Where a compound file states the class of its root entry. It lies after the header, so the header has been read by then.
fn class_at(head: &[u8]) -> Option<u64> {
    if !head.starts_with(COMPOUND) {
        return None;
    }
    // Sectors have 512 or 4,096 bytes; the header occupies the first.
    let shift = *head.get(SECTOR_SHIFT_AT)?;
    let sector =
        head.get(DIRECTORY_AT..DIRECTORY_AT + 4).and_then(|bytes| <[u8; 4]>::try_from(bytes).ok())?;
    matches!(shift, 9 | 12).then(|| ((u64::from(u32::from_le_bytes(sector)) + 1) << shift) + CLASS_AT)
}

/// Whether a file with these first bytes is a program, under any name.
pub fn is_program_head(head: &[u8]) -> bool {
    is_program_magic(head) || is_windows_program(head)
}

/// Whether a file starts with a magic number that alone identifies a program.
pub fn is_program_magic(head: &[u8]) -> bool {
    MAGIC.iter().any(|magic| head.starts_with(magic))
}

/// `MZ` and, at the offset its header states, the signature of a newer format. Without one it is a DOS program, unless it is
/// text.
fn is_windows_program(head: &[u8]) -> bool {
    if !head.starts_with(b"MZ") && !head.starts_with(b"ZM") {
        return false;
    }
    let Some(place) = signature_at(head) else { return !is_text(head) };
    let signature = place.checked_add(2).and_then(|end| head.get(place..end));
    match signature {
        Some(b"PE" | b"NE" | b"LE" | b"LX") => true,
        Some(_) | None => !is_text(head),
    }
}

/// Whether bytes decoded from a text begin a Windows program. Two bytes are too few there: a page may hold thousands of words
/// and hashes, and some decode to `MZ`. The whole header must be present, with the signature at the offset it states, or a
/// plausible offset if the bytes end before it.
pub fn is_windows_header(head: &[u8]) -> bool {
    let Some(place) = signature_at(head).filter(|_| head.starts_with(b"MZ")) else { return false };
    match place.checked_add(4).and_then(|end| head.get(place..end)) {
        Some(signature) => signature == b"PE\0\0",
        None => (0x40..0x1000).contains(&place),
    }
}

/// Where the header of a Windows program says its signature is.
fn signature_at(head: &[u8]) -> Option<usize> {
    let place = head.get(0x3c..0x40).and_then(|bytes| <[u8; 4]>::try_from(bytes).ok())?;
    Some(usize::try_from(u32::from_le_bytes(place)).unwrap_or(usize::MAX))
}

fn is_text(head: &[u8]) -> bool {
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return false,
    };
    !text.chars().any(|c| c.is_control() && !c.is_ascii_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first bytes of a Windows program.
    fn windows(signature: &[u8]) -> Vec<u8> {
        let mut bytes = b"MZ\x90\x00\x03\x00\x00\x00\x04\x00\x00\x00\xff\xff\x00\x00".to_vec();
        bytes.resize(0x3c, 0);
        bytes.extend(0x80_u32.to_le_bytes());
        bytes.resize(0x80, 0);
        bytes.extend(signature);
        bytes.resize(0x400, 0);
        bytes
    }

    /// A compound file whose directory begins in this sector, with this class byte.
    fn compound(shift: u8, sector: u32, class: u8) -> Vec<u8> {
        let mut bytes = COMPOUND.to_vec();
        bytes.resize(1 << shift, 0);
        bytes[SECTOR_SHIFT_AT] = shift;
        bytes[DIRECTORY_AT..DIRECTORY_AT + 4].copy_from_slice(&sector.to_le_bytes());
        let root = (sector as usize + 1) << shift;
        bytes.resize(root + 0x50, 0);
        bytes.push(class);
        bytes.extend(INSTALLER);
        bytes.resize(root + 512, 0);
        bytes
    }

    fn sniffed(path: &str, bytes: &[u8], chunk: usize) -> bool {
        let mut sniffer = Sniffer::default();
        for (index, part) in bytes.chunks(chunk).enumerate() {
            sniffer.take((index * chunk) as u64, part);
        }
        sniffer.is_program(path)
    }

    #[test]
    fn programs_are_known_by_their_names_in_any_case() {
        for name in [
            "setup.exe",
            "a/b/Setup.EXE",
            "x.hta",
            "x.scr",
            "x.lnk",
            "x.iso",
            "x.msi",
            "x.bat",
            "x.cmd",
            "x.ps1",
            "x.vbs",
            "x.jar",
            "x.apk",
            "x.dmg",
            "x.pkg",
            "x.deb",
            "x.appx",
            "x.cab",
            "x.img",
            "x.vhd",
            "x.one",
            "x.chm",
            "x.cpl",
            "x.dll",
            "x.com",
            "x.pif",
            "x.wsf",
            "x.reg",
            "x.url",
            "x.desktop",
            "invoice.pdf.exe",
            "x.exe.",
            "x.exe ",
            "x.library-ms",
        ] {
            assert!(is_program_name(name), "{name}");
        }
        for name in [
            "index.html",
            "app.js",
            "a.mjs",
            "a.wasm",
            "data.csv",
            "a.zip",
            "exe",
            ".exe/readme",
            "notes.exe.txt",
            "a.sh",
            "a.py",
            "a.doc",
            "a.docx",
            "font.woff2",
            "setup.exe.html",
            "a.json",
            "LICENSE",
            "a.ts",
        ] {
            assert!(!is_program_name(name), "{name}");
        }
    }

    #[test]
    fn programs_are_known_by_their_bytes_under_any_name() {
        let mut iso = vec![0; 0x9000];
        iso[0x8001..0x8006].copy_from_slice(b"CD001");
        let mut files: Vec<Vec<u8>> = MAGIC.iter().map(|magic| [*magic, &[0; 64]].concat()).collect();
        files.extend([
            windows(b"PE\0\0"),
            windows(b"NE"),
            windows(b"??"),
            iso,
            compound(9, 1, 0x84),
            compound(9, 90, 0x86),
            compound(12, 7, 0x82),
        ]);
        files.push(b"MZ\x00\x01".to_vec());
        for file in files {
            for chunk in [1, 7, 4096, 65_536] {
                assert!(sniffed("picture.png", &file, chunk), "{:?}", &file[..8.min(file.len())]);
            }
        }
    }

    #[test]
    fn honest_files_are_no_programs() {
        let noise: Vec<u8> =
            (0..50_000_u32).map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()[1]).collect();
        for (path, bytes) in [
            ("index.html", &b"<!doctype html><p>MZ"[..]),
            ("notes.txt", b"MZ is how programs of Windows begin, and this is a text about it that is longer than a header."),
            ("short.txt", b"MZ"),
            ("a.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
            ("a.wasm", b"\0asm\x01\0\0\0"),
            ("a.zip", b"PK\x03\x04"),
            ("old.doc", &[COMPOUND, &[0; 600]].concat()),
            // Encrypted documents in current formats are compound files too; so are drawings and files without an extension.
            ("budget.xlsx", &compound(9, 1, 0)),
            ("plan.docx", &compound(12, 3, 0x20)),
            ("part.sldprt", &compound(9, 40, 0)),
            ("data", COMPOUND),
            ("empty", b""),
            ("noise.bin", &noise),
        ] {
            assert!(!sniffed(path, bytes, 4096), "{path}");
        }
    }
    #[test]
    fn in_texts_the_whole_header_counts() {
        let program = windows(b"PE\0\0");
        assert!(is_windows_header(&program) && is_windows_header(&program[..64]));
        assert!(!is_windows_header(&program[..63]) && !is_windows_header(&windows(b"??")));
        let mut far = program[..0x100].to_vec();
        far[0x3c..0x40].copy_from_slice(&0x800_u32.to_le_bytes());
        assert!(is_windows_header(&far), "the signature lies behind what was decoded");
        far[0x3c..0x40].copy_from_slice(&0x6f72_u32.to_le_bytes());
        assert!(!is_windows_header(&far));
    }
}
