//! Evaluates the facts of a page: which rules hit, and where. [`super::scored_page`] adds them up.

mod api_keys;
mod between_steps;
mod brand_evidence;
mod captive_portals;
mod conduct;
mod destinations;
mod identity;
pub(crate) mod lures;
mod mentions;
mod redirects;
mod requested_secrets;
mod secret_rules;
mod site_evidence;
mod site_names;
mod smuggled_download;

use super::facts::{Field, PageFacts, letters, zone};
use super::rules::Rules;
use super::rules::hosts::Target;
use super::rules::meanings::{Secret, Topic};
use super::rules::rule::Rule;
use api_keys::api_key_rules;
use between_steps::between_steps;
use conduct::conduct_rules;
use destinations::{blocked, destinations};
use identity::find_mentions;
use lures::{lures, words};
use mentions::Mentions;
use redirects::redirects;
use requested_secrets::{RequestedSecrets, find_requested_secrets};
use secret_rules::{secret_rules, signs_in};
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
/// The most letters on such a page if its button has a text, and the fewest pictures.
const BUTTON_LETTERS: usize = 12;
const MANY_PICTURES: usize = 4;
/// The most text of a page whose words are missing, in bytes.
const FEW_WORDS: usize = 400;
/// A page with more fields is not one whose words are missing.
const MOST_UNLABELLED: usize = 30;
/// More text than anybody reads in passing, in bytes.
pub(crate) const LONG_TEXT: usize = 6000;

/// The result of evaluating a page.
#[derive(Debug)]
pub(crate) struct Evaluation {
    pub(crate) hits: Vec<RuleHit>,
    /// The page asks for credentials or payment.
    pub(crate) asks: bool,
    /// The name that the page clearly claims although it asks for nothing.
    pub(crate) claimed: Option<String>,
}

pub(crate) fn evaluate(facts: &PageFacts, files: &dyn Fn(&str) -> bool, rules: &Rules) -> Evaluation {
    let requested = find_requested_secrets(facts, rules);
    // Names matter only where the page asks for something, or on a page short enough to be a lure.
    let harmless = |secret: &Secret| {
        matches!(secret, Secret::Account | Secret::Details | Secret::Birth | Secret::Expiry | Secret::ApiKey)
    };
    let mut hits = Vec::from_iter(blocked(facts, rules));
    if facts.visible_len() > LONG_TEXT && requested.secrets.keys().all(harmless) {
        smuggled(facts, &mut hits);
        generated_markup(facts, &mut hits);
        return Evaluation { hits, asks: false, claimed: None };
    }
    let mentions = find_mentions(facts, rules);
    let pays = |name: &str| rules.brands.iter().any(|brand| brand.is_payment && brand.name == name);
    let others = hits.len();
    secret_rules(&requested, &mentions, facts, &mut hits);
    let asks = hits.len() > others;
    if asks && requested.only_api_keys() {
        api_key_rules(&requested, &mentions, facts, files, rules, &mut hits);
    } else if asks {
        destinations(&requested, facts, files, rules, &mut hits);
        identity_rules(&mentions, &requested, facts, rules, &mut hits);
        conduct_rules(&mentions, &requested, facts, &mut hits);
        mitigating_rules(&mentions, facts, &mut hits);
    } else {
        hits.extend(between_steps(facts, &mentions, &pays));
    }
    lures(facts, &mentions, &mut hits);
    redirects(facts, &mut hits);
    smuggled(facts, &mut hits);
    generated_markup(facts, &mut hits);
    let claimed = mentions.claimed_name().filter(|name| !asks && !pays(name));
    Evaluation { hits, asks, claimed }
}

/// Whether all the words of the page are in images.
fn is_wordless(facts: &PageFacts) -> bool {
    let drawn = facts.pictures >= MANY_PICTURES && facts.has_at_most_letters(BUTTON_LETTERS);
    (facts.pictures > 0 && facts.has_at_most_letters(FEW_LETTERS)) || (drawn && has_no_labels(facts))
}

/// Whether the page has an empty title and none of its fields a label: its words are missing, because a server adds them. A page
/// that sends nothing to a server may get them from its script, as translated ones do.
fn is_emptied(facts: &PageFacts) -> bool {
    let by_server =
        !facts.has_script || facts.forms.iter().any(|form| matches!(form.target, Target::ServerScript(_)));
    by_server && facts.empty_title == Some(true) && facts.visible_len() < FEW_WORDS && has_no_labels(facts)
}

/// Whether the page has fields to type in and none of them a label.
fn has_no_labels(facts: &PageFacts) -> bool {
    if facts.fields.len() > MOST_UNLABELLED {
        return false;
    }
    let typed = |kind: &str| matches!(kind, "" | "text" | "password" | "email" | "tel" | "number");
    let mut fields =
        facts.fields.iter().filter(|field| field.tag == "input" && typed(&field.kind)).peekable();
    // The line before the first field may be the title of the page.
    let title = facts.first_in(zone::TITLE);
    let says = |field: &Field| field.shown.lines().any(|line| line != title && letters(line.as_bytes()) > 0);
    let label = |id: &str| facts.labels.iter().find(|(of, _)| of == id).map_or("", |(_, text)| text.as_str());
    fields.peek().is_some() && fields.all(|field| !says(field) && letters(label(&field.id).as_bytes()) == 0)
}

fn has_secret(requested: &RequestedSecrets) -> bool {
    [Secret::Password, Secret::MailPassword, Secret::Card, Secret::Cvv, Secret::Person]
        .iter()
        .any(|secret| requested.has(*secret))
}

/// Whether what is typed would be enough to harm the person who types it.
fn has_live_secret(requested: &RequestedSecrets) -> bool {
    has_secret(requested)
        || [Secret::Phrase, Secret::Code, Secret::Session].iter().any(|secret| requested.has(*secret))
}

/// Markup that cannot be checked is refused.
fn generated_markup(facts: &PageFacts, hits: &mut Vec<RuleHit>) {
    if let Some(at) = facts.generated_markup_at {
        hits.push(RuleHit { rule: Rule::BuiltMarkup, at, detail: String::new() });
    }
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
    // Anybody can write into a title that the page is about the brand. Beside a live secret that earns nothing.
    let about =
        (mentions.has_descriptive_title || mentions.has_practice_title) && !has_live_secret(requested);
    for (rule, name, at) in &mentions.claims {
        // A title about a brand is not the title of the brand's page.
        let rule = match rule {
            Rule::BrandInTitle if about || till(name) => Rule::TitleAboutBrand,
            Rule::BrandAssets if till(name) => Rule::PaymentAssets,
            // Among many fields or much text it is the heading of a section.
            Rule::BrandAsHeading
                if requested.visible_fields > FEW_FIELDS || facts.visible_len() > SHORT_TEXT =>
            {
                Rule::BrandHeading
            }
            // A picture on a page that is not for signing in shows a customer or a product.
            Rule::BrandPicture
                if !signs_in(mentions, facts)
                    && requested.visible_fields > FEW_FIELDS
                    && facts.visible_len() > SHORT_TEXT =>
            {
                Rule::BrandText
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

fn mitigating_rules(mentions: &Mentions, facts: &PageFacts, hits: &mut Vec<RuleHit>) {
    let mut hit = |rule| hits.push(RuleHit { rule, at: 0, detail: String::new() });
    if facts.visible_len() >= LONG_TEXT {
        hit(Rule::LongText);
    }
    if facts.quoted_bytes >= 400 && !facts.has_field_in_quote {
        hit(Rule::QuotedCode);
    }
    if mentions.first_range(Topic::Demo).is_some() {
        hit(Rule::Demo);
    }
}
