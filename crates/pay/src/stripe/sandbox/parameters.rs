//! Parameters of a request: a form, or the query of a GET. Every known parameter is taken out; what is left is unknown and
//! refused, so that a misspelt or unsupported parameter is not silently ignored.

use std::collections::{BTreeMap, btree_map::Entry};

use dropleaf_core::hex;
use sha2::{Digest, Sha256};

use super::api_error::ApiError;
use super::{LARGEST_AMOUNT, SMALLEST_AMOUNT};
use crate::amount::is_plain_decimal;
use crate::stripe::{Currency, Money};

const MOST_BYTES: usize = 64 * 1024;
const MOST_PARAMETERS: usize = 200;
const MOST_METADATA: usize = 50;
const LONGEST_METADATA_KEY: usize = 40;
const LONGEST_METADATA_VALUE: usize = 500;
const LONGEST_URL: usize = 5000;

pub(super) type Metadata = BTreeMap<String, String>;

/// Decoded parameters by name, such as `line_items[0][quantity]`.
#[derive(Clone)]
pub(super) struct Parameters(BTreeMap<String, String>);

impl Parameters {
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, ApiError> {
        if bytes.len() > MOST_BYTES {
            return Err(ApiError::invalid(None, "The request is too large."));
        }
        let mut parameters = BTreeMap::new();
        for (name, value) in form_urlencoded::parse(bytes) {
            let name = numbered(&name, &parameters);
            match parameters.entry(name) {
                Entry::Occupied(entry) => {
                    return Err(ApiError::invalid(None, "A parameter was sent twice.").at(entry.key()));
                }
                Entry::Vacant(entry) => entry.insert(value.into_owned()),
            };
            if parameters.len() > MOST_PARAMETERS {
                return Err(ApiError::invalid(None, "The request has too many parameters."));
            }
        }
        Ok(Self(parameters))
    }

    /// The same for the same parameters, in whatever order they are sent.
    pub(super) fn fingerprint(&self, method: &str, path: &str) -> String {
        let mut hash = Sha256::new();
        let pairs = self.0.iter().flat_map(|(name, value)| [name.as_str(), value.as_str()]);
        for part in [method, path].into_iter().chain(pairs) {
            hash.update(part.len().to_be_bytes());
            hash.update(part);
        }
        hex::encode(&hash.finalize())
    }

    /// An optional text; an empty one counts as absent.
    pub(super) fn text(&mut self, name: &str, longest: usize) -> Result<Option<String>, ApiError> {
        match self.0.remove(name) {
            Some(text) if text.chars().count() > longest => {
                Err(ApiError::invalid(None, "The value is too long.").at(name))
            }
            text => Ok(text.filter(|text| !text.is_empty())),
        }
    }

    pub(super) fn required(&mut self, name: &str, longest: usize) -> Result<String, ApiError> {
        self.text(name, longest)?.ok_or_else(|| ApiError::missing(name))
    }

    pub(super) fn integer(&mut self, name: &str) -> Result<Option<u64>, ApiError> {
        let not_a_number =
            || ApiError::invalid(Some("parameter_invalid_integer"), "The value is not an integer.").at(name);
        let text = self.text(name, 20)?;
        text.map(|text| {
            let number = if is_plain_decimal(&text) { text.parse().ok() } else { None };
            number.ok_or_else(not_a_number)
        })
        .transpose()
    }

    pub(super) fn time(&mut self, name: &str) -> Result<Option<i64>, ApiError> {
        let seconds = self.integer(name)?;
        let too_large =
            |_| ApiError::invalid(Some("parameter_invalid_integer"), "The time is too late.").at(name);
        seconds.map(i64::try_from).transpose().map_err(too_large)
    }

    pub(super) fn currency(&mut self, name: &str) -> Result<Currency, ApiError> {
        let text = self.required(name, 3)?.to_ascii_lowercase();
        Currency::parse(&text).ok_or_else(|| ApiError::invalid(None, "The currency is not known.").at(name))
    }

    /// An amount that can be charged.
    pub(super) fn price(&mut self, amount: &str, currency: &str) -> Result<Money, ApiError> {
        let currency = self.currency(currency)?;
        let minor_units = self.integer(amount)?.ok_or_else(|| ApiError::missing(amount))?;
        check_price(minor_units).map_err(|error| error.at(amount))?;
        Ok(Money { minor_units, currency })
    }

    /// A parameter that may be absent and must otherwise have one of these values.
    pub(super) fn one_of(&mut self, name: &str, values: &[&str]) -> Result<Option<String>, ApiError> {
        match self.text(name, 100)? {
            Some(value) if !values.contains(&value.as_str()) => {
                Err(ApiError::invalid(None, "The sandbox does not support this value.").at(name))
            }
            value => Ok(value),
        }
    }

    /// An address that a browser can be sent to.
    pub(super) fn url(&mut self, name: &str) -> Result<Option<String>, ApiError> {
        match self.text(name, LONGEST_URL)? {
            Some(url) if !(url.starts_with("https://") || url.starts_with("http://")) => {
                let message = "The URL must begin with https:// or http://.";
                Err(ApiError::invalid(Some("url_invalid"), message).at(name))
            }
            url => Ok(url),
        }
    }

