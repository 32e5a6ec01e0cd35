//! Decides whether a page claims a brand or only mentions it, by where the name occurs and by the words around it.

use crate::phishing::facts::{PageFacts, zone};
use crate::phishing::rules::Rules;
use crate::phishing::rules::meanings::{Phrase, Topic};
use crate::phishing::rules::rule::Rule;
use crate::phishing::rules::word_matcher::{WordMatch, WordMatcher};

/// How many bytes around a name are searched for a copyright notice and other context.
const CONTEXT_BYTES: usize = 60;
/// The start of the page text, where a page states its name.
const BEGINNING: usize = 320;

/// The longest text after a name in an offer to sign in with it.
const LONGEST_OFFER: usize = 32;

/// What follows the name of a service in the words of tools that use its API.
const KEYS: [&[u8]; 8] = [b"token", b"api", b"pat", b"access token", b"bot", b"key", b"secret key", b"repo"];

/// An occurrence of a brand name.
pub(crate) struct BrandOccurrence {
    pub(crate) found: WordMatch<Phrase>,
    pub(crate) ordinary: bool,
    pub(crate) zones: u16,
    pub(crate) is_payment: bool,
}

/// The beginning of the text, where a page states its name.
pub(crate) struct Beginning {
    end: usize,
    /// The end without what the page hides, which could be any amount of text.
    visible_end: usize,
}

impl Beginning {
    pub(crate) fn of(facts: &PageFacts) -> Self {
        let body = facts.first_in(zone::TITLE).len();
        Self { end: body + BEGINNING, visible_end: facts.visible_until(body, BEGINNING) }
    }

    fn contains(&self, name: &BrandOccurrence) -> bool {
        let start = name.found.start;
        start < self.end || (start < self.visible_end && !name.is_in(zone::HIDDEN))
    }
}

pub(crate) enum BrandEvidence {
    Claim(Rule),
    OtherSignIn,
    Mention,
}

impl BrandOccurrence {
    fn is_in(&self, zones: u16) -> bool {
        self.zones & zones != 0
    }

    pub(crate) fn evidence(&self, beginning: &Beginning, facts: &PageFacts, rules: &Rules) -> BrandEvidence {
        let text = &facts.text.bytes;
        let before = line_before(text, self.found.start);
        let after = line_after(text, self.found.end);
        // "Sign in with X" offers another way in; "sign in with your X account" claims to be X.
        let led = ends_with(&rules.leads, before);
        if !led && ends_with(&rules.sign_in_with, before) {
            // As a heading over the page's own fields it says what the fields are for.
            let headed = self.is_in(zone::HEADING) && !self.is_in(zone::LINK | zone::BUTTON);
            let claims = headed && !self.ordinary && !self.is_payment && after.is_empty();
            // "With X, you get …" is not an offer to sign in. Commas are spaces here.
            let begins =
                after.len() > LONGEST_OFFER && (after.starts_with(b"you") || !before.contains(&b' '));
            let offers = !begins || self.is_in(zone::LINK | zone::BUTTON);
            return match (claims, offers) {
                (true, _) => BrandEvidence::Claim(Rule::BrandHeading),
                (_, true) => BrandEvidence::OtherSignIn,
                _ => BrandEvidence::Mention,
            };
        }
        if is_under(before, after) {
            return BrandEvidence::Mention;
        }
        if !led && ends_with(&rules.unrelated_leads, before) && !self.is_in(zone::TITLE) {
            return BrandEvidence::Mention;
        }
        // Payment methods are named after their providers ("X Pay").
        if after.starts_with(b"pay ") || after == b"pay" {
            return BrandEvidence::Mention;
        }
        let alone = before.len() + after.len() <= 24;
        let claim = match () {
            () if self.is_in(zone::TITLE) => {
                (!self.ordinary || is_only_signing_in(before, after, rules)).then_some(Rule::BrandInTitle)
            }
            () if self.is_account(before, after, text, rules) => Some(Rule::BrandAccount),
            () if is_notice(before) || is_notice_after(after) => Some(Rule::BrandCopyright),
            () if self.is_payment || self.is_in(zone::LINK | zone::BUTTON) => None,
            () if self.is_in(zone::PICTURE) => (alone || !self.ordinary).then_some(Rule::BrandPicture),
            () if self.is_in(zone::HEADING) && !self.ordinary && is_only_signing_in(before, after, rules) => {
                Some(Rule::BrandAsHeading)
            }
            () if self.is_in(zone::HEADING) => (alone || !self.ordinary).then_some(Rule::BrandHeading),
            () if self.ordinary => None,
            () => beginning.contains(self).then_some(Rule::BrandText),
        };
        claim.map_or(BrandEvidence::Mention, BrandEvidence::Claim)
    }

