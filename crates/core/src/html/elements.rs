//! The HTML elements that matter to the reader, looked up by names packed into integers.

use super::name_key::name_key;

/// What an element means to the reader.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    #[default]
    Other,
    Heading,
    Link,
    Button,
    Choice,
    Quote,
    Form,
    Field,
    Label,
    Image,
    Reference,
    Script,
    Frame,
    Meta,
    Picture,
    Drawing,
    Title,
    Fallback,
    Formula,
    Island,
    Navigation,
    Style,
    Area,
}

/// Does not end a word.
const INLINE: u8 = 1;
/// Ends SVG or MathML at any depth.
const BREAKS_OUT: u8 = 2;
/// Its content is not markup.
const RAW: u8 = 4;
/// A browser with scripts does not show its text.
const NEVER_SHOWN: u8 = 8;
/// Bounds a scope: no tag inside implies the end of a paragraph, list item or table cell outside.
const SCOPE: u8 = 16;
/// Shown only with the attribute `open`.
const SHOWN_IF_OPEN: u8 = 32;

/// Sorted by name.
#[rustfmt::skip]
const ELEMENTS: [(&str, Element, u8); 98] = [
    ("a", Element::Link, INLINE),
    ("abbr", Element::Other, INLINE),
    ("annotation-xml", Element::Island, 0),
    ("applet", Element::Other, SCOPE),
    ("area", Element::Area, 0),
    ("aside", Element::Navigation, 0),
    ("audio", Element::Other, NEVER_SHOWN),
    ("b", Element::Other, INLINE | BREAKS_OUT),
    ("base", Element::Reference, 0),
    ("bdi", Element::Other, INLINE),
    ("bdo", Element::Other, INLINE),
    ("big", Element::Other, INLINE | BREAKS_OUT),
    ("blockquote", Element::Other, BREAKS_OUT),
    ("body", Element::Other, BREAKS_OUT),
    ("br", Element::Other, BREAKS_OUT),
    ("button", Element::Button, SCOPE),
    ("canvas", Element::Picture, NEVER_SHOWN),
    ("caption", Element::Other, SCOPE),
    ("center", Element::Other, BREAKS_OUT),
    ("cite", Element::Other, INLINE),
    ("code", Element::Quote, INLINE | BREAKS_OUT),
    ("dd", Element::Other, BREAKS_OUT),
    ("del", Element::Other, INLINE),
    ("desc", Element::Island, 0),
    ("dialog", Element::Other, SHOWN_IF_OPEN),
    ("div", Element::Other, BREAKS_OUT),
    ("dl", Element::Other, BREAKS_OUT | SCOPE),
    ("dt", Element::Other, BREAKS_OUT),
    ("em", Element::Other, INLINE | BREAKS_OUT),
    ("embed", Element::Frame, BREAKS_OUT),
    ("font", Element::Other, INLINE),
    ("footer", Element::Navigation, 0),
    ("foreignobject", Element::Island, 0),
    ("form", Element::Form, 0),
    ("frame", Element::Frame, 0),
    ("h1", Element::Heading, BREAKS_OUT),
    ("h2", Element::Heading, BREAKS_OUT),
    ("h3", Element::Heading, BREAKS_OUT),
    ("h4", Element::Other, BREAKS_OUT),
    ("h5", Element::Other, BREAKS_OUT),
    ("h6", Element::Other, BREAKS_OUT),
    ("head", Element::Other, BREAKS_OUT),
    ("hr", Element::Other, BREAKS_OUT),
    ("i", Element::Other, INLINE | BREAKS_OUT),
    ("iframe", Element::Frame, RAW),
    ("image", Element::Image, 0),
    ("img", Element::Image, BREAKS_OUT),
    ("input", Element::Field, 0),
    ("ins", Element::Other, INLINE),
    ("kbd", Element::Other, INLINE),
    ("label", Element::Label, 0),
    ("legend", Element::Heading, 0),
    ("li", Element::Other, BREAKS_OUT),
    ("link", Element::Reference, 0),
    ("listing", Element::Other, BREAKS_OUT),
    ("mark", Element::Other, INLINE),
    ("marquee", Element::Other, SCOPE),
    ("math", Element::Formula, SCOPE),
    ("menu", Element::Other, BREAKS_OUT | SCOPE),
    ("meta", Element::Meta, BREAKS_OUT),
    ("nav", Element::Navigation, 0),
    ("nobr", Element::Other, INLINE | BREAKS_OUT),
    ("noembed", Element::Fallback, RAW),
    ("noframes", Element::Fallback, RAW),
    ("noscript", Element::Other, NEVER_SHOWN),
    ("object", Element::Frame, SCOPE),
    ("ol", Element::Other, BREAKS_OUT | SCOPE),
    ("option", Element::Choice, 0),
    ("p", Element::Other, BREAKS_OUT),
    ("plaintext", Element::Other, RAW),
    ("pre", Element::Quote, BREAKS_OUT),
    ("q", Element::Other, INLINE),
    ("ruby", Element::Other, BREAKS_OUT),
    ("s", Element::Other, INLINE | BREAKS_OUT),
    ("samp", Element::Quote, INLINE),
    ("script", Element::Script, RAW),
    ("select", Element::Field, SCOPE),
    ("small", Element::Other, INLINE | BREAKS_OUT),
    ("span", Element::Other, INLINE | BREAKS_OUT),
    ("strike", Element::Other, BREAKS_OUT),
    ("strong", Element::Other, INLINE | BREAKS_OUT),
    ("style", Element::Style, RAW),
    ("sub", Element::Other, INLINE | BREAKS_OUT),
    ("sup", Element::Other, INLINE | BREAKS_OUT),
    ("svg", Element::Drawing, SCOPE),
    ("table", Element::Other, BREAKS_OUT | SCOPE),
    ("td", Element::Other, SCOPE),
    ("template", Element::Other, NEVER_SHOWN | SCOPE),
    ("textarea", Element::Field, RAW),
    ("th", Element::Other, SCOPE),
    ("title", Element::Title, RAW),
    ("tt", Element::Other, INLINE | BREAKS_OUT),
    ("u", Element::Other, INLINE | BREAKS_OUT),
    ("ul", Element::Other, BREAKS_OUT | SCOPE),
    ("var", Element::Other, INLINE | BREAKS_OUT),
    ("video", Element::Other, NEVER_SHOWN),
    ("wbr", Element::Other, INLINE),
    ("xmp", Element::Other, RAW),
];

