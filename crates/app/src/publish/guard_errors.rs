//! The error for each guard of a transaction that can fail, and the daily publishing limit of a plan.

use crate::app::App;
use dropleaf_core::account::{self, Account};
use dropleaf_core::error::Fact;
use dropleaf_core::plan::Plan;
use dropleaf_core::rate::Rate;
use dropleaf_core::unlock::Sku;
use dropleaf_core::{Code, Error};
use dropleaf_store::{DbError, Stmt, accounts, anonymous_usage, blobs, counters, reports, sites, slugs};

/// The label of the daily publishing limit, in guards and counter keys.
pub(crate) const DAILY: &str = "plan_daily";

pub(crate) fn daily_rate(plan: &Plan) -> Rate {
    Rate { name: DAILY, limit: plan.publishes_a_day.unwrap_or(i64::MAX), window_seconds: 86_400 }
}

pub(crate) fn daily_key(account_id: &str) -> String {
    format!("{DAILY}:{account_id}")
}

/// Counts a publish of the day. None if the plan has no limit.
pub(crate) fn daily_quota_stmt(account: &Account, plan: &Plan, now: i64) -> Option<Stmt> {
    plan.publishes_a_day.map(|_| counters::take(&daily_key(&account.id), &daily_rate(plan), now))
}

impl App {
    /// The error for a failed guard.
    pub(crate) fn guard_error(&self, error: DbError, plan: Option<&Plan>) -> Error {
        let DbError::Guard(label) = error else { return error.into() };
        match label {
            slugs::TAKEN => Error::plain(Code::SlugTaken),
            sites::CHANGED => Error::new(Code::Conflict, "Another request is changing the page. Try again."),
            accounts::SUSPENDED => account::suspended(),
            anonymous_usage::SERVER_FULL | anonymous_usage::NETWORK_FULL => storage_full(label),
            reports::WAITING => Error::new(
                Code::Conflict,
                "The operator of this server may need to review the page, so its visibility cannot be changed to `burn` at the moment.",
            ),
            accounts::PAGE_LIMIT => self.with_unlock_hint(page_limit(plan)),
            DAILY => daily_limit(plan, self.now()),
            // The same large file was being garbage-collected at this moment; a retry stores it again.
            blobs::GONE => Error::plain(Code::StorageUnavailable).retry_after(1),
            other => {
                self.rate_refusal(other).unwrap_or_else(|| Error::internal(format!("guard {other} failed")))
            }
        }
    }

    /// Adds to a plan limit error which unlock lifts the limit and where to buy it, if anything is sold here.
    pub(crate) fn with_unlock_hint(&self, mut error: Error) -> Error {
        let sku = match error.code {
            Code::PlanPageLimit => Sku::HigherLimits,
            Code::PlanLifetimeLimit => Sku::MakePermanent,
            Code::PlanDomainLimit => Sku::CustomDomain,
            _ => return error,
        };
        if self.settings.payments.is_none() {
            return error;
        }
        let (name, base) = (sku.as_str(), self.hosts.base.url());
        error.detail.push_str(" Or buy a higher limit: POST /unlock?feature=");
        error.detail.push_str(name);
        error.detail.push('.');
        let url = format!("{base}/unlock?feature={name}");
        error.with_fact("unlock", Fact::Text(name.into())).with_fact("unlock_url", Fact::Text(url))
    }
}

/// The error if anonymous pages have used all their storage. Deleting some does not help before they are erased.
fn storage_full(label: &str) -> Error {
    let whose = if label == anonymous_usage::NETWORK_FULL { "from your network" } else { "on this server" };
    let detail = format!(
        "The storage for anonymous pages {whose} is full. Try again later or publish with an account."
    );
    Error::new(Code::AnonymousStorageFull, detail).retry_after(3600)
}

fn page_limit(plan: Option<&Plan>) -> Error {
    let (name, cap) =
        plan.map_or(("", 0), |plan| (plan.name.as_str(), plan.active_pages.unwrap_or_default()));
    Error::limit(Code::PlanPageLimit, format!("The {name} plan allows {cap} active pages."), "Delete one.")
}

fn daily_limit(plan: Option<&Plan>, now: i64) -> Error {
    let (cap, resets_in) = plan.map_or((0, 60), |plan| {
        let rate = daily_rate(plan);
        (rate.limit, rate.ends_at(now) - now)
    });
    Error::new(
        Code::PlanDailyLimit,
        format!("The plan allows {cap} publishes a day. The limit resets in {resets_in} s."),
    )
    .retry_after(resets_in)
}
