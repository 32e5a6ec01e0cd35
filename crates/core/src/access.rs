//! May this page be shown now? Pure: the same row and moment always give the same answer.
//! Order matters (gone → expiry → gates), so that a stranger learns nothing behind a gate.

use crate::Code;
use crate::site::{State, Visibility};

/// The part of a site that access depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Door {
    pub state: State,
    pub visibility: Visibility,
    pub expires_at: Option<i64>,
    pub has_password: bool,
    pub has_email_gate: bool,
}

/// What the viewer meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Serve,
    Gone(Code),
    Protected(Gate),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    Password,
    Email,
    Burn,
}

pub fn decide(door: &Door, now: i64) -> Access {
    match door.state {
        State::Deleted => return Access::Gone(Code::Deleted),
        State::Burnt => return Access::Gone(Code::Burnt),
        State::TakenDown => return Access::Gone(Code::TakenDown),
        State::Expired => return Access::Gone(Code::Expired),
        State::Live => {}
    }
    if door.expires_at.is_some_and(|at| at <= now) {
        return Access::Gone(Code::Expired);
    }
    if door.has_password {
        return Access::Protected(Gate::Password);
    }
    if door.has_email_gate {
        return Access::Protected(Gate::Email);
    }
    if door.visibility == Visibility::Burn {
        return Access::Protected(Gate::Burn);
    }
    Access::Serve
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPEN: Door = Door {
        state: State::Live,
        visibility: Visibility::Unlisted,
        expires_at: None,
        has_password: false,
        has_email_gate: false,
    };

    #[test]
    fn a_live_page_is_served_until_the_second_it_expires() {
        assert_eq!(decide(&OPEN, 10), Access::Serve);
        let ends = Door { expires_at: Some(11), ..OPEN };
        assert_eq!(decide(&ends, 10), Access::Serve);
        assert_eq!(decide(&ends, 11), Access::Gone(Code::Expired));
    }

    #[test]
    fn what_is_gone_says_why_even_behind_a_gate() {
        for (state, code) in [
            (State::Deleted, Code::Deleted),
            (State::Burnt, Code::Burnt),
            (State::TakenDown, Code::TakenDown),
            (State::Expired, Code::Expired),
        ] {
            let door = Door { state, has_password: true, ..OPEN };
            assert_eq!(decide(&door, 10), Access::Gone(code));
        }
    }

    #[test]
    fn the_gate_comes_before_the_burn() {
        let door = Door { visibility: Visibility::Burn, has_password: true, ..OPEN };
        assert_eq!(decide(&door, 10), Access::Protected(Gate::Password));
        assert_eq!(decide(&Door { has_password: false, ..door }, 10), Access::Protected(Gate::Burn));
    }
}