const KEYS: [u128; ELEMENTS.len()] = {
    let mut keys = [0; ELEMENTS.len()];
    let mut at = 0;
    while at < keys.len() {
        keys[at] = name_key(ELEMENTS[at].0.as_bytes(), true);
        at += 1;
    }
    keys
};

/// A hash table of the elements by name with linear probing, so that most lookups take one probe.
const PLACES: [u8; 512] = {
    let mut places = [NOBODY; 512];
    let mut element: u8 = 0;
    while (element as usize) < ELEMENTS.len() {
        let mut place = place_of(KEYS[element as usize]);
        while places[place] != NOBODY {
            place = (place + 1) % places.len();
        }
        places[place] = element;
        element += 1;
    }
    places
};
const NOBODY: u8 = u8::MAX;

#[expect(clippy::cast_possible_truncation, reason = "both halves are wanted, and then nine bits")]
const fn place_of(key: u128) -> usize {
    let both = (key >> 64) as u64 ^ key as u64;
    (both.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 55) as usize
}

/// The name of a tag.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Name {
    key: u128,
    pub element: Element,
    traits: u8,
}

impl Name {
    #[inline]
    pub fn new(name: &str) -> Self {
        let key = name_key(name.as_bytes(), true);
        let mut place = place_of(key);
        loop {
            match ELEMENTS.get(usize::from(PLACES[place])) {
                None => return Self { key, element: Element::Other, traits: 0 },
                Some((_, element, traits)) if KEYS[usize::from(PLACES[place])] == key => {
                    return Self { key, element: *element, traits: *traits };
                }
                Some(_) => place = (place + 1) % PLACES.len(),
            }
        }
    }

    #[inline]
    pub fn is_inline(self) -> bool {
        self.traits & INLINE != 0
    }

    #[inline]
    pub fn breaks_out(self) -> bool {
        self.traits & BREAKS_OUT != 0
    }

    #[inline]
    pub fn has_raw_text(self) -> bool {
        self.traits & RAW != 0
    }

    #[inline]
    pub fn is_never_shown(self) -> bool {
        self.traits & NEVER_SHOWN != 0
    }

    #[inline]
    pub fn is_scope(self) -> bool {
        self.traits & SCOPE != 0
    }

    #[inline]
    pub fn is_shown_if_open(self) -> bool {
        self.traits & SHOWN_IF_OPEN != 0
    }

    #[inline]
    pub fn is(self, name: &str) -> bool {
        self.key == name_key(name.as_bytes(), true)
    }

    pub fn text(self) -> String {
        self.key.to_be_bytes().into_iter().filter(|byte| *byte != 0).map(char::from).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_in_order_and_found() {
        assert!(KEYS.is_sorted_by(|a, b| a < b));
        for (name, element, _) in ELEMENTS {
            assert_eq!(Name::new(name).element, element);
            assert_eq!(Name::new(&name.to_ascii_uppercase()).text(), name);
        }
        assert!(
            Name::new("SPAN").is_inline()
                && Name::new("div").breaks_out()
                && Name::new("style").has_raw_text()
        );
        for other in ["x-a", "", "1", "{", "\u{e4}", "zz", "ab"] {
            assert_eq!(Name::new(other).element, Element::Other, "{other}");
        }
    }
}