    /// Whether the surrounding words ask for the account of this brand.
    fn is_account(&self, before: &[u8], after: &[u8], text: &[u8], rules: &Rules) -> bool {
        // "Your X token" is what a tool asks for that works with X.
        if KEYS.iter().any(|key| after.starts_with(key)) {
            return false;
        }
        let signs_in = ends_with(&rules.sign_leads, before);
        if self.is_in(zone::LINK | zone::BUTTON | zone::SCRIPT) {
            // A field label such as "X username" asks about X, not for its secrets.
            let secrets = [
                &b"password"[..],
                b"passcode",
                b"pin",
                b"account pin",
                b"account password",
                b"online id",
                b"passwort",
            ];
            return signs_in || secrets.iter().any(|secret| after.starts_with(secret));
        }
        if self.ordinary || self.is_payment {
            let tailed = begins_with(&rules.account_tails, after);
            let whole = self.is_payment && (after.is_empty() || self.is_in(zone::HEADING));
            return signs_in && (tailed || whole);
        }
        // Some spellings end in "account" themselves.
        let whole = ends_with(&rules.account_tails, &text[self.found.start..self.found.end]);
        signs_in || whole || begins_with(&rules.tails, after) || ends_with(&rules.leads, before)
    }
}

/// Whether a title or heading contains nothing but the name and a sign-in phrase.
fn is_only_signing_in(before: &[u8], after: &[u8], rules: &Rules) -> bool {
    [before, after].iter().all(|part| {
        let letters = part.iter().filter(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii()).count();
        let signs: usize = rules
            .phrases
            .find(part)
            .filter(|found| found.meaning == Phrase::Topic(Topic::SignIn))
            .map(|found| part[found.start..found.end].iter().filter(|byte| **byte != b' ').count())
            .sum();
        letters <= signs + 2
    })
}

/// The text before an offset on the same line, at most [`CONTEXT_BYTES`] bytes.
pub(crate) fn line_before(text: &[u8], at: usize) -> &[u8] {
    let from = at.saturating_sub(CONTEXT_BYTES);
    let line = &text[from..at];
    let start = memchr::memrchr(b'\n', line).map_or(0, |newline| newline + 1);
    line[start..].trim_ascii_end()
}

fn line_after(text: &[u8], at: usize) -> &[u8] {
    let line = &text[at..(at + CONTEXT_BYTES).min(text.len())];
    let end = memchr::memchr(b'\n', line).unwrap_or(line.len());
    line[..end].trim_ascii_start()
}

pub(crate) fn ends_with(words: &WordMatcher<()>, line: &[u8]) -> bool {
    let from = line.len().saturating_sub(32);
    words.find(&line[from..]).any(|found| from + found.end == line.len())
}

fn begins_with(words: &WordMatcher<()>, line: &[u8]) -> bool {
    let line = line.strip_prefix(b"'s ").unwrap_or(line);
    words.find(&line[..line.len().min(32)]).next().is_some_and(|found| found.start == 0)
}

/// Whether the name is the parent domain of a hosted site: `site.name.io`.
fn is_under(before: &[u8], after: &[u8]) -> bool {
    let own = [
        &b"www"[..],
        b"login",
        b"account",
        b"accounts",
        b"signin",
        b"secure",
        b"auth",
        b"id",
        b"my",
        b"mail",
    ];
    let Some(host) = before.strip_suffix(b".").filter(|_| after.starts_with(b".")) else { return false };
    let start = host.iter().rposition(|byte| !byte.is_ascii_alphanumeric()).map_or(0, |at| at + 1);
    start < host.len() && !own.contains(&&host[start..])
}

fn is_notice(before: &[u8]) -> bool {
    let tail = &before[before.len().saturating_sub(40)..];
    memchr::memmem::find(tail, "©".as_bytes()).is_some()
        || memchr::memmem::find(tail, b"copyright").is_some()
        || memchr::memmem::find(tail, b"(c) ").is_some()
}

fn is_notice_after(after: &[u8]) -> bool {
    let head = &after[..after.len().min(24)];
    memchr::memmem::find(head, "©".as_bytes()).is_some()
        || memchr::memmem::find(head, b"all rights").is_some()
        || memchr::memmem::find(head, b"inc.").is_some()
}
