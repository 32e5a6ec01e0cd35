//! Parses the few PDF values that lead to a title: dictionaries, references and strings. Everything else is skipped. Bounded
//! by its input and by a maximum depth; never panics.

/// The maximum nesting of dictionaries and arrays.
const MOST_DEPTH: usize = 32;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reference {
    pub(super) number: u32,
    pub(super) generation: u16,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Dictionary(Vec<(Vec<u8>, Self)>),
    Text(Vec<u8>),
    Reference(Reference),
    /// Names, numbers, arrays and so on.
    Other,
}

impl Value {
    /// The value of a key, if this is a dictionary that has it.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Dictionary(entries) => {
                entries.iter().find(|(name, _)| name == key.as_bytes()).map(|(_, value)| value)
            }
            _ => None,
        }
    }
}

/// The value at the start of the bytes.
pub(super) fn parse(bytes: &[u8]) -> Option<Value> {
    Reader { bytes, at: 0 }.value(0)
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

const fn is_space(b: u8) -> bool {
    matches!(b, 0 | b'\t' | b'\n' | 0x0c | b'\r' | b' ')
}

const fn is_delimiter(b: u8) -> bool {
    matches!(b, b'(' | b')' | b'<' | b'>' | b'[' | b']' | b'{' | b'}' | b'/' | b'%')
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn takes(&mut self, text: &[u8]) -> bool {
        let found = self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(text));
        if found {
            self.at += text.len();
        }
        found
    }

    fn skip_space(&mut self) {
        while let Some(byte) = self.peek() {
            if byte == b'%' {
                while self.peek().is_some_and(|b| b != b'\n' && b != b'\r') {
                    self.at += 1;
                }
            } else if is_space(byte) {
                self.at += 1;
            } else {
                break;
            }
        }
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        if depth > MOST_DEPTH {
            return None;
        }
        self.skip_space();
        if self.takes(b"<<") {
            return self.dictionary(depth);
        }
        match self.peek()? {
            b'(' => {
                self.at += 1;
                self.literal().map(Value::Text)
            }
            b'<' => {
                self.at += 1;
                self.hex().map(Value::Text)
            }
            b'[' => {
                self.at += 1;
                loop {
                    self.skip_space();
                    if self.takes(b"]") {
                        return Some(Value::Other);
                    }
                    self.value(depth + 1)?;
                }
            }
            b'/' => {
                self.at += 1;
                self.word();
                Some(Value::Other)
            }
            b'0'..=b'9' => Some(self.reference().map_or(Value::Other, Value::Reference)),
            byte if is_delimiter(byte) => None,
            _ => {
                self.word();
                Some(Value::Other)
            }
        }
    }

    fn dictionary(&mut self, depth: usize) -> Option<Value> {
        let mut entries = Vec::new();
        loop {
            self.skip_space();
            if self.takes(b">>") {
                return Some(Value::Dictionary(entries));
            }
            if self.next()? != b'/' {
                return None;
            }
            let name = unescaped(self.word());
            entries.push((name, self.value(depth + 1)?));
        }
    }

    /// Reads up to the next space or delimiter.
    fn word(&mut self) -> &'a [u8] {
        let start = self.at;
        while self.peek().is_some_and(|b| !is_space(b) && !is_delimiter(b)) {
            self.at += 1;
        }
        self.bytes.get(start..self.at).unwrap_or_default()
    }

    /// `N G R`; if there is no reference, only the first number is skipped.
    fn reference(&mut self) -> Option<Reference> {
        let number = decimal(self.word());
        let after = self.at;
        self.skip_space();
        let generation = decimal(self.word());
        self.skip_space();
        if let (Some(number), Some(generation), b"R") = (number, generation, self.word()) {
            return Some(Reference { number, generation: u16::try_from(generation).ok()? });
        }
        self.at = after;
        None
    }

    /// `(…)`, without the opening parenthesis.
    fn literal(&mut self) -> Option<Vec<u8>> {
        let (mut text, mut open) = (Vec::new(), 1_usize);
        loop {
            match self.next()? {
                b'(' => {
                    open += 1;
                    text.push(b'(');
                }
                b')' => {
                    open -= 1;
                    if open == 0 {
                        return Some(text);
                    }
                    text.push(b')');
                }
                b'\\' => text.extend(self.escaped()?),
                // Every line ending counts as one line feed.
                b'\r' => {
                    self.takes(b"\n");
                    text.push(b'\n');
                }
                byte => text.push(byte),
            }
        }
    }

    /// The character after a backslash. The outer `None` means the end of the bytes, the inner one that there is nothing to
    /// add.
    #[expect(clippy::option_option, reason = "nothing to add is not the end")]
    fn escaped(&mut self) -> Option<Option<u8>> {
        Some(Some(match self.next()? {
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'b' => 0x08,
            b'f' => 0x0c,
            b'\n' => return Some(None),
            b'\r' => {
                self.takes(b"\n");
                return Some(None);
            }
            first @ b'0'..=b'7' => {
                let mut code = u32::from(first - b'0');
                for _ in 0..2 {
                    let Some(digit @ b'0'..=b'7') = self.peek() else { break };
                    self.at += 1;
                    code = code * 8 + u32::from(digit - b'0');
                }
                code.to_le_bytes()[0]
            }
            byte => byte,
        }))
    }

    /// `<…>`, without the opening bracket.
    fn hex(&mut self) -> Option<Vec<u8>> {
        let mut digits = Vec::new();
        loop {
            match self.next()? {
                b'>' => break,
                byte if is_space(byte) => {}
                byte => digits.push(nibble(byte)?),
            }
        }
        let pairs = digits.chunks(2).map(|pair| (pair[0] << 4) | pair.get(1).copied().unwrap_or_default());
        Some(pairs.collect())
    }
}

fn nibble(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

fn decimal(word: &[u8]) -> Option<u32> {
    std::str::from_utf8(word).ok().filter(|word| word.bytes().all(|b| b.is_ascii_digit()))?.parse().ok()
}

/// A name with its `#xx` escapes decoded.
fn unescaped(name: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some((&first, after)) = rest.split_first() {
        let code = match after {
            [high, low, ..] if first == b'#' => nibble(*high).zip(nibble(*low)),
            _ => None,
        };
        if let Some((high, low)) = code {
            out.push((high << 4) | low);
            rest = &after[2..];
        } else {
            out.push(first);
            rest = after;
        }
    }
    out
}
