//! Detects pages that pose as the captive portal of a wireless network, and traces of the tools that set up fake ones.

use super::RuleHit;
use super::lures::words;
use super::mentions::Mentions;
use super::requested_secrets::RequestedSecrets;
use crate::phishing::facts::{Field, PageFacts, zone};
use crate::phishing::rules::meanings::{Secret, Topic};
use crate::phishing::rules::rule::Rule;

/// A portal has little text; a longer page mentions networks for another reason.
const LONGEST_ENTRANCE: usize = 2500;
/// A page this short is about whatever it mentions.
const SHORTEST: usize = 600;

/// Words that make a portal phrase one about a network, in any language.
const WIRELESS: [&str; 7] = ["wifi", "wi-fi", "wlan", "hotspot", "captive", "captif", "internet"];

/// Hidden fields that such tools put on every page.
const TRAP_FIELDS: [&str; 4] = ["hostname", "mac", "ip", "target"];

/// A network sign-in with an account of the visitor, or with nothing but a password. Pages for setting up one's own
/// network ask for its name too and are exempt.
pub(crate) fn portal(
    mentions: &Mentions,
    requested: &RequestedSecrets,
    facts: &PageFacts,
) -> Option<RuleHit> {
    let secret =
        requested.has(Secret::Password) || requested.has(Secret::MailPassword) || requested.has(Secret::Card);
    let known = [Secret::Account, Secret::Card, Secret::Person].iter().any(|secret| requested.has(*secret));
    let account = known || requested.visible_fields == 1;
    if !secret
        || !account
        || mentions.has_descriptive_title
        || facts.visible_len() > LONGEST_ENTRANCE
        || names_network(facts)
    {
        return None;
    }
    let places = |topic| mentions.topics.get(&topic).map(Vec::as_slice).unwrap_or_default();
    let wireless = |start: usize, end: usize| {
        WIRELESS
            .iter()
            .any(|word| memchr::memmem::find(&facts.text.bytes[start..end], word.as_bytes()).is_some())
    };
    let entrances = places(Topic::Portal).iter().filter(|(start, end)| wireless(*start, *end));
    let prominent = |at: usize| {
        let zones = facts.zone_at(at);
        zones & (zone::TITLE | zone::HEADING) != 0
            || (facts.visible_len() <= SHORTEST && zones & (zone::LINK | zone::NAVIGATION) == 0)
    };
    // For a router, a single password field asks for the key of its network.
    let routers = places(Topic::Router).iter().filter(|_| requested.visible_fields == 1);
    let mut spoken = entrances.chain(places(Topic::Wifi)).chain(routers);
    let (start, end) = *spoken.find(|(start, _)| prominent(*start))?;
    let detail = words(facts, start, end);
    Some(RuleHit { rule: Rule::PortalSignIn, at: facts.origin(start), detail })
}

/// Whether the page asks for the network name (SSID), as pages for connecting one's own device do.
pub(crate) fn names_network(facts: &PageFacts) -> bool {
    facts.fields.iter().any(|field| field.kind != "hidden" && field.hint.contains("ssid"))
}

/// Hidden fields with what the network knows about the visitor.
pub(crate) fn trap_fields(facts: &PageFacts) -> Option<(usize, &'static str)> {
    let hidden = || facts.fields.iter().filter(|field| field.kind == "hidden");
    let is_there = |name: &&&str| hidden().any(|field| field.hint.lines().next() == Some(**name));
    let found = TRAP_FIELDS.iter().filter(is_there).count();
    let first = hidden().next().filter(|_| found >= 3)?;
    Some((first.at, "hostname, mac, ip, target"))
}

/// Fields that only phishing kits have: the "Verified by Visa" password (`vbv`), and the numbered fields of a tool
/// that draws forms over a screenshot.
pub(crate) fn kit_fields(facts: &PageFacts) -> Option<(usize, String)> {
    let name = |field: &Field| field.hint.lines().next().unwrap_or_default().to_owned();
    let is_kit = |name: &str| {
        let numbered = |start| name.strip_prefix(start).is_some_and(|end: &str| end.parse::<u8>().is_ok());
        name.contains("vbv") || numbered("formtext") || numbered("formradio")
    };
    facts.fields.iter().map(|field| (field.at, name(field))).find(|(_, name)| is_kit(name))
}
