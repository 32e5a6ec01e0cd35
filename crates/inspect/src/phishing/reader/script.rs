//! Reads a script for what it sends, shows and hides. Encoded text that the script would decode is decoded and read
//! in turn, within limits of depth and size.

use super::embedded_file;
use super::encodings;
use super::literals::{LONGEST_ADDRESS, Literals, cut, literal_at};
use crate::phishing::facts::{PageFacts, zone};
use crate::phishing::reader::{self, Origin};
use crate::phishing::rules::Rules;
use crate::phishing::rules::hosts::Target;
use crate::phishing::rules::script_patterns::ScriptMark;

/// Text encoded twice is read, a third layer is not.
const DEEPEST: u8 = 2;
/// The most encoded text read per page, in bytes; the rest is ignored.
pub(crate) const MOST_ENCODED_BYTES: usize = 4 << 20;
/// Longer scripts are libraries, whose words are not the page's.
const LONGEST_OWN: usize = 256 << 10;
/// How far after a call its URL may start, and how many calls are examined.
const ADDRESS_WITHIN: usize = 48;
const MOST_ADDRESSES: usize = 20_000;
/// How much of a list of numbers is read, in bytes.
const LONGEST_NUMBERS: usize = 6144;
/// Query parameters that carry what a person typed.
const TYPED: [&str; 8] = ["pass", "pwd", "email", "login", "card", "otp", "cvv", "phrase"];

pub(crate) fn read(text: &str, at: usize, depth: u8, facts: &mut PageFacts, rules: &Rules) {
    let file = depth == 0;
    facts.work += text.len();
    let (mut unpacks, mut codes, mut shows, mut secret, mut saves) = (false, false, false, false, false);
    let mut typed = None;
    for (mark, start, end) in rules.script.find(text) {
        let place = if file { at + start } else { at };
        match mark {
            ScriptMark::Send | ScriptMark::Open => {
                facts.examined_calls += 1;
                if facts.examined_calls <= MOST_ADDRESSES
                    && let Some(address) = literal_after_call(text, end, mark)
                {
                    facts.work += LONGEST_ADDRESS;
                    let target = rules.hosts.target(&address);
                    // Libraries contain URLs for counters, mail links and lists of icons.
                    let local = matches!(target, Target::ServerScript(_) | Target::Mail);
                    let known = local && !*typed.get_or_insert_with(|| handles_form_fields(text));
                    if !known {
                        facts.add_destination(target, place);
                    }
                }
            }
            ScriptMark::Address => {
                facts.examined_calls += 1;
                if facts.examined_calls <= MOST_ADDRESSES
                    && let Some(target) = target_with_appended_value(text, start, facts, rules)
                {
                    facts.add_destination(target, place);
                }
            }
            ScriptMark::Redirect | ScriptMark::Download | ScriptMark::Bytes => {
                read_redirect_or_download(mark, text, (start, end), place, facts, rules);
            }
            ScriptMark::Blob => {
                saves = true;
                facts.mark(mark, place);
            }
            ScriptMark::Unpack => unpacks = true,
            ScriptMark::CharCodes => codes = true,
            ScriptMark::Markup => shows = true,
            // In a list of selectors, as libraries have them, it means no particular field.
            ScriptMark::SecretField if is_in_list(text, start) => {}
            ScriptMark::SecretField => {
                secret = true;
                facts.mark(mark, place);
                if depth > 0 {
                    facts.hidden_field.get_or_insert(at);
                }
            }
            // Frameworks name every event, and libraries contain dictionaries.
            ScriptMark::Lock | ScriptMark::Kit if text.len() > LONGEST_OWN => {}
            ScriptMark::Kit | ScriptMark::Lookup => facts.mark_as(mark, place, &text[start..end]),
            other => facts.mark(other, place),
        }
    }
    if depth >= DEEPEST {
        return;
    }
    let origin = Origin { encoded_at: Some(at), hidden: false, depth, library: false, xml: false };
    if codes {
        let unpacked = encodings::char_codes(text, MOST_ENCODED_BYTES);
        if !unpacked.is_empty() {
            read_decoded(&unpacked, at, origin, true, facts, rules);
        }
    }
    if !(unpacks || shows || secret || saves) {
        return;
    }
    let short = text.len() <= LONGEST_OWN;
    let own = secret && short;
    for literal in Literals::new(text, 0) {
        facts.work += literal.text.len();
        let place = if file { at + literal.at } else { at };
        if (unpacks || saves)
            && let Some(carried) = embedded_file::in_text(&literal.text)
        {
            facts.add_embedded_file(carried, place);
            continue;
        }
        if looks_like_markup(&literal.text) {
            let library = !short && !literal.escaped;
            read_embedded_page(
                &literal.text,
                place,
                Origin { library, ..origin },
                literal.escaped,
                facts,
                rules,
            );
        } else if let Some(unpacked) = unpacks.then(|| encodings::decode_literal(&literal.text)).flatten() {
            read_decoded(&unpacked, place, origin, true, facts, rules);
        } else if literal.escaped && unpacks {
            read_decoded(&literal.text, place, origin, true, facts, rules);
        } else if own && (3..200).contains(&literal.text.len()) && !is_address(&literal.text) {
            facts.add_separate_text(&literal.text, place, zone::SCRIPT | zone::LITERAL);
        }
    }
}

