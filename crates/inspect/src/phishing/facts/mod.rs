//! The facts about one page: texts, fields, forms, URLs and what its scripts do. Collected by [`super::reader`] and
//! [`super::reader::script`]; evaluated in [`super::detectors`].

mod merge;
mod record;

use std::collections::BTreeMap;

use super::fold::Folded;
use super::rules::hosts::Target;
use super::rules::script_patterns::ScriptMark;

/// Flags that say where a text occurs. A text can have several.
pub(crate) mod zone {
    pub(crate) const TITLE: u16 = 1;
    pub(crate) const HEADING: u16 = 2;
    pub(crate) const PICTURE: u16 = 4;
    pub(crate) const LINK: u16 = 8;
    pub(crate) const BUTTON: u16 = 16;
    pub(crate) const QUOTE: u16 = 32;
    pub(crate) const SCRIPT: u16 = 64;
    /// Menus, sidebars and footers, which the pages of a site share.
    pub(crate) const NAVIGATION: u16 = 128;
    /// Markup in a script too long to be the page's own.
    pub(crate) const LIBRARY: u16 = 256;
    /// A literal of a script that is not markup and may never be shown.
    pub(crate) const LITERAL: u16 = 512;
    /// Text of elements that the page does not show.
    pub(crate) const HIDDEN: u16 = 1024;
}

/// Text beyond this many bytes is ignored: nobody reads that much before signing in.
pub(crate) const MOST_TEXT: usize = 8 << 20;
const MOST_REFERENCES: usize = 5000;
#[derive(Debug, Default)]
pub(crate) struct PageFacts {
    pub(crate) text: Folded,
    /// Offsets in `text` and the offsets in the file they come from.
    pub(crate) origins: Vec<(usize, usize)>,
    /// Offsets in `text` from which on these zones apply.
    pub(crate) zones: Vec<(usize, u16)>,
    pub(crate) fields: Vec<Field>,
    pub(crate) forms: Vec<Form>,
    /// Label texts by the id of their field.
    pub(crate) labels: Vec<(String, String)>,
    pub(crate) links: usize,
    pub(crate) dead_links: usize,
    pub(crate) external_references: Vec<ExternalReference>,
    /// File names of images without a descriptive text.
    pub(crate) files: Vec<(String, usize)>,
    pub(crate) destinations: Vec<(Target, usize)>,
    pub(crate) marks: BTreeMap<ScriptMark, usize>,
    /// How some of the marks are written in the script.
    pub(crate) mark_words: BTreeMap<ScriptMark, String>,
    /// Paths of scripts in the upload that the page loads, with the offset of the reference.
    pub(crate) local_scripts: Vec<(String, usize)>,
    /// Those of them that exist in the upload.
    pub(crate) loaded: Vec<String>,
    /// The base offset of each loaded script, in the same order: offsets continue from the page through its scripts,
    /// so that each identifies its file.
    pub(crate) parts: Vec<usize>,
    /// A trace of a page-saving tool, and the URL it names.
    pub(crate) saved_from: Option<(usize, String)>,
    /// The offset of a field that was found in encoded text.
    pub(crate) hidden_field: Option<usize>,
    pub(crate) quoted_bytes: usize,
    /// How many bytes of `text` the page does not show.
    pub(crate) hidden_bytes: usize,
    /// How many bytes of script are in the page itself.
    pub(crate) script_bytes: usize,
    /// How many bytes of encoded text were read so far.
    pub(crate) encoded_bytes: usize,
    /// How many bytes were examined, counted each time: must not grow faster than the page.
    pub(crate) work: usize,
    /// How many calls were examined for their URL.
    pub(crate) examined_calls: usize,
    /// Where the document builds markup that is not written in it.
    pub(crate) generated_markup_at: Option<usize>,
    /// The base URL of relative ones.
    pub(crate) base: Option<String>,
    /// A field is inside quoted code, so the code is not really quoted.
    pub(crate) has_field_in_quote: bool,
    pub(crate) has_script: bool,
    /// Whether the page's title, the first one, contains no letters.
    pub(crate) empty_title: Option<bool>,
    pub(crate) pictures: usize,
    /// Letters of placeholders, which are part of the text too.
    pub(crate) placeholder_letters: usize,
    pub(crate) phone: Option<usize>,
    /// Where the page redirects, by `meta` and by script.
    pub(crate) redirects: Vec<(Target, usize)>,
    pub(crate) scripted_redirects: Vec<(Target, usize)>,
    /// How many variables were looked up to find where a script redirects.
    pub(crate) variable_lookups: usize,
    pub(crate) buttons: usize,
    /// A program or archive embedded in the page's own text, and its offset.
    pub(crate) embedded_file: Option<(EmbeddedFile, usize)>,
    /// A link contains the file that it saves.
    pub(crate) has_file_link: bool,
    /// The name of an executable file that a script or link saves.
    pub(crate) download: Option<(String, usize)>,
    /// The offset and the host of a reference to a blocked host.
    pub(crate) blocked: Option<(usize, String)>,
}

