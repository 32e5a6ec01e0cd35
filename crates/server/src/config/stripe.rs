//! Settings of the card processor, from `[stripe]`: how to call it, and how its webhooks are verified.

use super::Config;
use super::facilitator::{is_here, outside};
use anyhow::{Context, Result, bail, ensure};
use dropleaf_app::{CardSettings, Mode};
use dropleaf_pay::stripe::TokenSpelling;
use http::HeaderValue;
use reqwest::Url;
use std::fmt;
use std::time::Duration;

/// How long the processor may take. A charge waits for the bank of the cardholder.
const TIMEOUT: Duration = Duration::from_secs(40);
/// Secret keys and restricted keys.
const TEST_KEYS: [&str; 2] = ["sk_test_", "rk_test_"];
const LIVE_KEYS: [&str; 2] = ["sk_live_", "rk_live_"];
const WEBHOOK_SECRET: &str = "whsec_";
const LONGEST_SECRET: usize = 255;
/// The most webhook secrets at the same time: the old and the new one, for the endpoints of two accounts.
const MOST_WEBHOOK_SECRETS: usize = 4;

/// How to call the card processor.
#[derive(Clone)]
pub struct StripeSettings {
    /// Paths such as `/v1/payment_intents` are appended.
    pub api_url: Url,
    /// Marked as sensitive, so that no log shows it.
    pub authorization: HeaderValue,
    /// The value of `Stripe-Version`.
    pub version: HeaderValue,
    pub timeout: Duration,
}

impl fmt::Debug for StripeSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StripeSettings")
            .field("host", &self.api_url.host_str())
            .field("version", &self.version)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

impl Config {
    /// `None` unless payments are live and there is a key.
    pub(super) fn stripe(&self) -> Result<Option<Box<StripeSettings>>> {
        let set = &self.stripe;
        if self.payments.mode != "live" || set.secret_key.is_empty() {
            return Ok(None);
        }
        let api_url = outside("stripe.api_url", &set.api_url)?;
        ensure!(api_url.query().is_none(), "`stripe.api_url` must not have a query");
        ensure!(
            !self.has_test_key() || is_here(&api_url),
            "`stripe.secret_key` is a test key, but `payments.mode` is live: anyone who pays with a test card would get what is sold. \
             Use a key for real money (sk_live_… or rk_live_…), set the mode to sandbox, or set `stripe.api_url` to a test processor \
             on this machine (`dropleaf processor`)"
        );
        let authorization = HeaderValue::from_str(&format!("Bearer {}", set.secret_key));
        // The value is not repeated in the error: it is a secret.
        let mut authorization = authorization.ok().context(WRONG_KEY)?;
        authorization.set_sensitive(true);
        let plain = |b: u8| {
            b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'.' | b'_' | b';' | b'=')
        };
        let fits = (1..=100).contains(&set.version.len()) && set.version.bytes().all(plain);
        ensure!(fits, "`stripe.version` must be a version such as 2026-07-29.preview");
        let version = HeaderValue::from_str(&set.version).context("in `stripe.version`")?;
        Ok(Some(Box::new(StripeSettings { api_url, authorization, version, timeout: TIMEOUT })))
    }

    fn has_test_key(&self) -> bool {
        TEST_KEYS.iter().any(|prefix| self.stripe.secret_key.starts_with(prefix))
    }

    /// How cards are accepted: always in the sandbox, in live mode if there is a key.
    pub(super) fn cards(&self, mode: Mode) -> Result<Option<CardSettings>> {
        let set = &self.stripe;
        let is_key_of = |prefixes: [&str; 2]| {
            let name = prefixes.iter().find_map(|prefix| set.secret_key.strip_prefix(prefix));
            name.is_some_and(is_name)
        };
        let is_live_key = is_key_of(LIVE_KEYS);
        ensure!(set.secret_key.is_empty() || is_live_key || is_key_of(TEST_KEYS), WRONG_KEY);
        ensure!(
            !(mode == Mode::Sandbox && is_live_key),
            "`stripe.secret_key` is a key for real money, but `payments.mode` is sandbox: set the mode to live, or remove the key"
        );
        let is_secret = |text: &String| text.strip_prefix(WEBHOOK_SECRET).is_some_and(is_name);
        ensure!(
            set.webhook_secret.iter().all(is_secret),
            "`stripe.webhook_secret` must begin with whsec_: copy the signing secret of the webhook endpoint"
        );
        ensure!(
            set.webhook_secret.len() <= MOST_WEBHOOK_SECRETS,
            "`stripe.webhook_secret` must have at most {MOST_WEBHOOK_SECRETS} entries"
        );
        let token_spelling = match set.token_parameter.as_str() {
            "nested" => TokenSpelling::Nested,
            "top_level" => TokenSpelling::TopLevel,
            _ => bail!("`stripe.token_parameter` must be nested or top_level"),
        };
        let cards = CardSettings { webhook_secrets: set.webhook_secret.clone(), token_spelling };
        Ok((mode == Mode::Sandbox || !set.secret_key.is_empty()).then_some(cards))
    }

    /// Warnings for the operator about settings that are valid but probably a mistake.
    pub(crate) fn stripe_warnings(&self) -> Vec<&'static str> {
        let set = &self.stripe;
        let has_key = !set.secret_key.is_empty();
        let mut warnings = Vec::new();
        match self.payments.mode.as_str() {
            "live" if self.has_test_key() => warnings.push(
                "`stripe.secret_key` is a test key, but payments are live: card payments move no money, and anyone who pays with a \
                 test card gets what is sold",
            ),
            "live" if !has_key && !set.webhook_secret.is_empty() => {
                warnings.push("`stripe.webhook_secret` has no effect without `stripe.secret_key`");
            }
            "sandbox" if has_key => warnings.push(
                "`stripe.secret_key` has no effect while `payments.mode` is sandbox: this server simulates the card processor",
            ),
            "off" if has_key => {
                warnings.push("`stripe.secret_key` has no effect while `payments.mode` is off");
            }
            _ => {}
        }
        warnings
    }
}

