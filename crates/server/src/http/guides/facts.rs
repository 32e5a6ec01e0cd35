//! Collects the values that the guides mention about this server from its settings.

use crate::http::state::ApiState;
use dropleaf_app::RailStatus;
use dropleaf_core::expiry::ANONYMOUS_LIFE_SECONDS;
use dropleaf_core::host::Origin;
use dropleaf_core::ledger::dollars;
use dropleaf_core::oauth::GRANT_SECONDS;
use dropleaf_core::payment::Item;
use dropleaf_pages::{GuideFacts, PayFacts, PlanFacts, RailFacts, Size};

pub(in crate::http) fn guide_facts(state: &ApiState) -> GuideFacts {
    let resolved = &state.resolved;
    let (hosts, config) = (&resolved.hosts, &resolved.config);
    let plans = &resolved.settings.plans;
    let anonymous_hours = ANONYMOUS_LIFE_SECONDS / 3600;
    let size = |bytes: u64| Size(i64::try_from(bytes).unwrap_or(i64::MAX));
    GuideFacts {
        base_url: hosts.base.url(),
        site_url: hosts.site.url(),
        slug_url: hosts.slug_url("my-report"),
        anonymous_hours,
        hours: if anonymous_hours == 1 { "hour" } else { "hours" },
        upload: size(config.limits.upload_bytes),
        unpacked: size(config.limits.unpacked_bytes),
        files: config.limits.files,
        depth: config.limits.depth,
        name_bytes: config.limits.name_bytes,
        versions_kept: config.storage.versions_kept,
        restore_days: config.retention.restore_days,
        anonymous_per_hour: config.limits.anonymous_per_hour,
        anonymous_per_day: config.limits.anonymous_per_day,
        key_per_minute: config.limits.key_per_minute,
        grant_days: GRANT_SECONDS / 86_400,
        client_documents: config.oauth.client_documents,
        plans: plans.names().map(|name| PlanFacts::of(&plans.find(name))).collect(),
        pay: resolved.settings.payments.as_ref().map(|payments| PayFacts {
            publish: format!("${}", dollars(payments.prices.of(Item::Publish))),
            provision: format!("${}", dollars(payments.prices.of(Item::Provision))),
            publish_size: size(payments.publish_bytes),
            sandbox: payments.is_sandbox(),
            agents_url: hosts.agents.as_ref().map(Origin::url),
            rails: state.app.rails().iter().map(rail_facts).collect(),
        }),
    }
}

fn rail_facts(rail: &RailStatus) -> RailFacts {
    // The reason is a sentence, and so is the status.
    let status = match &rail.why {
        None => "live".to_owned(),
        Some(why) => format!("not live: {}", why.trim_end_matches('.')),
    };
    RailFacts { protocol: rail.protocol, status, how: rail.how }
}
