//! Rules of group A: what the page asks for, as far as it is worth protecting.

use super::mentions::Mentions;
use super::requested_secrets::RequestedSecrets;
use super::{LONG_TEXT, RuleHit, SHORT_TEXT, is_wordless};
use crate::phishing::facts::{PageFacts, zone};
use crate::phishing::rules::hosts::Target;
use crate::phishing::rules::meanings::{Secret, Topic};
use crate::phishing::rules::rule::Rule;

pub(super) fn secret_rules(
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
    hit(Rule::SessionCookie, Secret::Session, "");
    if requested.only_api_keys() {
        hit(Rule::ApiKeyField, Secret::ApiKey, "");
    }
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
        (requested.has(Secret::MailPassword), "email password"),
        (!card && requested.has(Secret::Cvv), "card security code"),
    ];
    let several: Vec<&str> =
        kinds.iter().filter(|(requested, _)| *requested).map(|(_, name)| *name).collect();
    if several.len() >= 3 || (card && several.len() >= 2 && !requested.has(Secret::Password)) {
        let at = requested.secrets.values().flatten().next().copied().unwrap_or(0);
        hits.push(RuleHit { rule: Rule::ManySecrets, at, detail: several.join(", ") });
    }
    if let Some(at) = requested
        .file_field
        .filter(|_| mentions.first_range(Topic::IdPhoto).is_some() && facts.visible_len() < LONG_TEXT)
    {
        let detail = "picture of a document".to_owned();
        hits.push(RuleHit { rule: Rule::IdentityFields, at, detail });
    }
    if hits.is_empty()
        && requested.detail_fields >= 4
        && requested.visible_fields <= 20
        && facts.visible_len() < LONG_TEXT
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
            || (is_short_form(requested, facts) && is_claimed(mentions))
            || mentions.claims.iter().any(|(rule, ..)| *rule == Rule::BrandSignature)
            || mentions.first_range(Topic::Pressure).is_some()
            || mentions.first_range(Topic::Document).is_some())
        && facts.visible_len() < LONG_TEXT
    {
        hits.push(RuleHit { rule: Rule::SignInStep, at, detail: String::new() });
    }
}

/// Whether the page has nothing but one or two fields for an account. An email address alone is what newsletters ask for, so it
/// must go to a program.
fn is_short_form(requested: &RequestedSecrets, facts: &PageFacts) -> bool {
    let by_email = facts.fields.iter().any(|field| field.kind == "email" || field.hint.contains("mail"));
    let to_program = facts.forms.iter().any(|form| matches!(form.target, Target::ServerScript(_)));
    requested.visible_fields <= 2
        && !requested.has_search_field
        && facts.visible_len() < SHORT_TEXT
        && (!by_email || to_program)
}

/// Whether the page clearly claims a name: a single field for an account is the first step of its sign-in.
fn is_claimed(mentions: &Mentions) -> bool {
    mentions.claims.iter().any(|(rule, ..)| {
        matches!(rule, Rule::BrandInTitle | Rule::BrandDisguised | Rule::BrandSignature | Rule::BrandAccount)
    }) && !mentions.has_descriptive_title
}

/// Whether the page is for signing in: its title, a button or a whole heading says so.
pub(super) fn signs_in(mentions: &Mentions, facts: &PageFacts) -> bool {
    let places = mentions.topics.get(&Topic::SignIn).map(Vec::as_slice).unwrap_or_default();
    places.iter().any(|(start, end)| {
        let zones = facts.zone_at(*start);
        let alone = facts.text.bytes.get(*end).is_none_or(|next| *next == b'\n');
        zones & (zone::TITLE | zone::BUTTON) != 0 || (zones & zone::HEADING != 0 && alone)
    })
}
