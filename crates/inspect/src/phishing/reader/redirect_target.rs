//! Finds where a script redirects: the literal that it assigns to `location`, directly or through a variable.

use super::encodings;
use super::literals::{cut, literal_at};
use crate::phishing::facts::PageFacts;
use crate::phishing::rules::hosts::Hosts;

/// How far after `location =` the assigned literal may start, and how much of a list of numbers is read.
const VALUE_WITHIN: usize = 48;
const LONGEST_CODES: usize = 2048;
/// Variables are looked up only in scripts up to this size, and at most this many, because a script that only
/// redirects is short.
const LONGEST_WITH_NAMES: usize = 4096;
const MOST_NAMES: usize = 20;

impl PageFacts {
    /// Records the redirect of a script that assigns the value at `from` to `location`.
    pub(crate) fn add_assigned_redirect(&mut self, text: &str, from: usize, place: usize, hosts: &Hosts) {
        let address = match value_at(text, from) {
            Value::Literal(address) => Some(address),
            Value::Name(name) if text.len() <= LONGEST_WITH_NAMES && self.variable_lookups < MOST_NAMES => {
                self.variable_lookups += 1;
                self.work += text.len();
                literal_of_variable(name, text)
            }
            Value::Name(_) | Value::Other => None,
        };
        if let Some(address) = address {
            self.add_scripted_redirect(hosts.target(&address), place);
        }
    }
}

/// The value that is assigned.
enum Value<'a> {
    /// A literal, decoded if it was encoded.
    Literal(String),
    /// A variable, perhaps passed to a decoding function.
    Name(&'a str),
    Other,
}

/// The value that starts here. It ends with its statement: what follows is assigned to something else.
fn value_at(text: &str, from: usize) -> Value<'_> {
    let mut depth = 0_usize;
    let mut begun = false;
    let mut end = text.len();
    for (at, byte) in text.bytes().enumerate().skip(from) {
        if at - from >= VALUE_WITHIN {
            return Value::Other;
        }
        match byte {
            b'"' | b'\'' | b'`' => {
                return literal_at(text, at)
                    .map_or(Value::Other, |literal| Value::Literal(unpacked(literal)));
            }
            b'(' | b'[' | b'{' => {
                if ends_in_char_codes(&text.as_bytes()[from..at]) {
                    return Value::Literal(encodings::char_codes(
                        cut(text, at, LONGEST_CODES),
                        LONGEST_CODES,
                    ));
                }
                depth += 1;
            }
            b')' | b']' | b'}' if depth > 0 => depth -= 1,
            b')' | b']' | b'}' | b';' => {
                end = at;
                break;
            }
            b',' | b'\n' if depth == 0 && begun => {
                end = at;
                break;
            }
            _ => {}
        }
        begun |= !byte.is_ascii_whitespace();
    }
    // `atob(name)` or `name`.
    let value = text.get(from..end).unwrap_or_default().trim().trim_end_matches(')');
    let name = value.rsplit('(').next().unwrap_or_default().trim();
    if !name.is_empty() && name.bytes().all(is_of_name) { Value::Name(name) } else { Value::Other }
}

fn ends_in_char_codes(before: &[u8]) -> bool {
    const CALL: &[u8] = b"fromcharcode";
    before.last_chunk::<{ CALL.len() }>().is_some_and(|end| end.eq_ignore_ascii_case(CALL))
}

fn unpacked(literal: String) -> String {
    encodings::decode_literal(&literal).filter(|text| text.starts_with("http")).unwrap_or(literal)
}

/// The literal that a variable is set to.
fn literal_of_variable(name: &str, text: &str) -> Option<String> {
    memchr::memmem::find_iter(text.as_bytes(), name.as_bytes()).find_map(|at| {
        let is_whole = at.checked_sub(1).is_none_or(|before| {
            let before = text.as_bytes()[before];
            !is_of_name(before) && before != b'.'
        });
        let behind = at + name.len();
        let sign =
            behind + text.as_bytes()[behind..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let is_set = text.as_bytes().get(sign) == Some(&b'=')
            && !matches!(text.as_bytes().get(sign + 1), Some(b'=' | b'>'));
        match (is_whole && is_set).then(|| value_at(text, sign + 1)) {
            Some(Value::Literal(literal)) => Some(literal),
            _ => None,
        }
    })
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phishing::rules::Rules;

    fn leads_to(code: &str) -> Vec<String> {
        let mut facts = PageFacts::default();
        super::super::script::read(code, 0, 0, &mut facts, &Rules::builtin());
        facts.scripted_redirects.iter().filter_map(|(target, _)| target.host().map(str::to_owned)).collect()
    }

    #[test]
    fn assigned_addresses_are_found_in_every_packing() {
        for code in [
            "location = 'https://a.invalid/x'",
            "location.href =\n  'https://a.invalid/x'",
            "location.replace((0, 'https://a.invalid/x'))",
            "location=atob('aHR0cHM6Ly9hLmludmFsaWQveA==')",
            "var to = atob('aHR0cHM6Ly9hLmludmFsaWQveA=='); location.assign(to)",
            "var to = 'aHR0cHM6Ly9hLmludmFsaWQveA=='; location.href = atob(to);",
            "const to=\"https://\"+\"a.invalid/x\";setTimeout(()=>location.replace(to),9)",
            "location = String.fromCharCode(104,116,116,112,115,58,47,47,97,46,105,110,118,97,108,105,100,47)",
        ] {
            assert_eq!(leads_to(code), ["a.invalid"], "{code}");
        }
    }

    #[test]
    fn what_a_script_fetches_is_not_where_it_leads() {
        for code in [
            "function go(u){window.location.assign(u)}fetch('https://api.invalid/x')",
            "location.href = u\nfetch('https://api.invalid/x')",
            "location.href=u,fetch('https://api.invalid/x')",
            "const location=useLocation(),api='https://api.invalid/x'",
            "items=[{url:'https://api.invalid/x'}];location.assign(items[0].url)",
            "if(u==='https://api.invalid/x')location.assign(u)",
            "fetch(atob('aHR0cHM6Ly9hcGkuaW52YWxpZC94'));location.assign(u)",
        ] {
            assert_eq!(leads_to(code), [""; 0], "{code}");
        }
    }
}
