//! Browser sessions: their lifetime, and their names in the list of sessions.

/// A session expires this long after its last use.
pub const IDLE_SECONDS: i64 = 30 * 86_400;
/// A session expires this long after the person last authenticated, however much it is used.
pub const LONGEST_SECONDS: i64 = 180 * 86_400;
/// Operations that grant lasting access require an authentication no older than this.
pub const RECENT_SECONDS: i64 = 3600;
/// `last_seen_at` is written at most this often.
pub const NOTED_EVERY: i64 = 300;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    pub id: String,
    pub account_id: String,
    pub device: String,
    pub method: SignInMethod,
    /// When the person last authenticated.
    pub proved_at: i64,
    pub created_at: i64,
    pub last_seen_at: i64,
    pub expires_at: i64,
}

/// How the person authenticated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignInMethod {
    Code,
    Link,
    Passkey,
}

impl SignInMethod {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Link => "link",
            Self::Passkey => "passkey",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        [Self::Code, Self::Link, Self::Passkey].into_iter().find(|method| method.as_str() == text)
    }
}

impl Session {
    /// Whether the person authenticated recently.
    pub const fn is_recent(&self, now: i64) -> bool {
        now - self.proved_at < RECENT_SECONDS
    }
}

/// The expiry of a session that is used now.
pub fn ends_at(proved_at: i64, now: i64) -> i64 {
    (now + IDLE_SECONDS).min(proved_at + LONGEST_SECONDS)
}

/// The browser and system in the `User-Agent`, in familiar words: `Firefox on Linux`.
pub fn device(user_agent: Option<&str>) -> String {
    let agent = user_agent.unwrap_or_default();
    let find = |names: &[(&str, &'static str)]| {
        names.iter().find(|(sign, _)| agent.contains(sign)).map(|(_, name)| *name)
    };
    // The order matters: most browsers also name those they imitate.
    let browser = find(&[
        ("Edg/", "Edge"),
        ("OPR/", "Opera"),
        ("Firefox/", "Firefox"),
        ("FxiOS/", "Firefox"),
        ("CriOS/", "Chrome"),
        ("Chrome/", "Chrome"),
        ("Safari/", "Safari"),
        ("curl/", "curl"),
    ]);
    let system = find(&[
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("Android", "Android"),
        ("Windows", "Windows"),
        ("Mac OS X", "Mac"),
        ("CrOS", "ChromeOS"),
        ("Linux", "Linux"),
    ]);
    match (browser, system) {
        (Some(browser), Some(system)) => format!("{browser} on {system}"),
        (Some(name), None) | (None, Some(name)) => name.to_owned(),
        (None, None) => "Unknown browser".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_are_named_by_what_they_are() {
        for (agent, name) in [
            (
                "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0 Safari/537.36",
                "Chrome on Linux",
            ),
            (
                "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/156.0 Safari/537.36 Edg/156.0",
                "Edge on Windows",
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Mobile Safari/604.1",
                "Safari on iPhone",
            ),
            ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on Linux"),
            ("<script>", "Unknown browser"),
        ] {
            assert_eq!(device(Some(agent)), name);
        }
        assert_eq!(device(None), "Unknown browser");
    }

    #[test]
    fn use_moves_the_end_but_not_for_ever() {
        let day = 86_400;
        assert_eq!(ends_at(0, 0), 30 * day);
        assert_eq!(ends_at(0, 100 * day), 130 * day);
        assert_eq!(ends_at(0, 179 * day), 180 * day);
    }

    #[test]
    fn methods_are_read_as_they_are_written() {
        for method in [SignInMethod::Code, SignInMethod::Link, SignInMethod::Passkey] {
            assert_eq!(SignInMethod::parse(method.as_str()), Some(method));
        }
        assert_eq!(SignInMethod::parse("word"), None);
    }
}
