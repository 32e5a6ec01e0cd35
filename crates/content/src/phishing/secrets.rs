//! What secrets the fields of a page ask for, by the words around them rather than by their type alone.

use std::collections::{BTreeMap, HashMap};

use super::facts::{Facts, Field};
use super::kinds::Secret;
use super::reasons::MOST_PLACES;
use super::rules::Rules;
use super::script_words::Mark;

/// The secrets a page asks for, each with the places of the first fields, and the forms that hold them.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    pub(crate) secrets: BTreeMap<Secret, Vec<usize>>,
    pub(crate) forms: Vec<usize>,
    /// Fields that a person would fill in.
    pub(crate) visible: usize,
    /// How many fields ask for the details of a person.
    pub(crate) details: usize,
    /// One of the fields is for searching.
    pub(crate) searches: bool,
    pub(crate) file: Option<usize>,
}

impl Asked {
    pub(crate) fn has(&self, secret: Secret) -> bool {
        self.secrets.contains_key(&secret)
    }

    /// The first field that asks for a secret.
    pub(crate) fn first(&self, secret: Secret) -> Option<usize> {
        self.secrets.get(&secret).and_then(|places| places.first().copied())
    }

    fn add(&mut self, secret: Secret, field: &Field) {
        let places = self.secrets.entry(secret).or_default();
        if places.len() < MOST_PLACES && !places.contains(&field.at) {
            places.push(field.at);
        }
        if let Some(form) = field.form
            && self.forms.last() != Some(&form)
        {
            self.forms.push(form);
        }
    }
}

/// How far back a sentence explains a field.
const SENTENCE: usize = 200;
/// How far back a word does that is as short as this.
const NEAR: usize = 60;
const SHORT_WORD: usize = 4;

/// If a field shows several meanings, the first of these counts.
const ORDER: [Secret; 12] = [
    Secret::Phrase,
    Secret::Wifi,
    Secret::MailPassword,
    Secret::Card,
    Secret::Cvv,
    Secret::Expiry,
    Secret::Code,
    Secret::Person,
    Secret::Birth,
    Secret::Password,
    Secret::Account,
    Secret::Details,
];

pub(crate) fn asked(facts: &Facts, rules: &Rules) -> Asked {
    let labels: HashMap<&str, &str> =
        facts.labels.iter().map(|(id, text)| (id.as_str(), text.as_str())).collect();
    let mut asked = Asked::default();
    let mut one_letter = Vec::new();
    let mut numbered: HashMap<&str, (usize, usize)> = HashMap::new();
    for (place, field) in facts.fields.iter().enumerate() {
        if field.kind == "file" {
            asked.file.get_or_insert(field.at);
        }
        if (field.disabled && !facts.has_script) || is_machine(&field.kind) {
            continue;
        }
        asked.visible += 1;
        asked.searches |= field.hint.contains("search");
        let label = labels.get(field.id.as_str()).copied().unwrap_or_default();
        let named = secret_of(field, label, rules);
        asked.details += usize::from(matches!(named, Some(Secret::Details | Secret::Birth)));
        let lone = matches!(named, None | Some(Secret::Details)) && label.is_empty();
        if let Some(secret) = lone.then(|| told_before(field, facts, rules)).flatten().or(named) {
            asked.add(secret, field);
        }
        if field.one_letter && field.tag == "input" {
            one_letter.push(place);
        }
        if let Some(stem) = &field.stem {
            numbered.entry(stem.as_str()).or_insert((0, place)).0 += 1;
        }
    }
    if (4..=9).contains(&one_letter.len()) {
        asked.add(Secret::Code, &facts.fields[one_letter[0]]);
    }
    if let Some((count, place)) = numbered.values().max() {
        let phrase =
            *count >= 12 && rules.secrets.find(&facts.text.bytes).any(|found| found.of == Secret::Phrase);
        if phrase {
            asked.add(Secret::Phrase, &facts.fields[*place]);
        }
    }
    if let Some(at) = facts.marks.get(&Mark::SecretField) {
        asked.secrets.entry(Secret::Password).or_insert_with(|| vec![*at]);
    }
    asked
}

/// A field without any label of its own is explained by the sentence before it.
fn told_before(field: &Field, facts: &Facts, rules: &Rules) -> Option<Secret> {
    let typed = matches!(field.kind.as_str(), "" | "text" | "tel" | "number");
    if field.tag != "input" || !typed || field.hint.contains("search") {
        return None;
    }
    let text = &facts.text.bytes[..field.text_at.min(facts.text.len())];
    let text = &text[text.len().saturating_sub(SENTENCE)..];
    let fits = |secret| matches!(secret, Secret::Code | Secret::Phrase | Secret::Wifi | Secret::Person);
    // Short words mean other things too, a little way off: "Pin it".
    let near = |start: usize, end: usize| end - start > SHORT_WORD || end + NEAR >= text.len();
    let found = rules.secrets.find(text).filter(|found| fits(found.of) && near(found.start, found.end));
    found.map(|found| found.of).last()
}

/// Types that a person does not type into.
fn is_machine(kind: &str) -> bool {
    matches!(
        kind,
        "hidden" | "checkbox" | "radio" | "reset" | "file" | "range" | "color" | "search" | "date-local"
    )
}

fn secret_of(field: &Field, label: &str, rules: &Rules) -> Option<Secret> {
    let mut found = [false; ORDER.len()];
    for text in [field.hint.as_str(), label] {
        for word in rules.secrets.find(text.as_bytes()) {
            if let Some(place) = ORDER.iter().position(|secret| *secret == word.of) {
                found[place] = true;
            }
        }
    }
    let named = ORDER.iter().zip(found).find_map(|(secret, found)| found.then_some(*secret));
    match (field.tag, field.kind.as_str(), named) {
        (_, "password", Some(named))
            if !matches!(
                named,
                Secret::Account | Secret::Details | Secret::Birth | Secret::Expiry | Secret::Person
            ) =>
        {
            Some(named)
        }
        (_, "password", _) => Some(Secret::Password),
        (_, "email", Some(named)) if named != Secret::Password => Some(Secret::Account),
        ("select", _, Some(named)) => {
            matches!(named, Secret::Expiry | Secret::Birth | Secret::Details).then_some(named)
        }
        ("textarea", _, Some(named)) => (named == Secret::Phrase).then_some(named),
        (.., named) => named,
    }
}
