//! Merges the facts of a script into the page that loads it. A script is read once, however many pages load it, and
//! what it adds is budgeted: two thousand pages with one large script must not cost as much as two thousand large pages.

use crate::phishing::facts::{Field, MOST_TEXT, PageFacts};

/// How many items of a script a page always gets, however much other pages got.
const AT_LEAST: usize = 4;
/// The size of a field or a URL in addition to its text.
const ITEM_BYTES: usize = 256;
const MOST_ITEMS: usize = 2000;
impl PageFacts {
    /// How many bytes are copied when these facts are merged.
    fn bulk(&self) -> usize {
        let items = self.fields.len()
            + self.forms.len()
            + self.labels.len()
            + self.external_references.len()
            + self.destinations.len();
        let places = self.zones.len() + self.origins.len();
        self.text.len() + items * ITEM_BYTES + places * size_of::<(usize, usize)>()
    }

    /// Adds the facts of a script that the page loads. Its offsets are shifted by `from`, see [`PageFacts::parts`].
    /// `room` is how many bytes may still be copied for this upload; beyond it, a page gets what matters most: calls,
    /// URLs and the first fields, without texts.
    pub(crate) fn merge(&mut self, script: &Self, from: usize, room: &mut usize) {
        let bulk = script.bulk();
        let whole = bulk <= AT_LEAST * ITEM_BYTES || bulk <= *room;
        *room = room.saturating_sub(bulk);
        let most = if whole { usize::MAX } else { AT_LEAST };
        let place = |found: Option<usize>| found.map(|at| from + at);
        self.has_script = true;
        self.has_field_in_quote |= script.has_field_in_quote;
        self.hidden_field = self.hidden_field.or(place(script.hidden_field));
        self.phone = self.phone.or(place(script.phone));
        if let (None, Some((at, host))) = (&self.blocked, &script.blocked) {
            self.blocked = Some((from + at, host.clone()));
        }
        if let (None, Some((carried, at))) = (self.embedded_file, script.embedded_file) {
            self.embedded_file = Some((carried, from + at));
        }
        if let (None, Some((name, at))) = (&self.download, &script.download) {
            self.download = Some((name.clone(), from + at));
        }
        self.has_file_link |= script.has_file_link;
        self.buttons += script.buttons;
        for (target, at) in &script.redirects {
            self.add_redirect(target.clone(), from + at);
        }
        for (target, at) in &script.scripted_redirects {
            self.add_scripted_redirect(target.clone(), from + at);
        }
        self.pictures += script.pictures;
        self.placeholder_letters += script.placeholder_letters;
        self.links += script.links;
        self.dead_links += script.dead_links;
        self.quoted_bytes += script.quoted_bytes;
        for (mark, at) in &script.marks {
            self.mark(*mark, from + at);
        }
        for (mark, word) in &script.mark_words {
            self.mark_words.entry(*mark).or_insert_with(|| word.clone());
        }
        for (target, at) in script.destinations.iter().take(most) {
            self.add_destination(target.clone(), from + at);
        }
        for used in script.external_references.iter().take(most) {
            let mut used = used.clone();
            used.at += from;
            self.add_reference(used);
        }
        let texts =
            if whole && self.text.len() < MOST_TEXT { self.add_texts(script, from) } else { self.text.len() };
        let first_form = self.forms.len();
        let forms = script.forms.iter().take(most.min(MOST_ITEMS.saturating_sub(first_form)));
        self.forms.extend(forms.cloned().map(|mut form| {
            form.at += from;
            form
        }));
        let labels = script.labels.iter().take(most.min(MOST_ITEMS.saturating_sub(self.labels.len())));
        self.labels.extend(labels.cloned());
        let fields = script.fields.iter().take(most.min(MOST_ITEMS.saturating_sub(self.fields.len())));
        self.fields.extend(fields.map(|field| Field {
            at: from + field.at,
            text_at: texts + field.text_at,
            form: field.form.map(|form| first_form + form),
            ..field.clone()
        }));
        self.work += if whole { bulk } else { AT_LEAST * ITEM_BYTES };
    }

    fn add_texts(&mut self, script: &Self, from: usize) -> usize {
        self.hidden_bytes += script.hidden_bytes;
        let texts = self.text.append(&script.text);
        self.origins.extend(script.origins.iter().map(|(since, at)| (texts + since, from + at)));
        self.zones.extend(script.zones.iter().map(|(since, zones)| (texts + since, *zones)));
        self.set_zone(0);
        texts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phishing::reader::script;
    use crate::phishing::rules::Rules;

    fn facts_of(code: &str) -> PageFacts {
        let mut facts = PageFacts::default();
        script::read(code, 0, 0, &mut facts, &Rules::builtin());
        facts
    }

    #[test]
    fn what_a_script_builds_belongs_to_the_page() {
        let script = facts_of("a.innerHTML='<form action=x.php><p>Your code</p><input name=code></form>'");
        let mut page = PageFacts::default();
        page.add_text("Welcome", 3);
        page.merge(&script, 40, &mut usize::MAX.clone());
        assert_eq!(page.text.bytes, b"welcome\nyour code\n");
        assert_eq!((page.fields.len(), page.fields[0].at, page.fields[0].form), (1, 40 + 12, Some(0)));
        assert_eq!(page.origin(10), 40 + 12);
    }

    #[test]
    fn without_room_only_the_beginning_is_copied() {
        let script =
            facts_of(&format!("a.innerHTML='<p>{}</p>{}'", "long ".repeat(2000), "<input>".repeat(40)));
        let mut page = PageFacts::default();
        page.merge(&script, 1, &mut 0);
        assert_eq!((page.text.len(), page.fields.len()), (0, AT_LEAST));
    }
}
