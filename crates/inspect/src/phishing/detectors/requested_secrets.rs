//! Determines which secrets the fields of a page ask for, by the words around them rather than by field type alone.

use std::collections::{BTreeMap, HashMap};

use super::MOST_OCCURRENCES;
use crate::phishing::facts::{Field, PageFacts};
use crate::phishing::rules::Rules;
use crate::phishing::rules::meanings::Secret;
use crate::phishing::rules::script_patterns::ScriptMark;

/// The secrets that a page asks for, each with the offsets of its first fields, and the forms that contain them.
#[derive(Debug, Default)]
pub(crate) struct RequestedSecrets {
    pub(crate) secrets: BTreeMap<Secret, Vec<usize>>,
    pub(crate) forms: Vec<usize>,
    /// The number of fields that a person would fill in.
    pub(crate) visible_fields: usize,
    /// The number of fields that ask for personal details.
    pub(crate) detail_fields: usize,
    /// One of the fields is a search field.
    pub(crate) has_search_field: bool,
    pub(crate) file_field: Option<usize>,
    /// A field that hides what is typed asks for an API key.
    has_hidden_key: bool,
    /// What a person reads at the fields that ask for API keys.
    pub(crate) key_labels: String,
}

impl RequestedSecrets {
    pub(crate) fn has(&self, secret: Secret) -> bool {
        self.secrets.contains_key(&secret)
    }

    /// Whether the page asks for API keys and for nothing else that is secret.
    pub(crate) fn only_api_keys(&self) -> bool {
        let harmless = |secret: &Secret| {
            matches!(
                secret,
                Secret::ApiKey | Secret::Account | Secret::Details | Secret::Birth | Secret::Expiry
            )
        };
        self.has(Secret::ApiKey) && self.secrets.keys().all(harmless)
    }

    /// The offset of the first field that asks for a secret.
    pub(crate) fn first(&self, secret: Secret) -> Option<usize> {
        self.secrets.get(&secret).and_then(|places| places.first().copied())
    }

    fn add(&mut self, secret: Secret, field: &Field) {
        let places = self.secrets.entry(secret).or_default();
        if places.len() < MOST_OCCURRENCES && !places.contains(&field.at) {
            places.push(field.at);
        }
        if let Some(form) = field.form
            && self.forms.last() != Some(&form)
        {
            self.forms.push(form);
        }
    }
}

/// How many bytes before a field may explain it.
const SENTENCE: usize = 200;
/// How many bytes before a field a word of at most [`SHORT_WORD`] bytes may explain it.
const NEAR: usize = 60;
const SHORT_WORD: usize = 4;

/// If a field matches several kinds, the first in this list wins.
const ORDER: [Secret; 15] = [
    Secret::Phrase,
    Secret::PrivateKey,
    Secret::Wifi,
    Secret::Session,
    Secret::MailPassword,
    Secret::Card,
    Secret::Cvv,
    Secret::Expiry,
    Secret::Code,
    Secret::Person,
    Secret::Birth,
    Secret::Password,
    Secret::ApiKey,
    Secret::Account,
    Secret::Details,
];
/// What makes the field of an API key one of a person's secrets after all.
const PERSONAL: [Secret; 9] = [
    Secret::Phrase,
    Secret::PrivateKey,
    Secret::Wifi,
    Secret::Session,
    Secret::MailPassword,
    Secret::Card,
    Secret::Cvv,
    Secret::Person,
    Secret::Password,
];
/// The fewest words of a recovery phrase.
const PHRASE_WORDS: usize = 12;

pub(crate) fn find_requested_secrets(facts: &PageFacts, rules: &Rules) -> RequestedSecrets {
    let labels: HashMap<&str, &str> =
        facts.labels.iter().map(|(id, text)| (id.as_str(), text.as_str())).collect();
    let mut requested = RequestedSecrets::default();
    let mut one_letter = Vec::new();
    let mut numbered: HashMap<&str, (usize, usize)> = HashMap::new();
    let mut short_fields = Vec::new();
    for (place, field) in facts.fields.iter().enumerate() {
        if field.kind == "file" {
            requested.file_field.get_or_insert(field.at);
        }
        if (field.disabled && !facts.has_script) || takes_no_text(&field.kind) {
            continue;
        }
        requested.visible_fields += 1;
        requested.has_search_field |= field.hint.contains("search");
        let label = labels.get(field.id.as_str()).copied().unwrap_or_default();
        let named = secret_of_field(field, label, rules);
        requested.detail_fields += usize::from(matches!(named, Some(Secret::Details | Secret::Birth)));
        let lone = matches!(named, None | Some(Secret::Details)) && label.is_empty();
        if let Some(secret) = lone.then(|| secret_in_sentence_before(field, facts, rules)).flatten().or(named)
        {
            requested.add(secret, field);
            requested.has_hidden_key |= secret == Secret::ApiKey && field.kind == "password";
            if secret == Secret::ApiKey && requested.key_labels.len() < SENTENCE {
                requested.key_labels.push_str(&field.shown);
                requested.key_labels.push_str(label);
            }
        }
        if field.tag == "input" && matches!(field.kind.as_str(), "" | "text" | "password") {
            short_fields.push(place);
        }
        if field.one_letter && field.tag == "input" {
            one_letter.push(place);
        }
        if let Some(stem) = &field.stem {
            numbered.entry(stem.as_str()).or_insert((0, place)).0 += 1;
        }
    }
    if (4..=9).contains(&one_letter.len()) {
        requested.add(Secret::Code, &facts.fields[one_letter[0]]);
    }
    let in_a_row =
        numbered.values().max().filter(|(count, _)| *count >= PHRASE_WORDS).map(|(_, place)| *place);
    let one_by_one = || short_fields.first().copied().filter(|_| short_fields.len() >= PHRASE_WORDS);
    if let Some(place) = in_a_row.or_else(one_by_one)
        && rules.secrets.find(&facts.text.bytes).any(|found| found.meaning == Secret::Phrase)
    {
        requested.add(Secret::Phrase, &facts.fields[place]);
    }
    keys_of_wallets(&mut requested, facts);
    // A field for an API key hides what is typed too.
    if let Some(at) = facts.marks.get(&ScriptMark::SecretField).filter(|_| !requested.has_hidden_key) {
        requested.secrets.entry(Secret::Password).or_insert_with(|| vec![*at]);
    }
    requested
}

