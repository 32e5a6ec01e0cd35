//! Detects lures that need no form: a command to paste, an alarm with a number to call, a wallet approval, a QR code
//! to scan, a frame around another site's sign-in.

use super::mentions::Mentions;
use crate::phishing::facts::{PageFacts, ReferenceKind};
use crate::phishing::rules::hosts::{HostKind, Target};
use crate::phishing::rules::meanings::Topic;
use crate::phishing::rules::rule::Rule;

use super::RuleHit;
use crate::phishing::rules::script_patterns::ScriptMark;

/// A page with more text than this is an article, not a lure.
const LONGEST_LURE: usize = 6000;
/// Words of pages that ask the visitor to prove to be human.
const PROOFS: [&str; 4] = ["human", "robot", "captcha", "verif"];
/// The most text of a page that consists of the lure alone.
pub(crate) const SHORT_LURE: usize = 1500;
/// The most text between two steps of a lure, and between the keys of a shortcut.
const LONGEST_STEP: usize = 200;
const LONGEST_KEYS: usize = 32;
/// Words between the keys of a shortcut.
const BETWEEN_KEYS: [&[u8]; 11] =
    [b"key", b"and", b"press", b"then", b"the", b"hold", b"hit", b"tap", b"letter", b"button", b"plus"];
/// How a lure has the command run.
const CONFIRMATIONS: [&str; 6] = ["enter", "return", "intro", "eingabe", "click ok", "press ok"];
/// The fewest digits of a telephone number, and among how many bytes they are.
pub(crate) const PHONE_DIGITS: usize = 9;
pub(crate) const PHONE_BYTES: usize = 16;

pub(crate) fn lures(facts: &PageFacts, mentions: &Mentions, hits: &mut Vec<RuleHit>) {
    let short = facts.visible_len() <= LONGEST_LURE;
    let place = |topic| mentions.first_range(topic).map(|(start, _)| facts.origin(start));
    let hit = |rule, at, detail: String| RuleHit { rule, at, detail };

    if short
        && let (Some(at), true) = (place(Topic::Command), facts.has(ScriptMark::Clipboard))
        && (place(Topic::Human).is_some() || facts.has(ScriptMark::Shell))
        && mentions.count(Topic::Command) >= 2
    {
        hits.push(hit(Rule::CommandLure, at, String::new()));
    }
    // On a page that asks for proof of being human, step-by-step instructions are enough, without a script.
    let proof = |(start, end): &(usize, usize)| {
        let phrase = &facts.text.bytes[*start..*end];
        PROOFS.iter().any(|word| memchr::memmem::find(phrase, word.as_bytes()).is_some())
    };
    let asks_proof = mentions.topics.get(&Topic::Human).is_some_and(|places| places.iter().any(proof));
    // Manuals name the keys that open the Run dialog and paste too. A lure has them pressed one after the other, says why, or has a
    // script that puts the command into the clipboard.
    let pastes = |(start, end): &(usize, usize)| is_paste(facts, *start, *end);
    let presses_keys = mentions.count(Topic::OpensRun) > 0
        && mentions.topics.get(&Topic::Pastes).is_some_and(|places| places.iter().any(pastes));
    let excuse = if asks_proof {
        Some("to prove that they are human")
    } else if presses_keys && (facts.has(ScriptMark::Clipboard) || facts.has(ScriptMark::Shell)) {
        Some("that a script provides")
    } else if presses_keys && mentions.first_range(Topic::Human).is_some() {
        Some("to solve a problem with the page")
    } else if presses_keys && is_in_steps(mentions, facts) {
        Some("step by step")
    } else {
        None
    };
    let is_visible = presses_keys || !facts.has(ScriptMark::Clipboard);
    if facts.visible_len() <= SHORT_LURE
        && let (Some(excuse), true) = (excuse, is_visible)
        && mentions.distinct_phrases(Topic::Command, facts) >= 2
        && !mentions.has_descriptive_title
        && let Some(at) = place(Topic::Command)
    {
        hits.push(hit(Rule::CommandSteps, at, excuse.to_owned()));
    }
    let alarms = mentions.distinct_phrases(Topic::Alarm, facts);
    if short
        && alarms >= 2
        && let Some(phone) = facts.phone.or_else(|| phone_in(facts))
    {
        let loud = facts.has(ScriptMark::Siren) || alarms >= 3;
        if loud && let Some((start, end)) = mentions.first_range(Topic::Alarm) {
            hits.push(hit(Rule::AlarmCall, phone, words(facts, start, end)));
        }
    }
    if short && let (Some(at), Some(_)) = (place(Topic::Claim), facts.marks.get(&ScriptMark::Approval)) {
        let detail = mentions
            .first_range(Topic::Claim)
            .map(|(start, end)| words(facts, start, end))
            .unwrap_or_default();
        hits.push(hit(Rule::WalletDrain, at, detail));
    }
    let weak = |rule: Rule| matches!(rule, Rule::BrandText | Rule::SiteInTitle | Rule::BankWords);
    let named = mentions.claims.iter().find(|(rule, ..)| rule.is_identity() && !weak(*rule));
    if facts.visible_len() <= SHORT_LURE
        && let (Some(at), Some((_, name, _))) = (place(Topic::Scan), named)
        && facts.pictures > 0
        && mentions.first_range(Topic::Pressure).is_some()
    {
        hits.push(hit(Rule::ScanLure, at, name.clone()));
    }
    if facts.visible_len() <= 400 {
        let foreign =
            facts.external_references.iter().filter(|used| used.kind == ReferenceKind::Frame).find_map(
                |used| match &used.target {
                    Target::Host(host, None | Some(HostKind::Relay | HostKind::Bot))
                    | Target::Address(host) => Some((host, used.at)),
                    _ => None,
                },
            );
        if let (Some((host, at)), Some(_)) = (foreign, named) {
            hits.push(hit(Rule::FramedLogin, at, host.clone()));
        }
    }
}

