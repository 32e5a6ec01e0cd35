//! Classifies the client of a page request: a navigating browser, a subresource, a bot, or a plain client.
//! The rules and the experiments behind them: docs/security.md.

/// The request headers that are used for it.
#[derive(Debug, Clone, Copy, Default)]
pub struct VisitorHeaders<'a> {
    pub user_agent: Option<&'a str>,
    pub fetch_mode: Option<&'a str>,
    /// Whether any of `Sec-Fetch-Mode`, `-Site` or `-Dest` is present.
    pub has_fetch_metadata: bool,
    /// `Sec-Purpose`.
    pub purpose: Option<&'a str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Visitor {
    pub any_browser: bool,
    pub navigation: bool,
    pub prefetch: bool,
    /// Safari may not resolve `*.localhost`.
    pub safari: bool,
}

impl Visitor {
    pub fn of(headers: VisitorHeaders<'_>) -> Self {
        let agent = headers.user_agent.unwrap_or_default();
        let mozilla = agent.starts_with("Mozilla/");
        Self {
            any_browser: headers.has_fetch_metadata || mozilla,
            navigation: headers.fetch_mode == Some("navigate") || (!headers.has_fetch_metadata && mozilla),
            prefetch: headers.purpose.is_some_and(is_prefetch),
            safari: mozilla
                && agent.contains("Version/")
                && agent.contains("Safari/")
                && !agent.contains("Chrom"),
        }
    }

    /// Whether a GET by this client is a person's decision to view the page. That is so only for plain clients: anything a
    /// browser loads may be an image, a preview or a prefetch, and a bot never decides.
    pub fn burns_by_requesting(self, user_agent: &str) -> bool {
        !self.any_browser && !is_bot(user_agent)
    }
}

/// Words that link-preview services, crawlers and scanners put into their `User-Agent`.
const BOT_WORDS: [&str; 13] = [
    "crawl",
    "spider",
    "preview",
    "unfurl",
    "facebookexternalhit",
    "whatsapp",
    "slack",
    "discord",
    "telegram",
    "embedly",
    "scanner",
    "monitor",
    "bot",
];

/// Whether the client is a bot that fetches links to preview or scan them.
/// `/bot\b|bot\/|crawl|spider|preview|unfurl|facebookexternalhit|whatsapp|slack|discord|telegram|embedly|scanner|monitor/i`
pub fn is_bot(agent: &str) -> bool {
    let agent = agent.as_bytes();
    let found = |word: &str| {
        agent.windows(word.len()).enumerate().any(|(at, part)| {
            // `bot` must end a word, so that names such as Bottle do not match.
            let ends = || !agent.get(at + 3).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
            part.eq_ignore_ascii_case(word.as_bytes()) && (word != "bot" || ends())
        })
    };
    BOT_WORDS.iter().any(|word| found(word))
}

/// Whether a `Sec-Purpose`, `Purpose` or `X-Moz` header marks a prefetch, prerender or preview.
pub fn is_prefetch(purpose: &str) -> bool {
    let purpose = purpose.to_ascii_lowercase();
    ["prefetch", "prerender", "preview"].iter().any(|word| purpose.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHROME: &str = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36";
    const SAFARI: &str =
        "Mozilla/5.0 (Macintosh) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15";

    #[test]
    fn curl_is_a_plain_client() {
        let visitor =
            Visitor::of(VisitorHeaders { user_agent: Some("curl/8.5.0"), ..VisitorHeaders::default() });
        assert!(!visitor.any_browser && !visitor.navigation);
        assert!(!Visitor::of(VisitorHeaders::default()).any_browser);
    }

    #[test]
    fn a_navigation_is_known_by_fetch_metadata_or_failing_that_by_the_agent() {
        let navigate = VisitorHeaders {
            user_agent: Some(CHROME),
            fetch_mode: Some("navigate"),
            has_fetch_metadata: true,
            purpose: None,
        };
        assert!(Visitor::of(navigate).navigation);
        assert!(!Visitor::of(VisitorHeaders { fetch_mode: Some("no-cors"), ..navigate }).navigation);
        assert!(
            Visitor::of(VisitorHeaders { user_agent: Some(CHROME), ..VisitorHeaders::default() }).navigation
        );
    }

    #[test]
    fn robots_are_known_by_their_names() {
        for agent in [
            "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
            "Twitterbot/1.0",
            "facebookexternalhit/1.1",
            "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
            "Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)",
            "TelegramBot (like TwitterBot)",
            "WhatsApp/2.23",
            "LinkedInBot",
            "my bot",
            "SkypeUriPreview",
            "UptimeMonitor/3",
            "Baiduspider",
            "CCrawler",
        ] {
            assert!(is_bot(agent), "{agent}");
        }
        for agent in ["curl/8.5.0", "Bottle/1.0", "robotics_lab", "python-requests/2.32", CHROME, SAFARI, ""]
        {
            assert!(!is_bot(agent), "{agent}");
        }
    }

    #[test]
    fn only_a_plain_client_burns_by_asking() {
        let burns = |headers: VisitorHeaders<'_>| {
            Visitor::of(headers).burns_by_requesting(headers.user_agent.unwrap_or_default())
        };
        assert!(burns(VisitorHeaders { user_agent: Some("curl/8.5.0"), ..VisitorHeaders::default() }));
        assert!(burns(VisitorHeaders::default()));
        assert!(!burns(VisitorHeaders { user_agent: Some(CHROME), ..VisitorHeaders::default() }));
        assert!(!burns(VisitorHeaders {
            has_fetch_metadata: true,
            fetch_mode: Some("no-cors"),
            ..VisitorHeaders::default()
        }));
        assert!(!burns(VisitorHeaders { user_agent: Some("Slackbot 1.0"), ..VisitorHeaders::default() }));
    }

    #[test]
    fn every_way_to_say_that_nobody_has_asked_is_understood() {
        for purpose in ["prefetch", "prefetch;prerender", "Prefetch", "prerender", "preview"] {
            assert!(is_prefetch(purpose), "{purpose}");
        }
        assert!(!is_prefetch(""));
    }

    #[test]
    fn safari_and_prefetch_are_recognised() {
        assert!(Visitor::of(VisitorHeaders { user_agent: Some(SAFARI), ..VisitorHeaders::default() }).safari);
        assert!(
            !Visitor::of(VisitorHeaders { user_agent: Some(CHROME), ..VisitorHeaders::default() }).safari
        );
        assert!(
            Visitor::of(VisitorHeaders { purpose: Some("prefetch;prerender"), ..VisitorHeaders::default() })
                .prefetch
        );
    }
}
