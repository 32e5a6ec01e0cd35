//! Counts the body bytes in what a connection sends, so that a client that answers pings but takes no content is not
//! mistaken for a slow reader. On HTTP/2 only the payload of DATA frames counts, on HTTP/1.1 everything.

const HEADER_BYTES: usize = 9;
const DATA: u8 = 0;

#[derive(Debug, Default)]
pub(crate) struct BodyCounter {
    protocol: Protocol,
    /// The header of the frame that is being sent.
    header: [u8; HEADER_BYTES],
    filled: usize,
    /// What is left of its payload.
    payload: usize,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Protocol {
    #[default]
    Unknown,
    Http1,
    Http2,
}

impl BodyCounter {
    /// How many of the next bytes that went out belong to bodies.
    pub(crate) fn count(&mut self, bytes: &[u8]) -> usize {
        let Some(first) = bytes.first() else { return 0 };
        if self.protocol == Protocol::Unknown {
            // HTTP/1.1 begins with its name; HTTP/2 with the length of a SETTINGS frame, whose first byte is zero.
            self.protocol = if *first == b'H' { Protocol::Http1 } else { Protocol::Http2 };
        }
        if self.protocol == Protocol::Http1 { bytes.len() } else { self.count_frames(bytes) }
    }

    fn count_frames(&mut self, mut bytes: &[u8]) -> usize {
        let mut counted = 0;
        while !bytes.is_empty() {
            if self.payload > 0 {
                let part = self.payload.min(bytes.len());
                self.payload -= part;
                if self.header[3] == DATA {
                    counted += part;
                }
                bytes = &bytes[part..];
                continue;
            }
            let part = (HEADER_BYTES - self.filled).min(bytes.len());
            self.header[self.filled..self.filled + part].copy_from_slice(&bytes[..part]);
            self.filled += part;
            bytes = &bytes[part..];
            if self.filled == HEADER_BYTES {
                self.filled = 0;
                self.payload = usize::from(self.header[0]) << 16
                    | usize::from(self.header[1]) << 8
                    | usize::from(self.header[2]);
            }
        }
        counted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, payload: usize) -> Vec<u8> {
        let length = u32::try_from(payload).unwrap().to_be_bytes();
        let mut frame = vec![length[1], length[2], length[3], kind, 0, 0, 0, 0, 1];
        frame.resize(HEADER_BYTES + payload, 7);
        frame
    }

    #[test]
    fn only_data_frames_count_however_they_are_cut() {
        let (settings, data, ping, empty) = (frame(4, 6), frame(0, 70_000), frame(6, 8), frame(0, 0));
        let sent = [settings, data, ping, empty, frame(0, 5)].concat();
        for step in [1, 2, 8, 9, 10, 16_384, sent.len()] {
            let mut counter = BodyCounter::default();
            let counted: usize = sent.chunks(step).map(|part| counter.count(part)).sum();
            assert_eq!(counted, 70_005, "in pieces of {step}");
        }
    }

    #[test]
    fn pings_alone_never_count() {
        let mut counter = BodyCounter::default();
        assert_eq!(counter.count(&frame(4, 0)), 0);
        assert_eq!((0..1000).map(|_| counter.count(&frame(6, 8))).sum::<usize>(), 0);
    }

    #[test]
    fn all_of_http1_counts() {
        let mut counter = BodyCounter::default();
        assert_eq!(counter.count(b""), 0);
        assert_eq!(counter.count(b"HTTP/1.1 200 OK\r\n\r\n"), 19);
        assert_eq!(counter.count(&[0, 0, 6, 0]), 4);
    }
}
