//! Evaluates the facts of a page: which rules hit, and where. [`super::scored_page`] adds them up.

mod brand_evidence;
mod captive_portals;
mod destinations;
mod identity;
mod lures;
mod mentions;
mod redirects;
mod requested_secrets;
mod site_evidence;
mod smuggled_download;

use super::facts::{Facts, zone};
use super::rules::Rules;
use super::rules::meanings::{Secret, Topic};
use super::rules::rule::Rule;
use super::rules::script_patterns::Mark;
use captive_portals::{kit_fields, names_network, portal, trap_fields};
use destinations::{blocked, destinations};
use identity::said;
use lures::{lures, words};
use mentions::Said;
use redirects::redirects;
use requested_secrets::{Asked, asked};
use smuggled_download::smuggled;

/// A rule that hit: its offset in the file and the word, name or host concerned.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Hit {
    pub(crate) rule: Rule,
    pub(crate) at: usize,
    pub(crate) detail: String,
}

/// How many occurrences of a rule on a page are reported; this many show the pattern to the person who fixes it.
pub(crate) const MOST_PLACES: usize = 3;
/// Mail providers, by their names in the list of brands.
const MAIL: [&str; 12] = [
    "Microsoft",
    "Google",
    "Yahoo",
    "AOL",
    "Zoho",
    "Proton",
    "GMX",
    "WEB.DE",
    "Mail.ru",
    "Yandex",
    "NetEase",
    "QQ Mail",
];
/// The most fields on a sign-in page.
const FEW_FIELDS: usize = 4;
/// The most text on a sign-in page, in bytes.
const SHORT_TEXT: usize = 2000;
/// The most letters on a page whose words are images.
const FEW_LETTERS: usize = 1;
/// More text than anybody reads in passing, in bytes.
const LONG_TEXT: usize = 6000;

/// The result of evaluating a page.
#[derive(Debug)]
pub(crate) struct Judged {
    pub(crate) hits: Vec<Hit>,
    /// The page asks for credentials or payment.
    pub(crate) asks: bool,
}

pub(crate) fn judge(facts: &Facts, files: &dyn Fn(&str) -> bool, rules: &Rules) -> Judged {
    let asked = asked(facts, rules);
    // Names matter only where the page asks for something, or on a page short enough to be a lure.
    let harmless = |secret: &Secret| {
        matches!(secret, Secret::Account | Secret::Details | Secret::Birth | Secret::Expiry)
    };
    let mut hits = Vec::from_iter(blocked(facts, rules));
    if facts.text.len() > LONG_TEXT && asked.secrets.keys().all(harmless) {
        smuggled(facts, &mut hits);
        built(facts, &mut hits);
        return Judged { hits, asks: false };
    }
    let said = said(facts, rules);
    let others = hits.len();
    secrets(&asked, &said, facts, &mut hits);
    let asks = hits.len() > others;
    if asks {
        destinations(&asked, facts, files, rules, &mut hits);
        names(&said, &asked, facts, rules, &mut hits);
        manners(&said, &asked, facts, &mut hits);
        virtues(&said, facts, &mut hits);
    }
    lures(facts, &said, &mut hits);
    redirects(facts, &mut hits);
    smuggled(facts, &mut hits);
    built(facts, &mut hits);
    Judged { hits, asks }
}

/// Whether all the words of the page are in images.
fn is_wordless(facts: &Facts) -> bool {
    facts.pictures > 0 && facts.says_at_most(FEW_LETTERS)
}

fn has_secret(asked: &Asked) -> bool {
    [Secret::Password, Secret::MailPassword, Secret::Card, Secret::Cvv, Secret::Person]
        .iter()
        .any(|secret| asked.has(*secret))
}

/// Markup that cannot be checked is refused.
fn built(facts: &Facts, hits: &mut Vec<Hit>) {
    if let Some(at) = facts.built_at {
        hits.push(Hit { rule: Rule::BuiltMarkup, at, detail: String::new() });
    }
}

