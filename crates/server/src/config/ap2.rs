//! Settings of AP2 mandates, from `[ap2]`: whose mandates are accepted, and how they name this server.

use super::Config;
use anyhow::{Context, Result, anyhow, ensure};
use dropleaf_app::{MandateSettings, Mode};
use dropleaf_pay::ap2::{Issuer, Issuers};
use serde_json::Value;
use std::path::Path;

/// The maximum size of the file with the keys, and of each name.
const FILE_BYTES: u64 = 1 << 20;
const NAME_CHARACTERS: usize = 255;

impl Config {
    /// The sandbox also trusts its test issuer, and only the sandbox does.
    pub(super) fn mandates(&self, mode: Mode) -> Result<MandateSettings> {
        let set = &self.ap2;
        let path = Path::new(&set.issuers_file);
        let mut issuers = match set.issuers_file.as_str() {
            "" => Vec::new(),
            _ => read_issuers(path).with_context(|| format!("in `ap2.issuers_file`, {}", path.display()))?,
        };
        match mode {
            Mode::Live => ensure!(
                !issuers.iter().any(Issuer::is_sandbox),
                "`ap2.issuers_file` contains the test issuer of the sandbox: anyone can sign in its name"
            ),
            Mode::Sandbox if issuers.iter().any(Issuer::is_sandbox) => {}
            Mode::Sandbox => issuers.push(Issuer::sandbox().map_err(|fault| anyhow!("{fault}"))?),
        }
        let issuers = Issuers::new(issuers).map_err(|fault| anyhow!("`ap2.issuers_file`: {fault}"))?;
        let merchant_id = name("ap2.merchant_id", &set.merchant_id)?;
        ensure!(
            !set.merchant_id.contains(char::is_whitespace),
            "`ap2.merchant_id` must not contain white space"
        );
        Ok(MandateSettings { issuers, merchant_id, payee_name: name("ap2.payee_name", &set.payee_name)? })
    }

    /// A warning about a setting that is valid but has no effect.
    pub(crate) fn ap2_warning(&self) -> Option<&'static str> {
        if self.ap2.issuers_file.is_empty() {
            return None;
        }
        match self.payments.mode.as_str() {
            "live" if self.stripe.secret_key.is_empty() => Some(
                "`ap2.issuers_file` has no effect without `stripe.secret_key`: mandates are charged by the card processor",
            ),
            "off" => Some("`ap2.issuers_file` has no effect while `payments.mode` is off"),
            _ => None,
        }
    }
}

fn read_issuers(path: &Path) -> Result<Vec<Issuer>> {
    let size = path.metadata().context("cannot read the file")?.len();
    ensure!(size <= FILE_BYTES, "the file is over {FILE_BYTES} bytes");
    let text = std::fs::read_to_string(path).context("cannot read the file")?;
    let set: Value = serde_json::from_str(&text).context("the file is not JSON")?;
    let keys = set.get("keys").and_then(Value::as_array);
    let keys = keys.context("the file is not a JSON Web Key Set: it has no array `keys`")?;
    ensure!(!keys.is_empty(), "the file contains no key");
    let issuer = |(at, key): (usize, &Value)| {
        Issuer::parse(&key.to_string()).map_err(|fault| anyhow!("key {}: {fault}", at + 1))
    };
    keys.iter().enumerate().map(issuer).collect()
}

