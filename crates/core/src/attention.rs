//! Rules for what can only be known after publishing: many reports, many views of a young page without an account that asks
//! for a secret, the same content from many networks. Pure; the numbers come from counts that exist without following anyone.

use crate::feedback::string_enum;
use crate::site::{Site, Visibility};

// What happens when a signal fires.
string_enum!(OnSignal: Off = "off", Operator = "operator", Interstitial = "interstitial");

string_enum!(Signal: ManyReports = "many_reports", ManyViews = "many_views", ManyCopies = "many_copies");

// What a page asks its viewers for.
string_enum!(RequestedSecret: Password = "password", Card = "card", RecoveryPhrase = "recovery_phrase");

impl Signal {
    /// The signal as a heading for operators.
    pub const fn title(self) -> &'static str {
        match self {
            Self::ManyReports => "Reported from many networks",
            Self::ManyViews => "Many views soon after publishing",
            Self::ManyCopies => "Same content from many networks",
        }
    }
}

impl RequestedSecret {
    const fn with_article(self) -> &'static str {
        match self {
            Self::Password => "a password",
            Self::Card => "a payment card",
            Self::RecoveryPhrase => "a recovery phrase",
        }
    }
}

/// The operator's settings. A threshold of 0 turns its signal off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttentionRules {
    pub on_signal: OnSignal,
    /// Networks with an open report about the page.
    pub reports: i64,
    /// Views of a page without an account, and its greatest age at that time.
    pub views: i64,
    pub views_seconds: i64,
    /// Networks that published the same content without an account.
    pub copies: i64,
}

impl Default for AttentionRules {
    fn default() -> Self {
        Self { on_signal: OnSignal::Operator, reports: 5, views: 100, views_seconds: 24 * 3600, copies: 10 }
    }
}

/// What was counted about a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Observation {
    /// Different networks with open reports.
    Reports { networks: i64 },
    /// Views up to a time, and what the page asks for.
    Views { at: i64, secret: Option<RequestedSecret> },
    /// Different networks that published the page's content.
    Copies { networks: i64 },
}

/// A signal that fires, with a sentence for the operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alert {
    pub signal: Signal,
    pub detail: String,
}

impl AttentionRules {
    /// The threshold of a signal; `None` if it is off.
    pub fn threshold(&self, signal: Signal) -> Option<i64> {
        let threshold = match signal {
            Signal::ManyReports => self.reports,
            Signal::ManyViews => self.views,
            Signal::ManyCopies => self.copies,
        };
        (self.on_signal != OnSignal::Off && threshold > 0).then_some(threshold)
    }

    /// Whether viewers get a warning before a page for which a signal fires.
    pub fn warns(&self) -> bool {
        self.on_signal == OnSignal::Interstitial
    }

    /// Whether this page is shown only after the warning. The button of a burn-after-read page comes first anyway, and does
    /// not load the page twice.
    pub fn warns_before(&self, site: &Site) -> bool {
        site.warned_at.is_some() && self.warns() && site.visibility != Visibility::Burn
    }

    /// Whether so many views of this page would mean something now. The content of an encrypted page is unknown.
    pub fn watches_views(&self, site: &Site, now: i64) -> bool {
        site.account_id.is_none()
            && !site.e2e
            && site.created_at > self.views_since(now)
            && self.threshold(Signal::ManyViews).is_some()
    }

    /// Pages published later than this are young.
    pub const fn views_since(&self, now: i64) -> i64 {
        now.saturating_sub(self.views_seconds)
    }

    /// Whether what was counted about a page puts it before the operator.
    pub fn evaluate(&self, site: &Site, seen: Observation) -> Option<Alert> {
        let reached = |signal, count| self.threshold(signal).is_some_and(|threshold| count >= threshold);
        let (signal, detail) = match seen {
            Observation::Reports { networks } if reached(Signal::ManyReports, networks) => {
                (Signal::ManyReports, format!("Reports about this page came from {networks} networks."))
            }
            Observation::Views { at, secret: Some(secret) }
                if self.watches_views(site, at) && reached(Signal::ManyViews, site.view_count) =>
            {
                let (views, secret) = (site.view_count, secret.with_article());
                let age = age(at.saturating_sub(site.created_at));
                (Signal::ManyViews, format!("It asks for {secret} and had {views} views within {age}."))
            }
            Observation::Copies { networks }
                if site.account_id.is_none() && reached(Signal::ManyCopies, networks) =>
            {
                let detail =
                    format!("Its main document was published from {networks} networks without an account.");
                (Signal::ManyCopies, detail)
            }
            _ => return None,
        };
        Some(Alert { signal, detail })
    }
}