/// The kind of file that a text decodes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EmbeddedFile {
    Program,
    Archive,
}

#[derive(Debug, Default, Clone)]
pub(crate) struct Field {
    pub(crate) at: usize,
    pub(crate) tag: &'static str,
    pub(crate) kind: String,
    pub(crate) id: String,
    /// In lowercase; its ID if it has no name.
    pub(crate) name: String,
    /// The name without its trailing number, if it has one.
    pub(crate) stem: Option<String>,
    /// Names, placeholders and labels, folded, one per line.
    pub(crate) hint: String,
    /// The part of the hint that a person sees, folded: placeholder, accessible label and the line before it.
    pub(crate) shown: String,
    /// The offset in the text before which its label is.
    pub(crate) text_at: usize,
    pub(crate) form: Option<usize>,
    pub(crate) one_letter: bool,
    pub(crate) disabled: bool,
    /// The field is in an element that the page does not show.
    pub(crate) concealed: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Form {
    pub(crate) target: Target,
    pub(crate) at: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReferenceKind {
    Asset,
    Link,
    Frame,
}

/// A resource of another site that the page uses or links to.
#[derive(Debug, Clone)]
pub(crate) struct ExternalReference {
    pub(crate) kind: ReferenceKind,
    pub(crate) target: Target,
    /// The URL is about accounts.
    pub(crate) account: bool,
    /// The URL is about password recovery.
    pub(crate) recovers: bool,
    pub(crate) at: usize,
}

/// The number of letters in folded text.
pub(crate) fn letters(text: &[u8]) -> usize {
    text.iter().filter(|byte| byte.is_ascii_alphabetic() || !byte.is_ascii()).count()
}

impl PageFacts {
    /// Whether the page has at most this many letters, not counting its title, its placeholders and what it hides.
    pub(crate) fn has_at_most_letters(&self, most: usize) -> bool {
        let mut uncounted = zone::TITLE | zone::LITERAL;
        if !self.hides_its_fields() {
            uncounted |= zone::HIDDEN;
        }
        let mut letter_count = 0;
        for (place, (start, zones)) in self.zones.iter().enumerate() {
            if zones & uncounted == 0 {
                let end = self.zones.get(place + 1).map_or(self.text.len(), |(end, _)| *end);
                letter_count += letters(&self.text.bytes[*start..end]);
                if letter_count > most + self.placeholder_letters {
                    return false;
                }
            }
        }
        let before = self.zones.first().map_or(self.text.len(), |(start, _)| *start);
        letter_count + letters(&self.text.bytes[..before]) <= most + self.placeholder_letters
    }

    /// Whether most fields are in hidden elements: then a script shows these, with their text.
    fn hides_its_fields(&self) -> bool {
        let typed = || self.fields.iter().filter(|field| field.kind != "hidden");
        2 * typed().filter(|field| field.concealed).count() > typed().count()
    }

    /// The length of the text that a person can see, in bytes.
    pub(crate) fn visible_len(&self) -> usize {
        self.text.len().saturating_sub(self.hidden_bytes)
    }

    pub(crate) fn zone_at(&self, at: usize) -> u16 {
        let after = self.zones.partition_point(|(since, _)| *since <= at);
        after.checked_sub(1).map_or(0, |last| self.zones[last].1)
    }

    /// The offset in the text before which this many bytes after `from` are visible.
    pub(crate) fn visible_until(&self, from: usize, mut bytes: usize) -> usize {
        let first = self.zones.partition_point(|(since, _)| *since <= from).saturating_sub(1);
        let mut at = from;
        for (place, (_, zones)) in self.zones.iter().enumerate().skip(first) {
            let end = self.zones.get(place + 1).map_or(self.text.len(), |(end, _)| *end).max(at);
            if zones & zone::HIDDEN == 0 {
                if end - at >= bytes {
                    break;
                }
                bytes -= end - at;
            }
            at = end;
        }
        at + bytes
    }

    /// The offset in the file that an offset in the text comes from.
    pub(crate) fn origin(&self, at: usize) -> usize {
        let after = self.origins.partition_point(|(since, _)| *since <= at);
        after.checked_sub(1).map_or(0, |last| self.origins[last].1)
    }

    /// The text of the first element in a zone, such as the title.
    pub(crate) fn first_in(&self, zone: u16) -> &str {
        let Some(place) = self.zones.iter().position(|(_, zones)| zones & zone != 0) else { return "" };
        let start = self.zones[place].0;
        let end = self.zones.get(place + 1).map_or(self.text.len(), |(end, _)| *end);
        std::str::from_utf8(&self.text.bytes[start..end]).unwrap_or_default().trim()
    }

    pub(crate) fn has_room_for_references(&self) -> bool {
        self.external_references.len() < MOST_REFERENCES
    }

    pub(crate) fn has(&self, mark: ScriptMark) -> bool {
        self.marks.contains_key(&mark)
    }
}