/// Whether a phrase that says how to paste does say it: `press ctrl` may go on with any key.
fn is_paste(facts: &PageFacts, start: usize, end: usize) -> bool {
    if !facts.text.bytes[start..end].ends_with(b"ctrl") {
        return true;
    }
    let after = &facts.text.bytes[end..(end + LONGEST_KEYS).min(facts.text.len())];
    let mut words = after.split(|byte| !byte.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.find(|word| !BETWEEN_KEYS.contains(word)) == Some(b"v")
}

/// Whether the page has the Run dialog opened, then something pasted and then confirmed.
fn is_in_steps(mentions: &Mentions, facts: &PageFacts) -> bool {
    let places = |topic| mentions.topics.get(&topic).map(Vec::as_slice).unwrap_or_default();
    let confirms = |after: usize| {
        let text = &facts.text.bytes[after..(after + LONGEST_STEP).min(facts.text.len())];
        CONFIRMATIONS.iter().any(|word| memchr::memmem::find(text, word.as_bytes()).is_some())
    };
    places(Topic::Pastes).iter().filter(|(start, end)| is_paste(facts, *start, *end)).any(|(start, end)| {
        let opened =
            places(Topic::OpensRun).iter().any(|(_, run)| run <= start && start - run <= LONGEST_STEP);
        opened && confirms(*end)
    })
}

pub(crate) fn words(facts: &PageFacts, start: usize, end: usize) -> String {
    String::from_utf8_lossy(&facts.text.bytes[start..end]).into_owned()
}

/// The offset of what looks like a toll-free phone number.
fn phone_in(facts: &PageFacts) -> Option<usize> {
    let text = &facts.text.bytes;
    memchr::memmem::find_iter(text, b"8").take(2000).find_map(|at| {
        let toll_free = [&b"800"[..], b"833", b"844", b"855", b"866", b"877", b"888", b"808", b"805"];
        let begins = toll_free.iter().any(|start| text[at..].starts_with(start));
        let before = at.checked_sub(1).map_or(b' ', |before| text[before]);
        let digits =
            text[at..].iter().take(PHONE_BYTES).take_while(|b| b.is_ascii_digit() || b" -().".contains(b));
        let enough = digits.filter(|byte| byte.is_ascii_digit()).count() >= PHONE_DIGITS;
        (begins && enough && !before.is_ascii_alphabetic()).then(|| facts.origin(at))
    })
}
