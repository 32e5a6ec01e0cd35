//! The pages of a device login: enter the code, confirm, done.

use super::{Section, Shell};
use crate::{Html, Moment};
use askama::Template;
use dropleaf_core::device_login::{DeviceLogin, DeviceLoginKind};

#[derive(Template)]
#[template(path = "device_ask.html")]
struct DeviceCodeTemplate<'a> {
    shell: Shell<'a>,
    code: &'a str,
    is_unknown: bool,
}

#[derive(Template)]
#[template(path = "device_confirm.html")]
struct DeviceConfirmTemplate<'a> {
    shell: Shell<'a>,
    login: &'a DeviceLogin,
    code: String,
    asked: Moment,
    gets_key: bool,
}

#[derive(Template)]
#[template(path = "device_end.html")]
struct DeviceEndTemplate<'a> {
    shell: Shell<'a>,
    is_allowed: bool,
}

/// How the person answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceAnswer {
    Allowed,
    Denied,
}

impl DeviceAnswer {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Denied => "denied",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        [Self::Allowed, Self::Denied].into_iter().find(|answer| answer.word() == word)
    }
}

/// Asks for the code; `is_unknown` if the one that was entered does not exist.
pub fn device_ask(shell: Shell<'_>, code: &str, is_unknown: bool) -> Html {
    render(&DeviceCodeTemplate { shell, code, is_unknown })
}

/// Shows which program asks for what access, and asks for an answer.
pub fn device_confirm(shell: Shell<'_>, login: &DeviceLogin) -> Html {
    render(&DeviceConfirmTemplate {
        shell,
        login,
        code: login.formatted_user_code(),
        asked: Moment(login.created_at),
        gets_key: login.kind == DeviceLoginKind::Key,
    })
}

pub fn device_end(shell: Shell<'_>, answer: DeviceAnswer) -> Html {
    render(&DeviceEndTemplate { shell, is_allowed: answer == DeviceAnswer::Allowed })
}

fn render(page: &impl Template) -> Html {
    Html(page.render().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::HOSTILE;
    use dropleaf_core::device_login::DeviceLoginState;
    use dropleaf_core::scope::Scopes;

    const SHELL: Shell<'static> = Shell {
        section: Section::Standalone,
        email: Some("ann@example.org"),
        is_operator: false,
        is_suspended: false,
        form_token: "t",
        done: None,
    };

    #[test]
    fn what_a_program_calls_itself_stays_text() {
        let login = DeviceLogin {
            user_code: "BCDFGHJK".into(),
            client_id: HOSTILE.into(),
            client_name: HOSTILE.into(),
            kind: DeviceLoginKind::Tokens,
            scopes: Scopes::ALL,
            resource: String::new(),
            state: DeviceLoginState::Pending,
            account_id: None,
            created_at: 1_794_706_860,
            expires_at: 1_794_707_460,
        };
        let html = device_confirm(SHELL, &login).0;
        assert!(html.contains("BCDF-GHJK") && html.contains("ann@example.org"));
        assert!(!html.contains("<script>alert"), "{html}");
        assert!(!device_ask(SHELL, HOSTILE, true).0.contains("<script>alert"));
        assert!(!html.contains("style="));
    }
}
