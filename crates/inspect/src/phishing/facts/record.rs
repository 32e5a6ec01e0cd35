//! Records what the reader finds on a page, within limits.

use dropleaf_core::program::is_program_name;

use super::{EmbeddedFile, ExternalReference, MOST_TEXT, PageFacts};
use crate::phishing::rules::hosts::{HostKind, Target};
use crate::phishing::rules::script_patterns::ScriptMark;

const MOST_FILES: usize = 500;
const MOST_DESTINATIONS: usize = 500;
const MOST_REDIRECTS: usize = 20;
/// More than any page loads; each is looked up among the files of the upload.
const MOST_LOCAL_SCRIPTS: usize = 1 << 14;

impl PageFacts {
    pub(crate) fn add_text(&mut self, text: &str, at: usize) {
        self.work += text.len();
        if self.text.len() < MOST_TEXT {
            self.origins.push((self.text.len(), at));
            self.text.add(text);
        }
    }

    /// Adds a short text on a separate line, such as an image's alternative text.
    pub(crate) fn add_separate_text(&mut self, text: &str, at: usize, zone: u16) {
        let open = self.zones.last().map_or(0, |(_, zones)| *zones);
        self.text.break_line();
        self.set_zone(open | zone);
        self.add_text(text, at);
        self.text.break_line();
        self.set_zone(open);
    }

    pub(crate) fn set_zone(&mut self, zones: u16) {
        let at = self.text.len();
        match self.zones.last_mut() {
            Some((_, last)) if *last == zones => {}
            Some((since, last)) if *since == at => *last = zones,
            _ => self.zones.push((at, zones)),
        }
    }

    pub(crate) fn add_file(&mut self, name: String, at: usize) {
        if self.files.len() < MOST_FILES {
            self.files.push((name, at));
        }
    }

    pub(crate) fn add_reference(&mut self, used: ExternalReference) {
        self.note_blocked_host(&used.target, used.at);
        if self.has_room_for_references() {
            self.external_references.push(used);
        }
    }

    /// Records a destination, if it matters. A page cannot hide one by naming many: destinations on other hosts have
    /// additional room.
    pub(crate) fn add_destination(&mut self, target: Target, at: usize) {
        let most = match target {
            Target::ServerScript(_) | Target::Mail => MOST_DESTINATIONS,
            Target::Address(_)
            | Target::Host(_, None | Some(HostKind::Bot | HostKind::Relay | HostKind::Blocked)) => {
                2 * MOST_DESTINATIONS
            }
            Target::Nowhere | Target::Local(_) | Target::Host(..) => return,
        };
        if self.destinations.len() < most {
            self.destinations.push((target, at));
        }
    }

    /// Records the first blocked host, however many other hosts there are.
    pub(crate) fn note_blocked_host(&mut self, target: &Target, at: usize) {
        if let (Target::Host(host, Some(HostKind::Blocked)), None) = (target, &self.blocked) {
            self.blocked = Some((at, host.clone()));
        }
    }

    pub(crate) fn mark(&mut self, mark: ScriptMark, at: usize) {
        self.marks.entry(mark).or_insert(at);
    }

    /// Records a mark and how it is written, so that its publisher can find it.
    pub(crate) fn mark_as(&mut self, mark: ScriptMark, at: usize, word: &str) {
        self.mark(mark, at);
        self.mark_words.entry(mark).or_insert_with(|| word.to_owned());
    }

    pub(crate) fn add_local_script(&mut self, path: String, at: usize) {
        if self.local_scripts.len() < MOST_LOCAL_SCRIPTS {
            self.local_scripts.push((path, at));
        }
    }

    /// Records a redirect by the page itself, if it leads to another site.
    pub(crate) fn add_redirect(&mut self, target: Target, at: usize) {
        if target.host().is_some() && self.redirects.len() < MOST_REDIRECTS {
            self.redirects.push((target, at));
        }
    }

    /// Records a redirect by a script, if it leads to another site.
    pub(crate) fn add_scripted_redirect(&mut self, target: Target, at: usize) {
        if target.host().is_some() && self.scripted_redirects.len() < MOST_REDIRECTS {
            self.scripted_redirects.push((target, at));
        }
    }

    /// Records the worst embedded file and its offset.
    pub(crate) fn add_embedded_file(&mut self, carried: EmbeddedFile, at: usize) {
        let is_worse = !matches!(self.embedded_file, Some((EmbeddedFile::Program, _)))
            && carried == EmbeddedFile::Program;
        if self.embedded_file.is_none() || is_worse {
            self.embedded_file = Some((carried, at));
        }
    }

    /// Records the name under which something is saved, if it is that of an executable file.
    pub(crate) fn add_download(&mut self, name: &str, at: usize) {
        if self.download.is_none() && is_program_name(name.trim()) {
            self.download = Some((name.trim().chars().take(60).collect(), at));
        }
    }
}