fn secrets(asked: &Asked, said: &Said, facts: &Facts, hits: &mut Vec<Hit>) {
    let mut hit = |rule, secret, detail: &str| {
        for at in asked.secrets.get(&secret).into_iter().flatten() {
            hits.push(Hit { rule, at: *at, detail: detail.to_owned() });
        }
    };
    hit(Rule::PasswordField, Secret::Password, "");
    hit(Rule::MailPassword, Secret::MailPassword, "");
    hit(Rule::CodeField, Secret::Code, "");
    hit(Rule::RecoveryPhrase, Secret::Phrase, "");
    hit(Rule::WifiKey, Secret::Wifi, "");
    hit(Rule::IdentityFields, Secret::Person, "number of a person or account");
    let parts = [Secret::Card, Secret::Cvv, Secret::Expiry];
    let card = parts.iter().filter(|part| asked.has(**part)).count() >= 2;
    if card {
        hit(Rule::CardFields, if asked.has(Secret::Card) { Secret::Card } else { Secret::Cvv }, "");
    } else {
        hit(Rule::IdentityFields, Secret::Card, "card number");
        hit(Rule::CodeField, Secret::Cvv, "");
    }
    let kinds = [
        (card, "card"),
        (asked.has(Secret::Person), "person"),
        (asked.has(Secret::Code), "code"),
        (asked.has(Secret::Phrase), "recovery phrase"),
        (asked.has(Secret::Password), "password"),
    ];
    let several: Vec<&str> = kinds.iter().filter(|(asked, _)| *asked).map(|(_, name)| *name).collect();
    if several.len() >= 3 || (card && several.len() >= 2 && !asked.has(Secret::Password)) {
        let at = asked.secrets.values().flatten().next().copied().unwrap_or(0);
        hits.push(Hit { rule: Rule::ManySecrets, at, detail: several.join(", ") });
    }
    if let Some(at) =
        asked.file.filter(|_| said.has(Topic::IdPhoto).is_some() && facts.text.len() < LONG_TEXT)
    {
        let detail = "picture of a document".to_owned();
        hits.push(Hit { rule: Rule::IdentityFields, at, detail });
    }
    if hits.is_empty() && asked.details >= 4 && asked.visible <= 20 && facts.text.len() < LONG_TEXT {
        let at = asked.first(Secret::Details).unwrap_or(0);
        hits.push(Hit { rule: Rule::PersonalDetails, at, detail: String::new() });
    }
    if hits.is_empty() && asked.visible > 0 && !asked.searches && is_wordless(facts) {
        hits.push(Hit { rule: Rule::UnlabelledFields, at: 0, detail: String::new() });
    }
    if hits.is_empty()
        && asked.visible <= 4
        && let Some(at) = asked.first(Secret::Account)
        && (signs_in(said, facts)
            || said.names.iter().any(|(rule, ..)| *rule == Rule::BrandSignature)
            || said.has(Topic::Pressure).is_some()
            || said.has(Topic::Document).is_some())
        && facts.text.len() < LONG_TEXT
    {
        hits.push(Hit { rule: Rule::SignInStep, at, detail: String::new() });
    }
}

/// Whether the page is for signing in: its title, a button or a whole heading says so.
fn signs_in(said: &Said, facts: &Facts) -> bool {
    let places = said.topics.get(&Topic::SignIn).map(Vec::as_slice).unwrap_or_default();
    places.iter().any(|(start, end)| {
        let zones = facts.zone_at(*start);
        let alone = facts.text.bytes.get(*end).is_none_or(|next| *next == b'\n');
        zones & (zone::TITLE | zone::BUTTON) != 0 || (zones & zone::HEADING != 0 && alone)
    })
}