/// A private key is that of a wallet, as good as its recovery phrase, if the page speaks of wallets. Servers and people have
/// private keys too.
fn keys_of_wallets(requested: &mut RequestedSecrets, facts: &PageFacts) {
    let Some(places) = requested.secrets.remove(&Secret::PrivateKey) else { return };
    let wallets = [&b"wallet"[..], b"metamask", b"ledger", b"trezor", b"cartera", b"billetera"];
    if wallets.iter().any(|word| memchr::memmem::find(&facts.text.bytes, word).is_some()) {
        requested.secrets.entry(Secret::Phrase).or_insert(places);
    }
}

/// What a field without a label asks for, by the sentence before it.
fn secret_in_sentence_before(field: &Field, facts: &PageFacts, rules: &Rules) -> Option<Secret> {
    let typed = matches!(field.kind.as_str(), "" | "text" | "tel" | "number");
    let long = field.tag == "textarea";
    if !(field.tag == "input" || long) || !typed || field.hint.contains("search") {
        return None;
    }
    let text = &facts.text.bytes[..field.text_at.min(facts.text.len())];
    let text = &text[text.len().saturating_sub(SENTENCE)..];
    let fits = |secret| match secret {
        Secret::Phrase | Secret::PrivateKey => true,
        Secret::Code | Secret::Wifi | Secret::Person => !long,
        _ => false,
    };
    // Short words have other meanings further away: "Pin it".
    let near = |start: usize, end: usize| end - start > SHORT_WORD || end + NEAR >= text.len();
    let found = rules.secrets.find(text).filter(|found| fits(found.meaning) && near(found.start, found.end));
    found.map(|found| found.meaning).last()
}

/// Field types that take no typed text.
fn takes_no_text(kind: &str) -> bool {
    matches!(
        kind,
        "hidden" | "checkbox" | "radio" | "reset" | "file" | "range" | "color" | "search" | "date-local"
    )
}

fn secret_of_field(field: &Field, label: &str, rules: &Rules) -> Option<Secret> {
    let mut found = [false; ORDER.len()];
    for text in [field.hint.as_str(), label] {
        for word in rules.secrets.find(text.as_bytes()) {
            if let Some(place) = ORDER.iter().position(|secret| *secret == word.meaning) {
                found[place] = true;
            }
        }
    }
    let named = ORDER.iter().zip(found).find_map(|(secret, found)| found.then_some(*secret));
    if is_api_key(field, label, found, rules) {
        return Some(Secret::ApiKey);
    }
    match (field.tag, field.kind.as_str(), named) {
        (_, "password", Some(named))
            if !matches!(
                named,
                Secret::Account
                    | Secret::Details
                    | Secret::Birth
                    | Secret::Expiry
                    | Secret::Person
                    | Secret::ApiKey
            ) =>
        {
            Some(named)
        }
        (_, "password", _) => Some(Secret::Password),
        (_, "email", Some(named)) if named != Secret::Password => Some(Secret::Account),
        ("select", _, Some(named)) => {
            matches!(named, Secret::Expiry | Secret::Birth | Secret::Details).then_some(named)
        }
        ("textarea", _, Some(named)) => {
            matches!(named, Secret::Phrase | Secret::PrivateKey | Secret::Session).then_some(named)
        }
        (.., named) => named,
    }
}

/// Whether a field asks for an API key and says so: its name in the markup alone proves nothing where it hides what is
/// typed, because nobody who types reads it.
fn is_api_key(field: &Field, label: &str, found: [bool; ORDER.len()], rules: &Rules) -> bool {
    let is_found = |secret: Secret| ORDER.iter().zip(found).any(|(known, found)| found && *known == secret);
    if !is_found(Secret::ApiKey) || field.tag != "input" || PERSONAL.iter().any(|secret| is_found(*secret)) {
        return false;
    }
    let says = |text: &str| rules.secrets.find(text.as_bytes()).any(|word| word.meaning == Secret::ApiKey);
    says(&field.shown) || says(label) || (field.kind != "password" && !is_found(Secret::Code))
}
