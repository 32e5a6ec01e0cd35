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

use super::facts::{PageFacts, zone};
use super::rules::Rules;
use super::rules::meanings::{Secret, Topic};
use super::rules::rule::Rule;
use super::rules::script_patterns::ScriptMark;
use captive_portals::{kit_fields, names_network, portal, trap_fields};
use destinations::{blocked, destinations};
use identity::find_mentions;
use lures::{lures, words};
use mentions::Mentions;
use redirects::redirects;
use requested_secrets::{RequestedSecrets, find_requested_secrets};
use smuggled_download::smuggled;

/// A rule that hit: its offset in the file and the word, name or host concerned.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RuleHit {
    pub(crate) rule: Rule,
    pub(crate) at: usize,
    pub(crate) detail: String,
}

/// How many occurrences of a rule on a page are reported; this many show the pattern to the person who fixes it.
pub(crate) const MOST_OCCURRENCES: usize = 3;
/// Mail providers, by their names in the list of brands.
const MAIL_PROVIDERS: [&str; 12] = [
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
pub(crate) struct Evaluation {
    pub(crate) hits: Vec<RuleHit>,
    /// The page asks for credentials or payment.
    pub(crate) asks: bool,
}

pub(crate) fn evaluate(facts: &PageFacts, files: &dyn Fn(&str) -> bool, rules: &Rules) -> Evaluation {
    let requested = find_requested_secrets(facts, rules);
    // Names matter only where the page asks for something, or on a page short enough to be a lure.
    let harmless = |secret: &Secret| {
        matches!(secret, Secret::Account | Secret::Details | Secret::Birth | Secret::Expiry)
    };
    let mut hits = Vec::from_iter(blocked(facts, rules));
    if facts.text.len() > LONG_TEXT && requested.secrets.keys().all(harmless) {
        smuggled(facts, &mut hits);
        generated_markup(facts, &mut hits);
        return Evaluation { hits, asks: false };
    }
    let mentions = find_mentions(facts, rules);
    let others = hits.len();
    secret_rules(&requested, &mentions, facts, &mut hits);
    let asks = hits.len() > others;
    if asks {
        destinations(&requested, facts, files, rules, &mut hits);
        identity_rules(&mentions, &requested, facts, rules, &mut hits);
        conduct_rules(&mentions, &requested, facts, &mut hits);
        mitigating_rules(&mentions, facts, &mut hits);
    }
    lures(facts, &mentions, &mut hits);
    redirects(facts, &mut hits);
    smuggled(facts, &mut hits);
    generated_markup(facts, &mut hits);
    Evaluation { hits, asks }
}

/// Whether all the words of the page are in images.
fn is_wordless(facts: &PageFacts) -> bool {
    facts.pictures > 0 && facts.has_at_most_letters(FEW_LETTERS)
}

fn has_secret(requested: &RequestedSecrets) -> bool {
    [Secret::Password, Secret::MailPassword, Secret::Card, Secret::Cvv, Secret::Person]
        .iter()
        .any(|secret| requested.has(*secret))
}

/// Markup that cannot be checked is refused.
fn generated_markup(facts: &PageFacts, hits: &mut Vec<RuleHit>) {
    if let Some(at) = facts.generated_markup_at {
        hits.push(RuleHit { rule: Rule::BuiltMarkup, at, detail: String::new() });
    }
}

fn secret_rules(
    requested: &RequestedSecrets,
    mentions: &Mentions,
    facts: &PageFacts,
    hits: &mut Vec<RuleHit>,
) {
    let mut hit = |rule, secret, detail: &str| {
        for at in requested.secrets.get(&secret).into_iter().flatten() {
            hits.push(RuleHit { rule, at: *at, detail: detail.to_owned() });
        }
    };
    hit(Rule::PasswordField, Secret::Password, "");
    hit(Rule::MailPassword, Secret::MailPassword, "");
    hit(Rule::CodeField, Secret::Code, "");
    hit(Rule::RecoveryPhrase, Secret::Phrase, "");
    hit(Rule::WifiKey, Secret::Wifi, "");
    hit(Rule::IdentityFields, Secret::Person, "number of a person or account");
    let parts = [Secret::Card, Secret::Cvv, Secret::Expiry];
    let card = parts.iter().filter(|part| requested.has(**part)).count() >= 2;
    if card {
        hit(Rule::CardFields, if requested.has(Secret::Card) { Secret::Card } else { Secret::Cvv }, "");
    } else {
        hit(Rule::IdentityFields, Secret::Card, "card number");
        hit(Rule::CodeField, Secret::Cvv, "");
    }
    let kinds = [
        (card, "card"),
        (requested.has(Secret::Person), "person"),
        (requested.has(Secret::Code), "code"),
        (requested.has(Secret::Phrase), "recovery phrase"),
        (requested.has(Secret::Password), "password"),
    ];
    let several: Vec<&str> =
        kinds.iter().filter(|(requested, _)| *requested).map(|(_, name)| *name).collect();
    if several.len() >= 3 || (card && several.len() >= 2 && !requested.has(Secret::Password)) {
        let at = requested.secrets.values().flatten().next().copied().unwrap_or(0);
        hits.push(RuleHit { rule: Rule::ManySecrets, at, detail: several.join(", ") });
    }
    if let Some(at) = requested
        .file_field
        .filter(|_| mentions.first_range(Topic::IdPhoto).is_some() && facts.text.len() < LONG_TEXT)
    {
        let detail = "picture of a document".to_owned();
        hits.push(RuleHit { rule: Rule::IdentityFields, at, detail });
    }
    if hits.is_empty()
        && requested.detail_fields >= 4
        && requested.visible_fields <= 20
        && facts.text.len() < LONG_TEXT
    {
        let at = requested.first(Secret::Details).unwrap_or(0);
        hits.push(RuleHit { rule: Rule::PersonalDetails, at, detail: String::new() });
    }
    if hits.is_empty() && requested.visible_fields > 0 && !requested.has_search_field && is_wordless(facts) {
        hits.push(RuleHit { rule: Rule::UnlabelledFields, at: 0, detail: String::new() });
    }
    if hits.is_empty()
        && requested.visible_fields <= 4
        && let Some(at) = requested.first(Secret::Account)
        && (signs_in(mentions, facts)
            || mentions.claims.iter().any(|(rule, ..)| *rule == Rule::BrandSignature)
            || mentions.first_range(Topic::Pressure).is_some()
            || mentions.first_range(Topic::Document).is_some())
        && facts.text.len() < LONG_TEXT
    {
        hits.push(RuleHit { rule: Rule::SignInStep, at, detail: String::new() });
    }
}

/// Whether the page is for signing in: its title, a button or a whole heading says so.
fn signs_in(mentions: &Mentions, facts: &PageFacts) -> bool {
    let places = mentions.topics.get(&Topic::SignIn).map(Vec::as_slice).unwrap_or_default();
    places.iter().any(|(start, end)| {
        let zones = facts.zone_at(*start);
        let alone = facts.text.bytes.get(*end).is_none_or(|next| *next == b'\n');
        zones & (zone::TITLE | zone::BUTTON) != 0 || (zones & zone::HEADING != 0 && alone)
    })
}

fn identity_rules(
    mentions: &Mentions,
    requested: &RequestedSecrets,
    facts: &PageFacts,
    rules: &Rules,
    hits: &mut Vec<RuleHit>,
) {
    // Where cards are accepted, the name of a payment method is not a claim to be it.
    let pays = requested.has(Secret::Card) || requested.has(Secret::Cvv) || !signs_in(mentions, facts);
    let at_till = pays && !requested.has(Secret::Password) && mentions.first_range(Topic::Pressure).is_none();
    let till =
        |name: &str| at_till && rules.brands.iter().any(|brand| brand.is_payment && brand.name == name);
    for (rule, name, at) in &mentions.claims {
        // A title about a brand is not the title of the brand's page.
        let rule = match rule {
            Rule::BrandInTitle if mentions.has_descriptive_title || till(name) => Rule::TitleAboutBrand,
            Rule::BrandAssets if till(name) => Rule::PaymentAssets,
            // Among many fields or much text it is the heading of a section.
            Rule::BrandAsHeading
                if requested.visible_fields > FEW_FIELDS || facts.text.len() > SHORT_TEXT =>
            {
                Rule::BrandHeading
            }
            rule => *rule,
        };
        hits.push(RuleHit { rule, at: *at, detail: name.clone() });
    }
    let mail: Vec<&str> = mentions
        .brands
        .iter()
        .map(|brand| rules.brands[usize::from(*brand)].name.as_str())
        .filter(|name| MAIL_PROVIDERS.contains(name))
        .collect();
    if mail.len() >= 3 && mentions.first_range(Topic::Document).is_some() {
        hits.push(RuleHit { rule: Rule::MailProviders, at: 0, detail: mail.join(", ") });
    }
    if let Some((start, end)) = mentions.first_range(Topic::Bank) {
        hits.push(RuleHit {
            rule: Rule::BankWords,
            at: facts.origin(start),
            detail: words(facts, start, end),
        });
    }
}

fn conduct_rules(
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
    ] {
        let key = requested.has(Secret::Wifi) || (requested.has(Secret::Password) && !names_network(facts));
        let fits = topic != Topic::Router || key;
        if let Some((start, end)) = mentions.first_range(topic).filter(|_| fits) {
            let titled = rule == Rule::Pressure && facts.zone_at(start) & zone::TITLE != 0;
            let rule = if titled { Rule::PressureInTitle } else { rule };
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
    if let Some((at, address)) = &facts.saved_from {
        let named = if address.is_empty() { String::new() } else { format!(" ({address})") };
        hit(Rule::CopiedPage, *at, &named);
    }
    if facts.links >= 4 && facts.dead_links * 10 >= facts.links * 7 {
        hit(Rule::DeadLinks, 0, "");
    }
    if (mentions.first_range(Topic::Pressure).is_some() || has_secret(requested)) && is_wordless(facts) {
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

fn mitigating_rules(mentions: &Mentions, facts: &PageFacts, hits: &mut Vec<RuleHit>) {
    let mut hit = |rule| hits.push(RuleHit { rule, at: 0, detail: String::new() });
    if facts.text.len() >= LONG_TEXT {
        hit(Rule::LongText);
    }
    if facts.quoted_bytes >= 400 && !facts.has_field_in_quote {
        hit(Rule::QuotedCode);
    }
    if mentions.first_range(Topic::Demo).is_some() {
        hit(Rule::Demo);
    }
}
