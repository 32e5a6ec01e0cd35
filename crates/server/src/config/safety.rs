//! The checks before content is published, and the signals after it, from `[safety]`.

use super::facilitator::outside;
use super::{Config, OutboundEndpoint};
use anyhow::{Context, Result, bail, ensure};
use dropleaf_app::{CheckerSettings, NotificationRecipients, RuleBook, SafetySettings};
use dropleaf_core::attention::{AttentionRules, OnSignal};
use dropleaf_core::email;
use dropleaf_core::safety::{OnFailure, PiiCheck};
use dropleaf_inspect::phishing::OwnLists;
use http::{HeaderMap, HeaderName, HeaderValue};
use std::path::Path;
use std::time::Duration;

/// The maximum size of a list file.
const LIST_BYTES: u64 = 8 << 20;
/// Stands for the email addresses of all operator accounts.
const OPERATORS: &str = "operators";

impl Config {
    pub(crate) fn safety(&self) -> Result<SafetySettings> {
        let set = &self.safety;
        let pii_check =
            PiiCheck::parse(&set.pii_check).context("`safety.pii_check` must be off, warn or block")?;
        let on_failure = OnFailure::parse(&set.checker_failure)
            .context("`safety.checker_failure` must be accept or refuse")?;
        let sends_content = match set.checker_sends.as_str() {
            "addresses" => false,
            "content" => true,
            _ => bail!("`safety.checker_sends` must be addresses or content"),
        };
        let checker = CheckerSettings { sends_content, on_failure };
        Ok(SafetySettings {
            phishing_check: set.phishing_check,
            pii_check,
            rules: self.rule_book()?,
            checker: (!set.checker_url.is_empty()).then_some(checker),
            attention: self.attention()?,
        })
    }

    /// What happens to pages that need attention after they were published.
    fn attention(&self) -> Result<AttentionRules> {
        let set = &self.safety;
        let on_signal = OnSignal::parse(&set.attention)
            .context("`safety.attention` must be off, operator or interstitial")?;
        ensure!(
            (1..=720).contains(&set.attention_views_hours),
            "`safety.attention_views_hours` must be 1 to 720"
        );
        let count = |name: &str, count: u32, least: u32| {
            ensure!(count == 0 || count >= least, "`safety.{name}` must be 0 or at least {least}");
            Ok(i64::from(count))
        };
        Ok(AttentionRules {
            on_signal,
            reports: count("attention_reports", set.attention_reports, 2)?,
            views: count("attention_views", set.attention_views, 1)?,
            views_seconds: i64::from(set.attention_views_hours) * 3600,
            copies: count("attention_copies", set.attention_copies, 2)?,
        })
    }

    /// Who is notified by email of new reports and appeals.
    pub(super) fn notified(&self) -> Result<NotificationRecipients> {
        let mut notified = NotificationRecipients::default();
        for text in &self.safety.notify {
            if text == OPERATORS {
                notified.operators = true;
                continue;
            }
            let address = email::address(text).ok();
            let wrong =
                || format!("`safety.notify`: `{text}` is neither an email address nor the word operators");
            notified.addresses.push(address.with_context(wrong)?);
        }
        Ok(notified)
    }

    /// How to call the operator's external content check; `None` if there is none.
    pub(super) fn checker(&self) -> Result<Option<OutboundEndpoint>> {
        let set = &self.safety;
        if set.checker_url.is_empty() {
            return Ok(None);
        }
        let seconds = set.checker_timeout_seconds;
        ensure!((1..=60).contains(&seconds), "`safety.checker_timeout_seconds` must be 1 to 60");
        let mut headers = HeaderMap::new();
        for line in &set.checker_headers {
            // The line may hold a secret and is not repeated.
            let wrong = "`safety.checker_headers`: write `Name: value`";
            let (name, value) = line.split_once(':').context(wrong)?;
            let name: HeaderName = name.trim().parse().ok().context(wrong)?;
            let mut value = HeaderValue::from_str(value.trim()).ok().context(wrong)?;
            value.set_sensitive(true);
            headers.append(name, value);
        }
        let url = outside("safety.checker_url", &set.checker_url)?;
        Ok(Some(OutboundEndpoint { url, headers, timeout: Duration::from_secs(seconds) }))
    }

    fn rule_book(&self) -> Result<RuleBook> {
        Ok(self.own_lists()?.map(RuleBook::of).unwrap_or_default())
    }

    /// Reads the operator's lists; `None` if there are none. The built-in lists need no reading.
    pub(crate) fn own_lists(&self) -> Result<Option<OwnLists>> {
        let replaces = match self.safety.lists.as_str() {
            "extend" => false,
            "replace" => true,
            _ => bail!("`safety.lists` must be extend or replace"),
        };
        if self.safety.lists_dir.is_empty() {
            return Ok(None);
        }
        let dir = Path::new(&self.safety.lists_dir);
        let own = own_lists(dir, replaces);
        own.map(Some).with_context(|| format!("in `safety.lists_dir`, {}", dir.display()))
    }
}

fn own_lists(dir: &Path, replaces: bool) -> Result<OwnLists> {
    let known = OwnLists::FILES.join(", ");
    for entry in dir.read_dir().context("cannot read the folder")? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let is_list =
            Path::new(&name).extension().is_some_and(|extension| extension == "txt" || extension == "toml");
        ensure!(
            !is_list || OwnLists::FILES.contains(&name.as_str()),
            "there is no list named {name}; the lists are {known}"
        );
    }
    let mut own = OwnLists::new(replaces);
    for file in OwnLists::FILES {
        let path = dir.join(file);
        match path.metadata() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error).with_context(|| format!("cannot read {file}")),
            Ok(about) => ensure!(about.len() <= LIST_BYTES, "{file} is over {LIST_BYTES} bytes"),
        }
        let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {file}"))?;
        own.add(file, text)?;
    }
    ensure!(!own.is_empty(), "the folder contains none of {known}");
    Ok(own)
}