fn names(said: &Said, asked: &Asked, facts: &Facts, rules: &Rules, hits: &mut Vec<Hit>) {
    // Where cards are accepted, the name of a payment method is not a claim to be it.
    let pays = asked.has(Secret::Card) || asked.has(Secret::Cvv) || !signs_in(said, facts);
    let at_till = pays && !asked.has(Secret::Password) && said.has(Topic::Pressure).is_none();
    let till = |name: &str| at_till && rules.brands.iter().any(|brand| brand.at_tills && brand.name == name);
    for (rule, name, at) in &said.names {
        // A title about a brand is not the title of the brand's page.
        let rule = match rule {
            Rule::BrandInTitle if said.about || till(name) => Rule::TitleAboutBrand,
            Rule::BrandAssets if till(name) => Rule::PaymentAssets,
            // Among many fields or much text it is the heading of a section.
            Rule::BrandAsHeading if asked.visible > FEW_FIELDS || facts.text.len() > SHORT_TEXT => {
                Rule::BrandHeading
            }
            rule => *rule,
        };
        hits.push(Hit { rule, at: *at, detail: name.clone() });
    }
    let mail: Vec<&str> = said
        .mentioned
        .iter()
        .map(|brand| rules.brands[usize::from(*brand)].name.as_str())
        .filter(|name| MAIL.contains(name))
        .collect();
    if mail.len() >= 3 && said.has(Topic::Document).is_some() {
        hits.push(Hit { rule: Rule::MailProviders, at: 0, detail: mail.join(", ") });
    }
    if let Some((start, end)) = said.has(Topic::Bank) {
        hits.push(Hit { rule: Rule::BankWords, at: facts.origin(start), detail: words(facts, start, end) });
    }
}

fn manners(said: &Said, asked: &Asked, facts: &Facts, hits: &mut Vec<Hit>) {
    for (topic, rule) in [
        (Topic::Pressure, Rule::Pressure),
        (Topic::Document, Rule::DocumentLure),
        (Topic::Router, Rule::RouterLure),
        (Topic::Portal, Rule::PortalLure),
        (Topic::Wrong, Rule::WrongPassword),
    ] {
        let key = asked.has(Secret::Wifi) || (asked.has(Secret::Password) && !names_network(facts));
        let fits = topic != Topic::Router || key;
        if let Some((start, end)) = said.has(topic).filter(|_| fits) {
            let titled = rule == Rule::Pressure && facts.zone_at(start) & zone::TITLE != 0;
            let rule = if titled { Rule::PressureInTitle } else { rule };
            hits.push(Hit { rule, at: facts.origin(start), detail: words(facts, start, end) });
        }
    }
    hits.extend(portal(said, asked, facts));
    let mut hit = |rule, at, detail: &str| hits.push(Hit { rule, at, detail: detail.to_owned() });
    if let Some((at, fields)) = trap_fields(facts) {
        hit(Rule::KitMarks, at, fields);
    }
    if let Some((at, field)) = kit_fields(facts) {
        hit(Rule::KitMarks, at, &field);
    }
    if let Some((at, address)) = &facts.copied {
        let named = if address.is_empty() { String::new() } else { format!(" ({address})") };
        hit(Rule::CopiedPage, *at, &named);
    }
    if facts.links >= 4 && facts.dead_links * 10 >= facts.links * 7 {
        hit(Rule::DeadLinks, 0, "");
    }
    if (said.has(Topic::Pressure).is_some() || has_secret(asked)) && is_wordless(facts) {
        hit(Rule::WordlessPage, 0, "");
    }
    if let Some(at) = facts.hidden_field {
        hit(Rule::HiddenForm, at, "");
    }
    if let Some((start, end)) = said.has(Topic::Kit) {
        hit(Rule::KitMarks, facts.origin(start), &words(facts, start, end));
    }
    for (mark, rule) in
        [(Mark::Kit, Rule::KitMarks), (Mark::Lookup, Rule::VisitorLookup), (Mark::Lock, Rule::LockedPage)]
    {
        if let Some(at) = facts.marks.get(&mark) {
            hit(rule, *at, facts.mark_words.get(&mark).map_or("", String::as_str));
        }
    }
}

fn virtues(said: &Said, facts: &Facts, hits: &mut Vec<Hit>) {
    let mut hit = |rule| hits.push(Hit { rule, at: 0, detail: String::new() });
    if facts.text.len() >= LONG_TEXT {
        hit(Rule::LongText);
    }
    if facts.quoted_bytes >= 400 && !facts.live_quote {
        hit(Rule::QuotedCode);
    }
    if said.has(Topic::Demo).is_some() {
        hit(Rule::Demo);
    }
}
