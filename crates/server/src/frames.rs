//! Finds the frames in a stream of HTTP/2 bytes, however it is split into reads and writes. Knows their type and length, not
//! their content.

const HEADER_BYTES: usize = 9;

pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const CONTINUATION: u8 = 9;
/// The flag of the last frame of a request's headers.
pub(crate) const END_HEADERS: u8 = 4;

#[derive(Debug, Default)]
pub(crate) struct Frames {
    header: [u8; HEADER_BYTES],
    filled: usize,
    payload: usize,
}

/// A part of a frame's payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    pub(crate) bytes: usize,
    /// Whether this is the last part of the frame.
    pub(crate) is_last: bool,
}

impl Frames {
    /// The next part of a payload; advances `bytes` past it. `None` when they are used up.
    pub(crate) fn next(&mut self, bytes: &mut &[u8]) -> Option<Part> {
        if self.payload == 0 {
            let part = (HEADER_BYTES - self.filled).min(bytes.len());
            self.header[self.filled..self.filled + part].copy_from_slice(&bytes[..part]);
            self.filled += part;
            *bytes = &bytes[part..];
            if self.filled < HEADER_BYTES {
                return None;
            }
            self.filled = 0;
            let [a, b, c, ..] = self.header.map(usize::from);
            self.payload = a << 16 | b << 8 | c;
            if self.payload == 0 {
                return Some(self.part(0));
            }
        }
        if bytes.is_empty() {
            return None;
        }
        let part = self.payload.min(bytes.len());
        self.payload -= part;
        *bytes = &bytes[part..];
        Some(self.part(part))
    }

    fn part(&self, bytes: usize) -> Part {
        Part { kind: self.header[3], flags: self.header[4], bytes, is_last: self.payload == 0 }
    }
}

/// A frame of this kind, for tests.
#[cfg(test)]
pub(crate) fn frame(kind: u8, flags: u8, payload: usize) -> Vec<u8> {
    let length = u32::try_from(payload).unwrap_or_default().to_be_bytes();
    let mut frame = vec![length[1], length[2], length[3], kind, flags, 0, 0, 0, 1];
    frame.resize(HEADER_BYTES + payload, 7);
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_found_however_the_stream_is_cut() {
        let sent = [frame(4, 0, 6), frame(DATA, 0, 70_000), frame(6, 1, 8), frame(DATA, 1, 0)].concat();
        for step in [1, 2, 8, 9, 10, 16_384, sent.len()] {
            let mut frames = Frames::default();
            let (mut bytes, mut ends) = ([0; 10], Vec::new());
            for mut piece in sent.chunks(step) {
                while let Some(part) = frames.next(&mut piece) {
                    bytes[usize::from(part.kind)] += part.bytes;
                    ends.extend(part.is_last.then_some((part.kind, part.flags)));
                }
            }
            assert_eq!((bytes[0], bytes[4], bytes[6]), (70_000, 6, 8), "in pieces of {step}");
            assert_eq!(ends, [(4, 0), (0, 0), (6, 1), (0, 1)], "in pieces of {step}");
        }
    }
}
