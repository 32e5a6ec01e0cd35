//! Counts the body bytes that a connection sends, so that a client that answers pings but reads no content is not mistaken
//! for a slow reader. On HTTP/2 only the payload of DATA frames counts, on HTTP/1.1 everything.

use crate::frames::{DATA, Frames};

#[derive(Debug, Default)]
pub(crate) struct BodyCounter {
    protocol: Protocol,
    frames: Frames,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Protocol {
    #[default]
    Unknown,
    Http1,
    Http2,
}

impl BodyCounter {
    /// How many of these sent bytes belong to bodies.
    pub(crate) fn count(&mut self, mut bytes: &[u8]) -> usize {
        let Some(first) = bytes.first() else { return 0 };
        if self.protocol == Protocol::Unknown {
            // HTTP/1.1 responses start with `HTTP`; HTTP/2 starts with the length of a SETTINGS frame, whose first byte is
            // zero.
            self.protocol = if *first == b'H' { Protocol::Http1 } else { Protocol::Http2 };
        }
        if self.protocol == Protocol::Http1 {
            return bytes.len();
        }
        let mut counted = 0;
        while let Some(part) = self.frames.next(&mut bytes) {
            if part.kind == DATA {
                counted += part.bytes;
            }
        }
        counted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frames::frame;

    #[test]
    fn only_data_frames_count() {
        let mut counter = BodyCounter::default();
        let sent = [frame(4, 0, 6), frame(DATA, 0, 70_000), frame(1, 4, 90), frame(DATA, 0, 5)].concat();
        assert_eq!(sent.chunks(1000).map(|part| counter.count(part)).sum::<usize>(), 70_005);
        assert_eq!((0..1000).map(|_| counter.count(&frame(6, 1, 8))).sum::<usize>(), 0, "nor do pings");
    }

    #[test]
    fn all_of_http1_counts() {
        let mut counter = BodyCounter::default();
        assert_eq!(counter.count(b""), 0);
        assert_eq!(counter.count(b"HTTP/1.1 200 OK\r\n\r\n"), 19);
        assert_eq!(counter.count(&[0, 0, 6, 0]), 4);
    }
}