    /// Members of a flat object, such as `metadata[feature]`.
    pub(super) fn metadata(&mut self, name: &str) -> Result<Metadata, ApiError> {
        let key = |parameter: &str| {
            let key = parameter.strip_prefix(name)?.strip_prefix('[')?.strip_suffix(']')?;
            (!key.contains(['[', ']'])).then(|| key.to_owned())
        };
        let taken = self.0.extract_if(.., |parameter, _| key(parameter).is_some());
        let metadata: Metadata =
            taken.filter_map(|(parameter, value)| Some((key(&parameter)?, value))).collect();
        let fits = |(key, value): (&String, &String)| {
            (1..=LONGEST_METADATA_KEY).contains(&key.chars().count())
                && value.chars().count() <= LONGEST_METADATA_VALUE
        };
        if metadata.len() > MOST_METADATA || !metadata.iter().all(fits) {
            let message = "Metadata has at most 50 keys of 40 characters with values of 500 characters.";
            return Err(ApiError::invalid(None, message).at(name));
        }
        Ok(metadata.into_iter().filter(|(_, value)| !value.is_empty()).collect())
    }

    /// Refuses what nobody took.
    pub(super) fn finish(self) -> Result<(), ApiError> {
        match self.0.keys().next() {
            Some(name) => {
                let message = "The sandbox does not know this parameter.";
                Err(ApiError::invalid(Some("parameter_unknown"), message).at(name))
            }
            None => Ok(()),
        }
    }
}

pub(super) fn check_price(minor_units: u64) -> Result<(), ApiError> {
    if minor_units < SMALLEST_AMOUNT {
        return Err(ApiError::invalid(Some("amount_too_small"), "The amount must be at least 50."));
    }
    if minor_units > LARGEST_AMOUNT {
        return Err(ApiError::invalid(
            Some("amount_too_large"),
            "The amount must have at most eight digits.",
        ));
    }
    Ok(())
}

/// Lists may be sent as `types[0]`, `types[1]` or as `types[]`, `types[]`; the second form is turned into the first.
fn numbered(name: &str, before: &BTreeMap<String, String>) -> String {
    let Some(list) = name.strip_suffix("[]") else { return name.to_owned() };
    let free = (0..=MOST_PARAMETERS).map(|n| format!("{list}[{n}]")).find(|name| !before.contains_key(name));
    free.unwrap_or_else(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Parameters {
        Parameters::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn lists_are_read_in_both_forms() {
        assert_eq!(parse("a[]=x&a[]=y").0, parse("a%5B0%5D=x&a[1]=y").0);
    }

    #[test]
    fn a_fingerprint_depends_on_parameters_and_not_on_their_order() {
        let of = |text: &str| parse(text).fingerprint("POST", "/v1/x");
        assert_eq!(of("a=1&b=2"), of("b=2&a=1"));
        assert_eq!(of("a=1&b=2"), of("%61=1&b=%32"));
        for other in ["a=1", "a=1&b=3", "a=2&b=1", "a=1b&=2"] {
            assert_ne!(of("a=1&b=2"), of(other), "{other}");
        }
        assert_ne!(of("a=1"), parse("a=1").fingerprint("POST", "/v1/y"));
    }

    #[test]
    fn metadata_is_flat_and_limited() {
        let mut parameters = parse("metadata[a]=1&metadata[b]=&metadata[c][d]=2&meta[e]=3");
        assert_eq!(parameters.metadata("metadata").unwrap(), Metadata::from([("a".into(), "1".into())]));
        assert_eq!(parameters.0.len(), 2);
        for text in [
            format!("metadata[{}]=x", "k".repeat(41)),
            format!("metadata[k]={}", "v".repeat(501)),
            (0..51).map(|n| format!("metadata[{n}]=x")).collect::<Vec<_>>().join("&"),
        ] {
            assert!(parse(&text).metadata("metadata").is_err());
        }
    }

    #[test]
    fn amounts_are_plain_integers_within_the_limits() {
        let price = |text: &str| parse(&format!("c=USD&a={text}")).price("a", "c");
        assert_eq!(price("50").unwrap(), Money::usd_cents(50));
        assert_eq!(price("99999999").unwrap(), Money::usd_cents(99_999_999));
        for text in ["", "49", "100000000", "1.5", "-1", "0x64", "+100", "099", "99999999999999999999999"] {
            assert!(price(text).is_err(), "{text}");
        }
    }

    #[test]
    fn too_much_is_refused() {
        let many = (0..=MOST_PARAMETERS).map(|n| format!("{n}=x")).collect::<Vec<_>>().join("&");
        let lists = "a[]=x&".repeat(MOST_PARAMETERS + 1);
        let long = "a".repeat(MOST_BYTES + 1);
        for text in [many.as_str(), &lists, &long, "a=1&a=2", "a[0]=1&a[0]=1"] {
            assert!(Parameters::parse(text.as_bytes()).is_err());
        }
    }
}