/// Whether an attribute stands in a list of selectors: `:text, [type=password], select`.
fn is_in_list(text: &str, start: usize) -> bool {
    let selector = text[..start].strip_suffix('[');
    selector.is_some_and(|before| before.ends_with([' ', ',']))
}

/// Handles a redirect or a download: the literal or list of numbers after it says where to or what.
fn read_redirect_or_download(
    mark: ScriptMark,
    text: &str,
    (start, end): (usize, usize),
    place: usize,
    facts: &mut PageFacts,
    rules: &Rules,
) {
    if mark == ScriptMark::Redirect && !is_assignment(text, start, end) {
        return;
    }
    facts.mark(mark, place);
    facts.examined_calls += 1;
    if facts.examined_calls > MOST_ADDRESSES {
        return;
    }
    if mark == ScriptMark::Bytes {
        facts.work += LONGEST_NUMBERS;
        if let Some(carried) = embedded_file::in_numbers(cut(text, end, LONGEST_NUMBERS)) {
            facts.add_embedded_file(carried, place);
        }
        return;
    }
    facts.work += LONGEST_ADDRESS;
    if mark == ScriptMark::Redirect {
        facts.add_assigned_redirect(text, end, place, &rules.hosts);
    } else if let Some(name) = literal_after_call(text, end, ScriptMark::Send) {
        facts.add_download(&name, place);
    }
}

/// Whether `location=` assigns to a variable of that name: neither the end of a longer name nor a comparison.
fn is_assignment(text: &str, start: usize, end: usize) -> bool {
    let before = start.checked_sub(1).map(|at| text.as_bytes()[at]);
    let goes_on =
        before.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'-'));
    !goes_on && text.as_bytes().get(end) != Some(&b'=')
}

/// Whether a literal is a URL, which nobody reads as text.
fn is_address(text: &str) -> bool {
    let text = text.trim_start();
    !text.contains(' ') && (text.contains("://") || text.starts_with("//"))
}

/// Whether a script short enough to be the page's own handles form fields.
fn handles_form_fields(text: &str) -> bool {
    let words = [
        "pass",
        "Pass",
        "PASS",
        "pwd",
        "serialize",
        "FormData",
        "login",
        "user",
        "cvv",
        "otp",
        "email",
        "card",
    ];
    text.len() <= LONGEST_OWN && words.iter().any(|word| text.contains(word))
}

