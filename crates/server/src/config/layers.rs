//! Merges settings key by key, with clear errors for unknown keys and wrong values.

use super::{Config, DEFAULTS, list};
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// Variables with our prefix that are not settings.
const NOT_SETTINGS: [&str; 6] = ["CONFIG", "BIN", "API_KEY", "PAGE_PASSWORD", "URL", "TEST_"];
/// Never shown; the URL of a JSON-RPC server often contains its key.
const SECRET: [&str; 11] = [
    "secret_key",
    "database.read_urls",
    "stripe.secret_key",
    "stripe.webhook_secret",
    "s3.secret_access_key",
    "backup.secret_access_key",
    "payments.facilitator_headers",
    "payments.evm_rpc_url",
    "payments.solana_rpc_url",
    "safety.checker_url",
    "safety.checker_headers",
];

/// The sources of settings.
#[derive(Debug, Default, Clone)]
pub struct Sources {
    pub file: Option<PathBuf>,
    /// The environment, read once at start.
    pub env: Vec<(String, String)>,
    /// `key=value` from flags.
    pub flags: Vec<(String, String)>,
}

/// Every setting with its final value.
#[derive(Debug, Clone)]
pub struct Layers {
    values: BTreeMap<String, Value>,
}

impl Layers {
    pub fn load(sources: &Sources) -> Result<Self> {
        let defaults: Table = DEFAULTS.parse().context("the embedded defaults are broken")?;
        let mut layers = Self { values: BTreeMap::new() };
        flatten("", defaults, &mut layers.values);
        if let Some(path) = &sources.file {
            layers.lay_file(path)?;
        }
        for (name, text) in &sources.env {
            let Some(name) = name.strip_prefix("DROPLEAF_") else { continue };
            if NOT_SETTINGS
                .iter()
                .any(|other| name == *other || (other.ends_with('_') && name.starts_with(other)))
            {
                continue;
            }
            let key = name.to_lowercase().replace("__", ".");
            layers
                .lay_text(&key, text)
                .with_context(|| format!("in the environment variable DROPLEAF_{name}"))?;
        }
        for (key, text) in &sources.flags {
            layers.lay_text(key, text).context("in a flag")?;
        }
        Ok(layers)
    }

    pub fn config(&self) -> Result<Config> {
        let mut root = Table::new();
        for (key, value) in &self.values {
            let mut table = &mut root;
            let mut parts = key.split('.').peekable();
            while let Some(part) = parts.next() {
                if parts.peek().is_none() {
                    table.insert(part.to_owned(), value.clone());
                } else {
                    let next = table.entry(part).or_insert_with(|| Value::Table(Table::new()));
                    table = next.as_table_mut().context("a setting is both a value and a section")?;
                }
            }
        }
        Ok(root.try_into()?)
    }

    /// The settings as `key = value` lines, secrets hidden.
    pub fn show(&self) -> String {
        let line = |(key, value): (&str, Value)| format!("{key} = {value}");
        self.shown().into_iter().map(line).collect::<Vec<_>>().join("\n") + "\n"
    }

    /// Every setting with its value, secrets hidden.
    pub fn shown(&self) -> BTreeMap<&str, Value> {
        self.values.iter().map(|(key, value)| (key.as_str(), shown(key, value))).collect()
    }

    fn lay_file(&mut self, path: &Path) -> Result<()> {
        let text =
            std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let table: Table = text.parse().with_context(|| format!("{} is not valid TOML", path.display()))?;
        let mut values = BTreeMap::new();
        flatten("", table, &mut values);
        for (key, value) in values {
            self.lay(&key, value).with_context(|| format!("in {}", path.display()))?;
        }
        Ok(())
    }

    fn lay_text(&mut self, key: &str, text: &str) -> Result<()> {
        let value = match self.model_of(key) {
            Some(Value::Integer(_)) => Value::Integer(
                text.trim().parse().with_context(|| format!("`{key}` must be a whole number"))?,
            ),
            Some(Value::Boolean(_)) => match text.trim() {
                "true" | "1" | "yes" => Value::Boolean(true),
                "false" | "0" | "no" => Value::Boolean(false),
                _ => bail!("`{key}` must be true or false"),
            },
            Some(Value::Array(_)) => Value::Array(
                list::parse(text)
                    .with_context(|| format!("`{key}` is not a list"))?
                    .into_iter()
                    .map(Value::String)
                    .collect(),
            ),
            _ => Value::String(text.to_owned()),
        };
        self.lay(key, value)
    }

    fn lay(&mut self, key: &str, value: Value) -> Result<()> {
        let Some(model) = self.model_of(key) else {
            match self.nearest(key) {
                Some(near) => bail!("`{key}` is not a setting; did you mean `{near}`?"),
                None => bail!("`{key}` is not a setting"),
            }
        };
        if model.type_str() != value.type_str() {
            bail!("`{key}` must be {}, not {}", kind(&model), kind(&value));
        }
        self.values.insert(key.to_owned(), value);
        Ok(())
    }

    /// A value of the right type for this key. New plans may be added, with the fields of the `free` plan.
    fn model_of(&self, key: &str) -> Option<Value> {
        if let Some(value) = self.values.get(key) {
            return Some(value.clone());
        }
        let mut parts = key.split('.');
        match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some("plans"), Some(_), Some(field), None) => {
                self.values.get(&format!("plans.free.{field}")).cloned()
            }
            _ => None,
        }
    }

    fn nearest(&self, key: &str) -> Option<&str> {
        let closeness = |known: &&String| strsim::jaro_winkler(key, known);
        let best = self.values.keys().max_by(|a, b| closeness(a).total_cmp(&closeness(b)))?;
        (closeness(&best) > 0.7).then_some(best)
    }
}

fn flatten(prefix: &str, table: Table, out: &mut BTreeMap<String, Value>) {
    for (name, value) in table {
        let key = if prefix.is_empty() { name } else { format!("{prefix}.{name}") };
        match value {
            Value::Table(inner) => flatten(&key, inner, out),
            value => {
                out.insert(key, value);
            }
        }
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "a text",
        Value::Integer(_) => "a whole number",
        Value::Boolean(_) => "true or false",
        Value::Array(_) => "a list",
        Value::Float(_) => "a number",
        Value::Datetime(_) => "a date",
        Value::Table(_) => "a section",
    }
}

fn shown(key: &str, value: &Value) -> Value {
    let empty = value.as_str() == Some("") || value.as_array().is_some_and(Vec::is_empty);
    match value.as_str() {
        _ if empty => value.clone(),
        _ if SECRET.contains(&key) => Value::String("(hidden)".to_owned()),
        None => value.clone(),
        Some(text) => Value::String(without_secrets(text)),
    }
}

/// A URL without its password and without secret query parameters.
fn without_secrets(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let (authority, tail) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let authority = match authority.rsplit_once('@') {
        Some((user, host)) => match user.split_once(':') {
            Some((name, _)) => format!("{name}:(hidden)@{host}"),
            None => format!("{user}@{host}"),
        },
        None => authority.to_owned(),
    };
    let tail = match tail.split_once('?') {
        Some((path, query)) => {
            let parts = query.split('&').map(|part| match part.split_once('=') {
                Some((name, _)) if name.contains("secret") || name.contains("password") => {
                    format!("{name}=(hidden)")
                }
                _ => part.to_owned(),
            });
            format!("{path}?{}", parts.collect::<Vec<_>>().join("&"))
        }
        None => tail.to_owned(),
    };
    format!("{scheme}://{authority}{tail}")
}

#[cfg(test)]
mod tests;
