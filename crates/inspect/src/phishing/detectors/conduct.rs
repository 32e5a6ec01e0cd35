//! Rules of groups D, E and G: how a page that asks for secrets behaves. It copies, presses or hides.

use super::captive_portals::{kit_fields, names_network, portal, trap_fields};
use super::lures::words;
use super::mentions::Mentions;
use super::requested_secrets::RequestedSecrets;
use super::{RuleHit, SHORT_TEXT, has_secret, is_emptied, is_wordless};
use crate::phishing::facts::{Field, PageFacts, zone};
use crate::phishing::rules::hosts::Target;
use crate::phishing::rules::meanings::{Secret, Topic};
use crate::phishing::rules::rule::Rule;
use crate::phishing::rules::script_patterns::ScriptMark;

/// Different phrases of pressure on a short page.
const MUCH_PRESSURE: usize = 3;

/// The fewest crossed fields of a kit.
const CROSSED_FIELDS: usize = 2;
const PERSONAL_NAMES: [&str; 12] =
    ["name", "address", "mail", "phone", "pass", "user", "card", "city", "state", "zip", "dob", "bank"];

/// A password field that has a number for a name, so that nobody who searches pages for passwords finds it.
fn garbled_field(requested: &RequestedSecrets, facts: &PageFacts) -> Option<usize> {
    let is_number = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    let to_program = |form: usize| {
        facts.forms.get(form).is_some_and(|form| matches!(form.target, Target::ServerScript(_)))
    };
    let mut fields = facts.fields.iter().filter(|_| requested.has(Secret::Password));
    let garbled = fields.find(|field| {
        field.kind == "password" && is_number(&field.name) && field.form.is_some_and(to_program)
    });
    garbled.map(|field| field.at)
}

/// Several fields whose names are those of personal details between x's (`xName`, `xysemailx`), so that nobody who searches
/// pages for such fields finds them.
fn crossed_fields(facts: &PageFacts) -> Option<usize> {
    let is_crossed = |field: &&Field| {
        let Some(rest) = field.name.strip_prefix('x') else { return false };
        !rest.starts_with(['_', '-']) && PERSONAL_NAMES.iter().any(|name| rest.contains(name))
    };
    let mut crossed = facts.fields.iter().filter(|field| field.kind != "hidden").filter(is_crossed);
    let first = crossed.next()?;
    (crossed.count() + 1 >= CROSSED_FIELDS).then_some(first.at)
}

pub(super) fn conduct_rules(
    mentions: &Mentions,
    requested: &RequestedSecrets,
    facts: &PageFacts,
    hits: &mut Vec<RuleHit>,
) {
    for (topic, rule) in [
        (Topic::Pressure, Rule::Pressure),
        (Topic::Document, Rule::DocumentLure),
        (Topic::Router, Rule::RouterLure),
        (Topic::Portal, Rule::PortalLure),
        (Topic::Wrong, Rule::WrongPassword),
        (Topic::Wallet, Rule::WalletLure),
    ] {
        let key = requested.has(Secret::Wifi) || (requested.has(Secret::Password) && !names_network(facts));
        let fits = match topic {
            Topic::Router => key,
            Topic::Wallet => requested.has(Secret::Phrase),
            _ => true,
        };
        if let Some((start, end)) = mentions.first_range(topic).filter(|_| fits) {
            let titled = facts.zone_at(start) & zone::TITLE != 0;
            let much = || mentions.distinct_phrases(Topic::Pressure, facts) >= MUCH_PRESSURE;
            let rule = match rule {
                Rule::Pressure if facts.visible_len() < SHORT_TEXT && much() => Rule::MuchPressure,
                Rule::Pressure if titled => Rule::PressureInTitle,
                rule => rule,
            };
            hits.push(RuleHit { rule, at: facts.origin(start), detail: words(facts, start, end) });
        }
    }
    hits.extend(portal(mentions, requested, facts));
    let mut hit = |rule, at, detail: &str| hits.push(RuleHit { rule, at, detail: detail.to_owned() });
    if let Some((at, fields)) = trap_fields(facts) {
        hit(Rule::KitMarks, at, fields);
    }
    if let Some((at, field)) = kit_fields(facts) {
        hit(Rule::KitMarks, at, &field);
    }
    let garbled_words = mentions.garbled_sign_in.filter(|_| requested.has(Secret::Password));
    for (at, how) in [
        (garbled_field(requested, facts), "the password field has a number for a name"),
        (garbled_words, "a word for signing in is written with other characters"),
        (crossed_fields(facts), "the names of fields for personal details begin with an x"),
    ] {
        if let Some(at) = at {
            hit(Rule::GarbledNames, at, how);
        }
    }
    if let Some((at, address)) = &facts.saved_from {
        let named = if address.is_empty() { String::new() } else { format!(" ({address})") };
        hit(Rule::CopiedPage, *at, &named);
    }
    if facts.links >= 4 && facts.dead_links * 10 >= facts.links * 7 {
        hit(Rule::DeadLinks, 0, "");
    }
    // A lone field beside an icon is an exercise.
    let several = has_secret(requested) && requested.visible_fields > 1;
    let emptied = several && is_emptied(facts);
    if ((mentions.first_range(Topic::Pressure).is_some() || several) && is_wordless(facts)) || emptied {
        hit(Rule::WordlessPage, 0, "");
    }
    if let Some(at) = facts.hidden_field {
        hit(Rule::HiddenForm, at, "");
    }
    if let Some((start, end)) = mentions.first_range(Topic::Kit) {
        hit(Rule::KitMarks, facts.origin(start), &words(facts, start, end));
    }
    for (mark, rule) in [
        (ScriptMark::Kit, Rule::KitMarks),
        (ScriptMark::Lookup, Rule::VisitorLookup),
        (ScriptMark::Lock, Rule::LockedPage),
    ] {
        if let Some(at) = facts.marks.get(&mark) {
            hit(rule, *at, facts.mark_words.get(&mark).map_or("", String::as_str));
        }
    }
}