/// A name for people or programs; `None` if it is not set.
fn name(setting: &str, text: &str) -> Result<Option<String>> {
    let fits = text.chars().count() <= NAME_CHARACTERS && !text.contains(char::is_control);
    ensure!(fits, "`{setting}` must have at most {NAME_CHARACTERS} characters and no control characters");
    ensure!(text.trim() == text, "`{setting}` must not begin or end with white space");
    Ok((!text.is_empty()).then(|| text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Layers, Resolved, Sources};
    use dropleaf_pay::payer::MandateKey;
    use serde_json::json;
    use std::io::Write;
    use tempfile::NamedTempFile;

    const CARDS: (&str, &str) = ("stripe.secret_key", "sk_live_hunter2");
    const LIVE: (&str, &str) = ("payments.mode", "live");

    fn resolve(flags: &[(&str, &str)]) -> Result<Resolved> {
        let flags = flags.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        Layers::load(&Sources { flags, ..Sources::default() })?.config()?.resolve(8080)
    }

    fn mandates(resolved: &Resolved) -> &MandateSettings {
        &resolved.settings.payments.as_ref().unwrap().mandates
    }

    fn jwk(kid: &str) -> Value {
        MandateKey::new(&[1; 32], kid).unwrap().jwk()
    }

    fn file(text: &str) -> (NamedTempFile, String) {
        let mut file = NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let path = file.path().display().to_string();
        (file, path)
    }

    #[test]
    fn only_the_sandbox_trusts_its_test_issuer() {
        let sandbox = resolve(&[]).unwrap();
        assert!(mandates(&sandbox).issuers.find("dropleaf-sandbox").is_some());
        let live = resolve(&[LIVE, CARDS]).unwrap();
        assert!(mandates(&live).issuers.is_empty());
        let sandbox = Issuer::sandbox().unwrap();
        assert!(sandbox.is_sandbox());
        let test_key = json!({"keys": [{
            "kty": "EC", "crv": "P-256", "kid": "bank",
            "x": "ysj3NHUeIOk9z3yhQK8oh0SZLxEj4WyBiuV3GtrQhIE", "y": "Cy5CHkLQP5PU2oNtyaBmCnQeD-t9mKZgqOFGIDNJj-U",
        }]});
        let (_file, path) = file(&test_key.to_string());
        assert!(resolve(&[("ap2.issuers_file", &path)]).is_ok());
        let error = resolve(&[LIVE, CARDS, ("ap2.issuers_file", &path)]).unwrap_err();
        assert!(format!("{error:#}").contains("test issuer"), "{error:#}");
    }

    #[test]
    fn issuers_come_from_a_key_set() {
        let (_file, path) = file(&json!({"keys": [jwk("one"), jwk("two")]}).to_string());
        let resolved = resolve(&[LIVE, CARDS, ("ap2.issuers_file", &path)]).unwrap();
        let issuers = &mandates(&resolved).issuers;
        assert!(issuers.find("one").is_some() && issuers.find("two").is_some());
        assert!(issuers.find("dropleaf-sandbox").is_none());
        assert_eq!(resolved.config.ap2_warning(), None);
        let off = resolve(&[("payments.mode", "off"), ("ap2.issuers_file", &path)]).unwrap();
        assert!(off.config.ap2_warning().is_some());
    }

    #[test]
    fn what_is_wrong_with_the_file_is_said() {
        let mut private = jwk("one");
        private["d"] = json!("hunter2");
        for (text, why) in [
            ("hunter2".to_owned(), "not JSON"),
            (jwk("one").to_string(), "no array `keys`"),
            (json!({"keys": []}).to_string(), "contains no key"),
            (json!({"keys": [jwk("one"), jwk("")]}).to_string(), "key 2: The key must have a kid"),
            (json!({"keys": [jwk("one"), jwk("one")]}).to_string(), "Two keys have the same kid"),
            (json!({"keys": [private]}).to_string(), "key 1: The key contains the private member d"),
            (json!({"keys": [{"kty": "RSA", "kid": "r"}]}).to_string(), "key 1: The key must have kty EC"),
        ] {
            let (_file, path) = file(&text);
            let error = resolve(&[("ap2.issuers_file", &path)]).unwrap_err();
            let shown = format!("{error:#}");
            assert!(shown.contains("ap2.issuers_file") && shown.contains(why), "{shown}");
            assert!(!shown.contains("hunter2"), "{shown}");
        }
        let error = resolve(&[("ap2.issuers_file", "/nonexistent/keys.json")]).unwrap_err();
        assert!(format!("{error:#}").contains("cannot read the file"), "{error:#}");
    }

    #[test]
    fn names_are_checked() {
        let resolved =
            resolve(&[("ap2.merchant_id", "urn:shop:7"), ("ap2.payee_name", "A shop & more")]).unwrap();
        let set = mandates(&resolved);
        assert_eq!(
            (set.merchant_id.as_deref(), set.payee_name.as_deref()),
            (Some("urn:shop:7"), Some("A shop & more"))
        );
        assert!(mandates(&resolve(&[]).unwrap()).merchant_id.is_none());
        let long = "a".repeat(256);
        for (setting, text) in [
            ("ap2.merchant_id", "a b"),
            ("ap2.merchant_id", " a"),
            ("ap2.merchant_id", long.as_str()),
            ("ap2.payee_name", "a\nb"),
            ("ap2.payee_name", "a "),
            ("ap2.payee_name", long.as_str()),
        ] {
            let error = resolve(&[(setting, text)]).unwrap_err();
            assert!(format!("{error:#}").contains(setting), "{error:#}");
        }
    }
}