const WRONG_KEY: &str = "`stripe.secret_key` must be a secret key (sk_live_… or sk_test_…) or a restricted key (rk_live_… or rk_test_…)";

/// Whether the part after the prefix is a plausible secret.
fn is_name(text: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'+' | b'/' | b'=');
    (1..=LONGEST_SECRET).contains(&text.len()) && text.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::facilitator::tests::PAY_TO;
    use crate::config::{Layers, Resolved, Sources};

    const KEY: (&str, &str) = ("stripe.secret_key", "sk_live_hunter2");
    const LIVE: (&str, &str) = ("payments.mode", "live");

    fn resolve(flags: &[(&str, &str)]) -> Result<Resolved> {
        let flags = flags.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        Layers::load(&Sources { flags, ..Sources::default() })?.config()?.resolve(8080)
    }

    fn cards(resolved: &Resolved) -> Option<&CardSettings> {
        resolved.settings.payments.as_ref().and_then(|payments| payments.cards.as_ref())
    }

    #[test]
    fn cards_alone_are_enough_for_live_payments() {
        let resolved = resolve(&[LIVE, KEY]).unwrap();
        assert!(resolved.facilitator.is_none() && cards(&resolved).is_some());
        let stripe = resolved.stripe.unwrap();
        assert_eq!(stripe.api_url.as_str(), "https://api.stripe.com/");
        assert_eq!(stripe.authorization, "Bearer sk_live_hunter2");
        assert_eq!(stripe.version, dropleaf_pay::stripe::API_VERSION);
        assert!(resolve(&[LIVE]).is_err());
    }

    #[test]
    fn crypto_alone_is_enough_and_needs_its_facilitator() {
        let wallet = ("payments.evm_pay_to", PAY_TO);
        let url = ("payments.facilitator_url", "https://pay.example.com");
        let resolved = resolve(&[LIVE, wallet, url]).unwrap();
        assert!(resolved.facilitator.is_some() && resolved.stripe.is_none() && cards(&resolved).is_none());
        assert!(resolve(&[LIVE, wallet, KEY]).is_err());
        let both = resolve(&[LIVE, wallet, url, KEY]).unwrap();
        assert!(both.facilitator.is_some() && both.stripe.is_some() && cards(&both).is_some());
    }

    #[test]
    fn the_sandbox_accepts_cards_and_refuses_keys_for_real_money() {
        let resolved = resolve(&[]).unwrap();
        assert!(cards(&resolved).is_some() && resolved.stripe.is_none());
        let error = resolve(&[KEY]).unwrap_err();
        assert!(format!("{error:#}").contains("real money"), "{error:#}");
        let tested = resolve(&[("stripe.secret_key", "sk_test_x")]).unwrap();
        assert!(tested.stripe.is_none());
        assert_eq!(tested.config.stripe_warnings().len(), 1);
    }

    #[test]
    fn a_test_key_in_live_mode_is_only_for_a_processor_on_this_machine() {
        for key in ["sk_test_hunter2", "rk_test_hunter2"] {
            let key = ("stripe.secret_key", key);
            for outside in ["https://api.stripe.com", "https://localhost.example.com", "https://10.0.0.1"] {
                let error = resolve(&[LIVE, key, ("stripe.api_url", outside)]).unwrap_err();
                let shown = format!("{error:#}");
                assert!(shown.contains("is a test key") && !shown.contains("hunter2"), "{shown}");
            }
            assert!(resolve(&[LIVE, key]).is_err(), "the default is the real processor");
            for here in ["http://localhost:12111", "http://127.0.0.1:12111", "http://[::1]:12111"] {
                let resolved = resolve(&[LIVE, key, ("stripe.api_url", here)]).unwrap();
                assert!(resolved.config.stripe_warnings()[0].contains("test key"), "{here}");
            }
        }
        assert!(resolve(&[LIVE, KEY]).unwrap().config.stripe_warnings().is_empty());
        assert!(resolve(&[]).unwrap().config.stripe_warnings().is_empty());
    }

    #[test]
    fn webhook_secrets_may_be_several_and_are_recognised() {
        let resolved = resolve(&[LIVE, KEY, ("stripe.webhook_secret", "whsec_a,whsec_b")]).unwrap();
        assert_eq!(cards(&resolved).unwrap().webhook_secrets, ["whsec_a", "whsec_b"]);
        for bad in
            ["a", "whsec_", "whsec_a,b", "sk_live_x", "whsec_a b", "whsec_1,whsec_2,whsec_3,whsec_4,whsec_5"]
        {
            assert!(resolve(&[LIVE, KEY, ("stripe.webhook_secret", bad)]).is_err(), "{bad}");
        }
    }

    #[test]
    fn wrong_values_are_refused_without_repeating_secrets() {
        for (name, value) in [
            ("stripe.secret_key", "hunter2"),
            ("stripe.secret_key", "pk_live_hunter2"),
            ("stripe.secret_key", "sk_live_"),
            ("stripe.secret_key", "sk_live_hunter2\n"),
            ("stripe.webhook_secret", "hunter2"),
            ("stripe.api_url", "http://api.example.com"),
            ("stripe.api_url", "https://api.example.com/?key=hunter2"),
            ("stripe.api_url", "hunter2"),
            ("stripe.version", ""),
            ("stripe.version", "2026 07"),
            ("stripe.token_parameter", "deep"),
        ] {
            let error = resolve(&[LIVE, KEY, (name, value)]).unwrap_err();
            let shown = format!("{error:#}");
            assert!(shown.contains(name) && !shown.contains("hunter2"), "{shown}");
        }
    }

    #[test]
    fn the_key_is_hidden() {
        let resolved = resolve(&[LIVE, KEY, ("stripe.webhook_secret", "whsec_hunter3")]).unwrap();
        let shown = format!("{:?} {:?}", resolved.stripe, resolved.settings.payments);
        assert!(shown.contains("api.stripe.com") && !shown.contains("hunter"), "{shown}");
    }
}
