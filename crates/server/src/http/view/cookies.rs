//! The cookies a page's host keeps in a browser: a gate that was passed, a share link that was opened, a view.
//! `__Host-` ties each to one host; where many sites share a host its name carries the site as well.

use super::scene::Scene;
use http::{HeaderValue, header};

/// What a cookie stands for; the letter is its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cookie {
    Gate,
    Email,
    Share,
    View,
}

impl Cookie {
    const fn letter(self) -> &'static str {
        match self {
            Self::Gate => "g",
            Self::Email => "e",
            Self::Share => "s",
            Self::View => "v",
        }
    }

    fn name(self, scene: &Scene<'_>) -> String {
        let prefix = if is_secure(scene) { "__Host-" } else { "" };
        if scene.place.is_shared() {
            let label = &scene.page.site.host_label;
            format!("{prefix}{}-{}", self.letter(), label.get(2..14).unwrap_or(label))
        } else {
            format!("{prefix}{}", self.letter())
        }
    }

    /// The value the browser sent, if any.
    pub(super) fn read<'a>(self, scene: &Scene<'a>) -> Option<&'a str> {
        let name = self.name(scene);
        let lines = scene.head.headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
        lines
            .flat_map(|line| line.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .find_map(|(key, value)| (key == name).then_some(value))
    }

    /// The header that keeps it for so many seconds. The value must be plain: base64url or hexadecimal.
    pub(super) fn set(self, scene: &Scene<'_>, value: &str, max_age: i64) -> Option<HeaderValue> {
        let secure = if is_secure(scene) { "; Secure" } else { "" };
        let text = format!(
            "{}={value}; Path=/; Max-Age={max_age}; HttpOnly; SameSite=Lax{secure}",
            self.name(scene)
        );
        HeaderValue::from_str(&text).ok()
    }
}

/// Browsers take a `Secure` cookie over https and from loopback names.
pub(super) fn is_secure(scene: &Scene<'_>) -> bool {
    let site = &scene.door.resolved.hosts.site;
    site.scheme == "https" || site.is_loopback()
}
