//! Finds API keys and tokens by their prefix, their length and, where there is one, their checksum.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use memchr::memmem;

use super::checks;

struct KeyFormat {
    kind: &'static str,
    prefix: &'static str,
    /// Which characters may follow the prefix, and how many.
    allows: fn(u8) -> bool,
    least: usize,
    most: usize,
    /// Distinguishes keys from placeholders.
    check: fn(&[u8]) -> bool,
}

const fn key(
    kind: &'static str,
    prefix: &'static str,
    allows: fn(u8) -> bool,
    least: usize,
    most: usize,
) -> KeyFormat {
    KeyFormat { kind, prefix, allows, least, most, check: is_varied }
}

const fn checksummed_key(kind: &'static str, prefix: &'static str) -> KeyFormat {
    KeyFormat { kind, prefix, allows: is_alnum, least: 36, most: 36, check: checks::token }
}

const KEYS: &[KeyFormat] = &[
    // Issued by this server: `core::secret` creates both, with the same checksum as GitHub tokens.
    checksummed_key("dropleaf API key", "stk_live_"),
    checksummed_key("dropleaf claim token", "clm_"),
    key("AWS access key", "AKIA", is_upper, 16, 16),
    key("AWS access key", "ASIA", is_upper, 16, 16),
    checksummed_key("GitHub token", "ghp_"),
    checksummed_key("GitHub token", "gho_"),
    checksummed_key("GitHub token", "ghu_"),
    checksummed_key("GitHub token", "ghs_"),
    checksummed_key("GitHub token", "ghr_"),
    key("GitHub token", "github_pat_", is_word, 82, 82),
    checksummed_key("npm token", "npm_"),
    key("GitLab token", "glpat-", is_dashed, 20, 64),
    key("PyPI token", "pypi-AgEIcHlwaS5vcmc", is_dashed, 50, 400),
    key("Slack token", "xoxb-", is_dashed, 20, 120),
    key("Slack token", "xoxp-", is_dashed, 20, 120),
    key("Slack token", "xapp-", is_dashed, 20, 160),
    key("Slack webhook", "hooks.slack.com/services/T", is_path, 30, 80),
    key("Discord webhook", "discord.com/api/webhooks/", is_path, 60, 120),
    key("Stripe key", "sk_live_", is_alnum, 16, 128),
    key("Stripe key", "rk_live_", is_alnum, 16, 128),
    key("Google API key", "AIza", is_dashed, 35, 35),
    key("OpenAI key", "sk-proj-", is_dashed, 40, 256),
    key("Anthropic key", "sk-ant-", is_dashed, 40, 256),
    key("Hugging Face token", "hf_", is_alnum, 34, 40),
    key("SendGrid key", "SG.", is_dotted, 60, 80),
    key("Shopify token", "shpat_", is_hex, 32, 32),
    key("Square token", "sq0atp-", is_dashed, 22, 43),
    key("DigitalOcean token", "dop_v1_", is_hex, 64, 64),
    key("Databricks token", "dapi", is_hex, 32, 32),
    key("Twilio key", "twilio.com/2010-04-01/Accounts/AC", is_hex, 32, 32),
    key("Azure storage key", "AccountKey=", is_base64, 86, 88),
];

const PRIVATE_KEY: &str = "-----BEGIN ";
/// A Telegram bot token: the bot's number, a colon and 35 characters that begin with AA.
const BOT_TOKEN: &str = ":AA";

/// All prefixes. No prefix occurs inside another where a key could begin.
static STARTS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let starts = KEYS.iter().map(|key| key.prefix).chain([PRIVATE_KEY, BOT_TOKEN]);
    // Building fails only when the patterns exceed the limits of the automaton; then nothing is found.
    AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(starts).ok()
});

pub(crate) fn find(text: &str) -> Vec<(usize, &'static str)> {
    let bytes = text.as_bytes();
    let found = STARTS.iter().flat_map(|starts| starts.find_iter(bytes));
    found
        .filter_map(|start| {
            let at = start.start();
            match KEYS.get(start.pattern().as_usize()) {
                Some(key) => key.is_at(at, bytes).then_some((at, key.kind)),
                None if bytes[at] == b'-' => {
                    is_private_key(&bytes[start.end()..]).then_some((at, "private key"))
                }
                None => bot_token(bytes, at).map(|at| (at, "Telegram bot token")),
            }
        })
        .collect()
}

