//! Finds where data typed into a page would be sent, by form or by script.

use super::RuleHit;
use super::requested_secrets::RequestedSecrets;
use crate::phishing::facts::PageFacts;
use crate::phishing::rules::Rules;
use crate::phishing::rules::hosts::{HostKind, Target};
use crate::phishing::rules::rule::Rule;
use crate::phishing::rules::script_patterns::ScriptMark;

pub(crate) fn destinations(
    requested: &RequestedSecrets,
    facts: &PageFacts,
    files: &dyn Fn(&str) -> bool,
    rules: &Rules,
    hits: &mut Vec<RuleHit>,
) {
    let mut hit = |rule, at, detail: &str| hits.push(RuleHit { rule, at, detail: detail.to_owned() });
    for form in requested.forms.iter().filter_map(|form| facts.forms.get(*form)) {
        match &form.target {
            Target::Host(host, None) => hit(Rule::SentToOtherSite, form.at, host),
            Target::Local(path) if !files(path) && is_trap(path) => hit(Rule::PostedToTrap, form.at, path),
            Target::Local(path) if !files(path) && !is_page(path) => {
                hit(Rule::PostedToMissing, form.at, path);
            }
            Target::ServerScript(path) if is_collector(path) => hit(Rule::PostedToTrap, form.at, path),
            target => elsewhere(target, form.at, &mut hit),
        }
    }
    for (target, at) in &facts.destinations {
        match target {
            Target::Host(host, None) => hit(Rule::SentByScript, *at, host),
            target => elsewhere(target, *at, &mut hit),
        }
    }
    for (mark, at) in &facts.marks {
        if let ScriptMark::Host(number) = mark {
            let host = rules.script.host(*number);
            let kind = rules.hosts.kind(
                host.split('/').next().unwrap_or(host),
                host.split_once('/').map_or("", |(_, path)| path),
            );
            elsewhere(&Target::Host(host.to_owned(), kind), *at, &mut hit);
        }
    }
}

/// The rules that apply to a destination wherever it was found.
fn elsewhere(target: &Target, at: usize, hit: &mut impl FnMut(Rule, usize, &str)) {
    match target {
        Target::ServerScript(path) => hit(Rule::SentToServerScript, at, path),
        Target::Mail => hit(Rule::SentByMail, at, ""),
        Target::Address(host) => hit(Rule::SentToAddress, at, host),
        Target::Host(host, Some(HostKind::Bot)) => hit(Rule::SentToBot, at, host),
        Target::Host(host, Some(HostKind::Relay)) => hit(Rule::SentToRelay, at, host),
        _ => {}
    }
}

/// A reference to a host that the operator blocked, whatever the page asks for.
pub(crate) fn blocked(facts: &PageFacts, rules: &Rules) -> Option<RuleHit> {
    let forms = facts.forms.iter().map(|form| (&form.target, form.at));
    let sends = facts.destinations.iter().map(|(target, at)| (target, *at));
    let by_target = forms.chain(sends).find_map(|(target, at)| match target {
        Target::Host(host, Some(HostKind::Blocked)) => Some((at, host.clone())),
        _ => None,
    });
    let in_script = || {
        facts.marks.iter().find_map(|(mark, at)| {
            let ScriptMark::Host(number) = mark else { return None };
            let entry = rules.script.host(*number);
            let (host, path) = entry.split_once('/').unwrap_or((entry, ""));
            (rules.hosts.kind(host, path) == Some(HostKind::Blocked)).then(|| (*at, entry.to_owned()))
        })
    };
    let (at, detail) = facts.blocked.clone().or(by_target).or_else(in_script)?;
    Some(RuleHit { rule: Rule::BlockedAddress, at, detail })
}

/// Paths at which the tools of fake wireless networks collect what is typed.
fn is_trap(path: &str) -> bool {
    let first = path.trim_start_matches(['.', '/']).split('/').next().unwrap_or_default();
    let whole = path.trim_matches(['.', '/']);
    matches!(whole, "get" | "creds" | "credentials" | "harvest" | "grab" | "steal")
        || matches!(first, "captiveportal")
        || whole.starts_with("capture")
        || whole.starts_with("phish")
}

/// Names that the scripts of phishing kits have, and those of honest exercises (`login.php`, `register.php`) do not.
fn is_collector(path: &str) -> bool {
    let file = path.rsplit('/').next().unwrap_or(path);
    let name = file.split('.').next().unwrap_or(file);
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '_' | '-'));
    let whole = [
        "post",
        "posts",
        "posting",
        "log",
        "logs",
        "hook",
        "wall",
        "wait",
        "next",
        "snd",
        "send",
        "sent",
        "sender",
        "sm",
        "write",
        "done",
        "throwit",
        "capture",
        "harvest",
        "harvester",
        "grab",
        "grabber",
        "pass",
        "password",
        "userpass",
        "creds",
        "victim",
        "victims",
        "result",
        "results",
        "rezult",
        "rezultat",
        "tg",
        "telegram",
        "bot",
        "mailer",
        "email",
        "card",
        "cc",
        "carding",
        "billing",
        "bill",
        "otp",
        "sms",
        "vbv",
        "ver",
        "need",
        "inf",
        "info",
        "infos",
        "step",
        "logger",
        "finish",
        "steal",
        "stealer",
        "hit",
        "prohqcker",
        "xa",
        "terc",
        "mot",
    ];
    let begins =
        ["send_to", "sendto", "submit_email", "db_", "telegram", "harvest", "capture", "victim", "snd"];
    stem.is_empty() || whole.contains(&stem) || begins.iter().any(|start| name.starts_with(start))
}

fn is_page(path: &str) -> bool {
    path.ends_with('/')
        || path.rsplit_once('.').is_some_and(|(_, extension)| matches!(extension, "html" | "htm"))
}