/// Reads decoded text: a page, or more script.
fn read_decoded(text: &str, at: usize, origin: Origin, hidden: bool, facts: &mut PageFacts, rules: &Rules) {
    if looks_like_markup(text) {
        read_embedded_page(text, at, origin, hidden, facts, rules);
    } else if charge_encoded_bytes(text.len(), facts) {
        // A bare URL is a destination that was meant to stay hidden.
        let target = if text.starts_with("http") { rules.hosts.target(text) } else { Target::Nowhere };
        if let Target::Host(..) | Target::Address(_) = target {
            facts.add_destination(target, at);
        }
        read(text, at, origin.depth + 1, facts, rules);
    }
}

pub(crate) fn read_embedded_page(
    page: &str,
    at: usize,
    origin: Origin,
    hidden: bool,
    facts: &mut PageFacts,
    rules: &Rules,
) {
    if origin.depth >= DEEPEST || !charge_encoded_bytes(page.len(), facts) {
        return;
    }
    let hidden = hidden || origin.hidden;
    let inside = Origin { encoded_at: Some(at), hidden, depth: origin.depth + 1, xml: false, ..origin };
    reader::read(page, inside, facts, rules);
}

/// Reads a `data:text/html,…` URL as a page.
pub(crate) fn read_data_url(address: &str, at: usize, origin: Origin, facts: &mut PageFacts, rules: &Rules) {
    let Some((head, body)) = address.split_once(',') else { return };
    let head = head.to_ascii_lowercase();
    if !head.contains("html") && !head.contains("svg") && !head.contains("javascript") {
        return;
    }
    let unpacked =
        if head.contains("base64") { encodings::base64(body) } else { Some(encodings::percent(body)) };
    if let Some(unpacked) = unpacked {
        read_decoded(&unpacked, at, origin, true, facts, rules);
    }
}

/// Counts encoded text and says whether the limit still allows it.
fn charge_encoded_bytes(bytes: usize, facts: &mut PageFacts) -> bool {
    facts.encoded_bytes += bytes;
    facts.encoded_bytes <= MOST_ENCODED_BYTES
}

pub(crate) fn looks_like_markup(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() > 6
        && memchr::memchr_iter(b'<', bytes)
            .take(64)
            .any(|at| bytes.get(at + 1).is_some_and(|next| next.is_ascii_alphabetic() || *next == b'!'))
        && memchr::memchr(b'>', bytes).is_some()
}

/// The literal that follows a call: the first, or for `open(method, address)` the second.
fn literal_after_call(text: &str, from: usize, mark: ScriptMark) -> Option<String> {
    let quote = text.as_bytes()[from..]
        .iter()
        .take(ADDRESS_WITHIN)
        .position(|byte| matches!(byte, b'"' | b'\'' | b'`'))?;
    let mut end = (from + LONGEST_ADDRESS).min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut literals = Literals::new(&text[..end], from + quote);
    let first = literals.next()?.text;
    if mark == ScriptMark::Send {
        return Some(first);
    }
    matches!(first.to_ascii_uppercase().as_str(), "POST" | "GET" | "PUT")
        .then(|| literals.next())?
        .map(|second| second.text)
}

/// The destination of a URL to which a value is appended: `"https://host/?password=" + value`.
fn target_with_appended_value(
    text: &str,
    quote: usize,
    facts: &mut PageFacts,
    rules: &Rules,
) -> Option<Target> {
    let address = literal_at(text, quote)?;
    facts.work += address.len();
    let (_, query) = address.split_once('?')?;
    let query = query.split("${").next().unwrap_or_default().to_ascii_lowercase();
    let name = query.strip_suffix('=')?.rsplit('&').next().unwrap_or_default();
    match rules.hosts.target(&address) {
        target @ Target::Address(_) => Some(target),
        target @ Target::Host(..) => TYPED.iter().any(|word| name.contains(word)).then_some(target),
        _ => None,
    }
}