impl KeyFormat {
    fn is_at(&self, at: usize, bytes: &[u8]) -> bool {
        let body = &bytes[at + self.prefix.len()..];
        let len = body.iter().take(self.most + 1).take_while(|byte| (self.allows)(**byte)).count();
        let stands_alone =
            at == 0 || !is_base64(bytes[at - 1]) || bytes[at - 1] == b'=' || bytes[at - 1] == b'/';
        stands_alone && (self.least..=self.most).contains(&len) && (self.check)(&body[..len])
    }
}

/// `-----BEGIN … PRIVATE KEY-----` followed by key data.
fn is_private_key(rest: &[u8]) -> bool {
    let rest = &rest[..rest.len().min(189)];
    memmem::find(&rest[..rest.len().min(40)], b"PRIVATE KEY")
        .is_some_and(|end| rest[end..].iter().filter(|byte| is_base64(**byte)).count() >= 60)
}

/// The start of the bot token whose colon is at this offset.
fn bot_token(bytes: &[u8], colon: usize) -> Option<usize> {
    let digits = bytes[..colon].iter().rev().take(11).take_while(|byte| byte.is_ascii_digit()).count();
    let rest = bytes[colon + 1..].iter().take(36).take_while(|byte| is_dashed(**byte)).count();
    ((8..=10).contains(&digits) && rest == 35).then(|| colon - digits)
}

/// Placeholders repeat few characters: `xxxxxxxx`; in a long key, `YOUR_KEY_HERE` is not varied enough either.
fn is_varied(body: &[u8]) -> bool {
    let mut seen = [false; 256];
    for byte in body {
        seen[usize::from(*byte)] = true;
    }
    seen.iter().filter(|seen| **seen).count() * 3 >= body.len().min(24)
}

fn is_upper(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

fn is_alnum(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn is_hex(byte: u8) -> bool {
    byte.is_ascii_hexdigit()
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn is_dashed(byte: u8) -> bool {
    is_word(byte) || byte == b'-'
}

fn is_dotted(byte: u8) -> bool {
    is_dashed(byte) || byte == b'.'
}

fn is_path(byte: u8) -> bool {
    is_dashed(byte) || byte == b'/'
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<&'static str> {
        find(text).into_iter().map(|(_, kind)| kind).collect()
    }

    #[test]
    fn keys_are_known_by_their_shape() {
        let telegram = format!("{}:AA{}", "123456789", "Hf2kQ9zX7vB3nM5pL8tR1yW4cD6gJ0sEu");
        let private = format!("-----BEGIN RSA PRIVATE KEY-----\n{}\n", "MIIEow9".repeat(12));
        for (text, kind) in [
            ("key = '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'", "GitHub token"),
            ("AKIAIOSFODNN7EXAMPLQ", "AWS access key"),
            ("\"AIzaSyD3kQ9zX7vB-3nM5pL8tR1yW4cD6gJ0sEu\"", "Google API key"),
            ("DROPLEAF_API_KEY=stk_live_q7Zt3VhY9mKx2RbN5wLc8PdF4sGj1A0Dz0Uy", "dropleaf API key"),
            ("Bearer stk_live_q7Zt3VhY9mKx2RbN5wLc8PdF4sGj1A0Dz0Uy", "dropleaf API key"),
            ("{\"claim_token\":\"clm_q7Zt3VhY9mKx2RbN5wLc8PdF4sGj1A0Dz0Uy\"}", "dropleaf claim token"),
            (telegram.as_str(), "Telegram bot token"),
            (private.as_str(), "private key"),
        ] {
            assert_eq!(kinds(text), [kind], "{text}");
        }
        let beside = "hf_=AKIAIOSFODNN7EXAMPLQ,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";
        assert_eq!(kinds(beside), ["AWS access key", "GitHub token"]);
    }

    #[test]
    fn placeholders_and_look_alikes_are_not_keys() {
        for text in [
            "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "ghp_zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ0mLq18",
            "stk_live_A1jGs4FdP8cLw5NbR2xKm9YhV3tZ7q0Dz0Uy",
            "clm_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "stk_live_…",
            "AKIAXXXXXXXXXXXXXXXX",
            "dataAKIAIOSFODNN7EXAMPLQ",
            "AKIAIOSFODNN7EXAMPLQQ",
            "sk_live_...",
            "-----BEGIN PUBLIC KEY-----\nMIIEow",
            "-----BEGIN PRIVATE KEY-----\n…\n",
            "12:AAfoo",
        ] {
            assert_eq!(kinds(text), [""; 0], "{text}");
        }
    }
}
