//! Detects the pages between the steps of a phishing kit. They ask for nothing: in somebody's name they say that something is
//! being checked or was limited, and lead on to a server-side program.

use super::mentions::Mentions;
use super::{LONG_TEXT, RuleHit};
use crate::phishing::facts::{PageFacts, zone};
use crate::phishing::rules::hosts::Target;
use crate::phishing::rules::meanings::Topic;
use crate::phishing::rules::rule::Rule;

/// `pays` says whether a name is that of a payment service: shops verify payments with those.
pub(super) fn between_steps(
    facts: &PageFacts,
    mentions: &Mentions,
    pays: &dyn Fn(&str) -> bool,
) -> Option<RuleHit> {
    let leads_on = facts.forms.iter().any(|form| matches!(form.target, Target::ServerScript(_)));
    if !leads_on || mentions.has_descriptive_title || facts.visible_len() > LONG_TEXT {
        return None;
    }
    let said = mentions.topics.get(&Topic::Checked)?;
    let (at, end) = said.iter().find(|(at, _)| facts.zone_at(*at) & (zone::LINK | zone::NAVIGATION) == 0)?;
    let of_payment = facts.text.bytes[*at..*end].starts_with(b"payment");
    let (.., name, _) =
        mentions.claims.iter().filter(|(_, name, _)| !(of_payment && pays(name))).find(|(rule, ..)| {
            matches!(
                rule,
                Rule::BrandInTitle
                    | Rule::BrandDisguised
                    | Rule::BrandSignature
                    | Rule::BrandAccount
                    | Rule::BrandCopyright
            )
        })?;
    Some(RuleHit { rule: Rule::BetweenSteps, at: facts.origin(*at), detail: name.clone() })
}