/// A duration, rounded up to minutes or hours.
fn age(seconds: i64) -> String {
    let up = |unit: i64| seconds.max(1).div_euclid(unit) + i64::from(seconds.max(1).rem_euclid(unit) > 0);
    match (up(60), up(3600)) {
        (1, _) => "a minute".to_owned(),
        (minutes @ ..=90, _) => format!("{minutes} minutes"),
        (_, hours) => format!("{hours} hours"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3600;
    const PASSWORD: Option<RequestedSecret> = Some(RequestedSecret::Password);

    fn rules() -> AttentionRules {
        AttentionRules {
            on_signal: OnSignal::Operator,
            reports: 3,
            views: 10,
            views_seconds: 2 * HOUR,
            copies: 4,
        }
    }

    /// A page without an account, published at 1000.
    fn site() -> Site {
        Site { account_id: None, created_at: 1000, view_count: 10, ..crate::site_change::tests::site() }
    }

    fn fires(rules: AttentionRules, site: &Site, seen: Observation) -> Option<Signal> {
        rules.evaluate(site, seen).map(|alert| alert.signal)
    }

    #[test]
    fn reports_of_so_many_networks_are_a_signal_about_any_page() {
        let owned = Site { account_id: Some("acct_1".into()), ..site() };
        for page in [site(), owned, Site { e2e: true, ..site() }] {
            let seen = |networks| fires(rules(), &page, Observation::Reports { networks });
            assert_eq!((seen(2), seen(3)), (None, Some(Signal::ManyReports)));
        }
    }

    #[test]
    fn views_are_a_signal_at_the_threshold_and_not_one_below() {
        let seen = |views| {
            let page = Site { view_count: views, ..site() };
            fires(rules(), &page, Observation::Views { at: 1000 + HOUR, secret: PASSWORD })
        };
        assert_eq!((seen(9), seen(10)), (None, Some(Signal::ManyViews)));
    }

    #[test]
    fn views_of_old_owned_encrypted_or_harmless_pages_are_no_signal() {
        let seen = |page: &Site, at, secret| fires(rules(), page, Observation::Views { at, secret });
        assert!(seen(&site(), 1000 + 2 * HOUR - 1, PASSWORD).is_some());
        assert_eq!(seen(&site(), 1000 + 2 * HOUR, PASSWORD), None);
        assert_eq!(seen(&Site { account_id: Some("acct_1".into()), ..site() }, 1001, PASSWORD), None);
        assert_eq!(seen(&Site { e2e: true, ..site() }, 1001, PASSWORD), None);
        assert_eq!(seen(&site(), 1001, None), None);
    }

    #[test]
    fn copies_are_a_signal_about_pages_without_an_account() {
        let seen = |page: &Site, networks| fires(rules(), page, Observation::Copies { networks });
        assert_eq!((seen(&site(), 3), seen(&site(), 4)), (None, Some(Signal::ManyCopies)));
        assert_eq!(seen(&Site { account_id: Some("acct_1".into()), ..site() }, 4), None);
    }

    #[test]
    fn zero_turns_one_signal_off_and_the_switch_all_of_them() {
        let all = [
            (Signal::ManyReports, Observation::Reports { networks: 99 }),
            (Signal::ManyViews, Observation::Views { at: 1001, secret: PASSWORD }),
            (Signal::ManyCopies, Observation::Copies { networks: 99 }),
        ];
        let none = AttentionRules { reports: 0, views: 0, copies: 0, ..rules() };
        let off = AttentionRules { on_signal: OnSignal::Off, ..rules() };
        for (signal, seen) in all {
            assert_eq!(fires(rules(), &site(), seen), Some(signal));
            for quiet in [none, off] {
                assert_eq!((quiet.threshold(signal), fires(quiet, &site(), seen)), (None, None));
            }
        }
        assert!(!none.watches_views(&site(), 1001) && !off.watches_views(&site(), 1001));
    }

    #[test]
    fn viewers_are_warned_only_where_the_operator_wants_it_and_not_before_a_burn_page() {
        let warned = Site { warned_at: Some(5), ..site() };
        let warning = AttentionRules { on_signal: OnSignal::Interstitial, ..rules() };
        assert!(warning.warns_before(&warned) && !warning.warns_before(&site()));
        assert!(!rules().warns_before(&warned));
        assert!(!warning.warns_before(&Site { visibility: Visibility::Burn, ..warned }));
    }

    #[test]
    fn a_sentence_says_what_was_counted() {
        let detail = |seen| rules().evaluate(&site(), seen).map(|alert| alert.detail).unwrap();
        assert_eq!(
            detail(Observation::Views { at: 1000 + 61, secret: Some(RequestedSecret::Card) }),
            "It asks for a payment card and had 10 views within 2 minutes."
        );
        assert!(detail(Observation::Reports { networks: 3 }).contains("from 3 networks"));
        assert!(detail(Observation::Copies { networks: 4 }).contains("from 4 networks"));
        assert_eq!(
            (age(0), age(60), age(5400), age(5401)),
            ("a minute".into(), "a minute".into(), "90 minutes".into(), "2 hours".into())
        );
    }
}
