//! Decides whether a page may be shown now. Pure: the same row and time always give the same decision.
//! The order matters (gone → expired → suspended → gates), so that an unauthorized viewer learns nothing from behind a gate.

use crate::Code;
use crate::site::{State, Visibility};

/// The fields of a site that access depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccessRules {
    pub state: State,
    pub visibility: Visibility,
    pub expires_at: Option<i64>,
    pub has_password: bool,
    pub has_email_gate: bool,
    /// The owner's account is suspended.
    pub is_suspended: bool,
}

/// The gates the viewer has passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Passes {
    pub password: bool,
    pub email: bool,
}

impl Passes {
    pub const ALL: Self = Self { password: true, email: true };
}

/// The decision for a viewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Serve,
    /// Not shown to any viewer: permanently gone, or suspended.
    Gone(Code),
    Ask(Gate),
    /// The page is deleted after its first view, so nothing is shown until the viewer confirms.
    Reveal,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    Password,
    Email,
}

impl AccessRules {
    pub const fn is_gated(&self) -> bool {
        self.has_password || self.has_email_gate
    }

    /// Whether any viewer gets the page, without passing a gate and without ending it. Only such a page may be shown from an
    /// old row when the current one cannot be read.
    pub fn is_open_to_all(&self, now: i64) -> bool {
        decide(self, Passes::default(), now) == Access::Serve
    }
}

pub fn decide(rules: &AccessRules, passes: Passes, now: i64) -> Access {
    match rules.state {
        State::Deleted => return Access::Gone(Code::Deleted),
        State::Burnt => return Access::Gone(Code::Burnt),
        State::TakenDown => return Access::Gone(Code::TakenDown),
        State::Expired => return Access::Gone(Code::Expired),
        State::Live => {}
    }
    if rules.expires_at.is_some_and(|at| at <= now) {
        return Access::Gone(Code::Expired);
    }
    if rules.is_suspended {
        return Access::Gone(Code::AccountSuspended);
    }
    if rules.has_password && !passes.password {
        return Access::Ask(Gate::Password);
    }
    if rules.has_email_gate && !passes.email {
        return Access::Ask(Gate::Email);
    }
    if rules.visibility == Visibility::Burn {
        return Access::Reveal;
    }
    Access::Serve
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPEN: AccessRules = AccessRules {
        state: State::Live,
        visibility: Visibility::Unlisted,
        expires_at: None,
        has_password: false,
        has_email_gate: false,
        is_suspended: false,
    };

    const NONE: Passes = Passes { password: false, email: false };

    #[test]
    fn a_live_page_is_served_until_the_second_it_expires() {
        assert_eq!(decide(&OPEN, NONE, 10), Access::Serve);
        let ends = AccessRules { expires_at: Some(11), ..OPEN };
        assert_eq!(decide(&ends, NONE, 10), Access::Serve);
        assert_eq!(decide(&ends, NONE, 11), Access::Gone(Code::Expired));
    }

    #[test]
    fn what_is_gone_says_why_even_behind_a_gate() {
        for (state, code) in [
            (State::Deleted, Code::Deleted),
            (State::Burnt, Code::Burnt),
            (State::TakenDown, Code::TakenDown),
            (State::Expired, Code::Expired),
        ] {
            let rules = AccessRules { state, has_password: true, ..OPEN };
            assert_eq!(decide(&rules, Passes::ALL, 10), Access::Gone(code));
        }
    }

    #[test]
    fn a_suspended_account_shows_nothing_behind_a_gate_or_in_front_of_it() {
        let held =
            AccessRules { is_suspended: true, visibility: Visibility::Burn, has_password: true, ..OPEN };
        for passes in [NONE, Passes::ALL] {
            assert_eq!(decide(&held, passes, 10), Access::Gone(Code::AccountSuspended));
        }
        let gone = AccessRules { state: State::TakenDown, ..held };
        assert_eq!(decide(&gone, NONE, 10), Access::Gone(Code::TakenDown), "what does not come back says so");
        let over = AccessRules { expires_at: Some(10), ..held };
        assert_eq!(decide(&over, NONE, 10), Access::Gone(Code::Expired));
    }

    #[test]
    fn the_gates_come_one_after_the_other_and_before_the_burn() {
        let rules =
            AccessRules { visibility: Visibility::Burn, has_password: true, has_email_gate: true, ..OPEN };
        let ask = |password, email| decide(&rules, Passes { password, email }, 10);
        assert_eq!(ask(false, false), Access::Ask(Gate::Password));
        assert_eq!(ask(false, true), Access::Ask(Gate::Password));
        assert_eq!(ask(true, false), Access::Ask(Gate::Email));
        assert_eq!(ask(true, true), Access::Reveal);
    }

    #[test]
    fn only_a_live_page_without_gates_that_stays_is_open_to_all() {
        assert!(OPEN.is_open_to_all(10));
        assert!(
            AccessRules { visibility: Visibility::Public, expires_at: Some(11), ..OPEN }.is_open_to_all(10)
        );
        for closed in [
            AccessRules { visibility: Visibility::Burn, ..OPEN },
            AccessRules { has_password: true, ..OPEN },
            AccessRules { has_email_gate: true, ..OPEN },
            AccessRules { is_suspended: true, ..OPEN },
            AccessRules { expires_at: Some(10), ..OPEN },
            AccessRules { state: State::Deleted, ..OPEN },
            AccessRules { state: State::Burnt, ..OPEN },
            AccessRules { state: State::TakenDown, ..OPEN },
            AccessRules { state: State::Expired, ..OPEN },
        ] {
            assert!(!closed.is_open_to_all(10), "{closed:?}");
        }
    }

    #[test]
    fn a_pass_for_a_gate_that_is_not_there_changes_nothing() {
        assert_eq!(decide(&OPEN, Passes::ALL, 10), Access::Serve);
    }
}
