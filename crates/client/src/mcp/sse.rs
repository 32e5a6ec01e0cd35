//! Parses server-sent events from a response body as it arrives.

use super::failure::ExchangeFailure;
use super::lines::LONGEST;
use reqwest::Response;
use std::collections::VecDeque;

/// The events of a response.
#[derive(Debug)]
pub(super) struct Events {
    response: Response,
    parser: Parser,
    ready: VecDeque<Event>,
}

impl Events {
    pub(super) fn of(response: Response) -> Self {
        Self { response, parser: Parser::default(), ready: VecDeque::new() }
    }

    /// The next event, or `None` when the stream has ended, regularly or not.
    pub(super) async fn next(&mut self) -> Result<Option<Event>, ExchangeFailure> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            let Ok(Some(piece)) = self.response.chunk().await else { return Ok(None) };
            self.ready.extend(self.parser.feed(&piece).map_err(|TooLong| ExchangeFailure::TooLong)?);
        }
    }
}

/// One event. `data` may be empty: such events carry only an id or a reconnection delay.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Event {
    pub id: Option<String>,
    pub data: Vec<u8>,
    /// The reconnection delay that the server requests, in milliseconds.
    pub retry_ms: Option<u64>,
}

/// An event exceeded the maximum message length.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong;

/// An incremental parser; holds at most one incomplete event.
#[derive(Debug, Default)]
pub(super) struct Parser {
    line: Vec<u8>,
    event: Event,
    has_data: bool,
    /// The last byte was a carriage return, so a line feed that follows directly belongs to the same line ending.
    after_return: bool,
    begun: bool,
}

impl Parser {
    /// Consumes some bytes and returns the events they complete.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Result<Vec<Event>, TooLong> {
        let mut events = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            if std::mem::take(&mut self.after_return) && rest[0] == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                self.line.extend_from_slice(rest);
                self.check()?;
                break;
            };
            self.line.extend_from_slice(&rest[..end]);
            self.check()?;
            self.after_return = rest[end] == b'\r';
            rest = &rest[end + 1..];
            events.extend(self.end_line());
        }
        Ok(events)
    }

    fn check(&self) -> Result<(), TooLong> {
        if self.line.len() + self.event.data.len() > LONGEST { Err(TooLong) } else { Ok(()) }
    }

    fn end_line(&mut self) -> Option<Event> {
        let line = std::mem::take(&mut self.line);
        let mut line = line.as_slice();
        if !std::mem::replace(&mut self.begun, true) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            self.has_data = false;
            return (event != Event::default()).then_some(event);
        }
        let (name, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let text = || std::str::from_utf8(value).ok();
        match name {
            b"data" => {
                // Data lines are joined with a space instead of a newline: equivalent in JSON, and the message stays on one line.
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push(b' ');
                }
                self.event.data.extend_from_slice(value);
            }
            b"id" if !value.contains(&0) => self.event.id = text().map(str::to_owned),
            b"retry" if value.iter().all(u8::is_ascii_digit) => {
                self.event.retry_ms = text().and_then(|text| text.parse().ok());
            }
            // Comments have no field name; other fields are ignored.
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(id: Option<&str>, data: &str, retry_ms: Option<u64>) -> Event {
        Event { id: id.map(str::to_owned), data: data.as_bytes().to_vec(), retry_ms }
    }

    #[test]
    fn events_are_the_same_however_the_bytes_arrive() {
        let text = "\u{feff}id: 0\nretry: 3000\ndata:\n\n: beat\n\nevent: message\nid: 1/2\ndata: {\"a\":1}\n\n\
                    data: {\ndata: \"b\":\"ü\"}\n\nid\ndata:x\n\n";
        let expected = [
            event(Some("0"), "", Some(3000)),
            event(Some("1/2"), "{\"a\":1}", None),
            event(None, "{ \"b\":\"ü\"}", None),
            event(Some(""), "x", None),
        ];
        for ending in ["\n", "\r\n", "\r"] {
            let bytes = text.replace('\n', ending).into_bytes();
            for size in [1, 2, 7, bytes.len()] {
                let mut parser = Parser::default();
                let events: Vec<Event> =
                    bytes.chunks(size).flat_map(|piece| parser.feed(piece).unwrap()).collect();
                assert_eq!(events, expected, "{ending:?} in pieces of {size}");
            }
        }
    }

    #[test]
    fn event_that_was_cut_off_is_none() {
        assert_eq!(Parser::default().feed(b"id: 1\ndata: {}\n").unwrap(), []);
    }

    #[test]
    fn event_without_end_is_not_held() {
        let mut parser = Parser::default();
        let piece = vec![b'x'; 1 << 20];
        assert_eq!((0..65).try_for_each(|_| parser.feed(&piece).map(|_| ())), Err(TooLong));
    }
}
