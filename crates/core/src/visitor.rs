//! Who asks for a page: a browser that navigates, a part of a page, a robot, or a plain client.
//! The rules and the trials behind them: docs/security.md.

/// The request headers that tell.
#[derive(Debug, Clone, Copy, Default)]
pub struct Signs<'a> {
    pub user_agent: Option<&'a str>,
    pub fetch_mode: Option<&'a str>,
    /// Whether any of `Sec-Fetch-Mode`, `-Site` or `-Dest` is there.
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
    pub fn of(signs: Signs<'_>) -> Self {
        let agent = signs.user_agent.unwrap_or_default();
        let mozilla = agent.starts_with("Mozilla/");
        Self {
            any_browser: signs.has_fetch_metadata || mozilla,
            navigation: signs.fetch_mode == Some("navigate") || (!signs.has_fetch_metadata && mozilla),
            prefetch: signs
                .purpose
                .is_some_and(|p| p.contains("prefetch") || p.contains("prerender") || p.contains("preview")),
            safari: mozilla
                && agent.contains("Version/")
                && agent.contains("Safari/")
                && !agent.contains("Chrom"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHROME: &str = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36";
    const SAFARI: &str =
        "Mozilla/5.0 (Macintosh) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15";

    #[test]
    fn curl_is_a_plain_client() {
        let visitor = Visitor::of(Signs { user_agent: Some("curl/8.5.0"), ..Signs::default() });
        assert!(!visitor.any_browser && !visitor.navigation);
        assert!(!Visitor::of(Signs::default()).any_browser);
    }

    #[test]
    fn a_navigation_is_known_by_fetch_metadata_or_failing_that_by_the_agent() {
        let navigate = Signs {
            user_agent: Some(CHROME),
            fetch_mode: Some("navigate"),
            has_fetch_metadata: true,
            purpose: None,
        };
        assert!(Visitor::of(navigate).navigation);
        assert!(!Visitor::of(Signs { fetch_mode: Some("no-cors"), ..navigate }).navigation);
        assert!(Visitor::of(Signs { user_agent: Some(CHROME), ..Signs::default() }).navigation);
    }

    #[test]
    fn safari_and_prefetch_are_recognised() {
        assert!(Visitor::of(Signs { user_agent: Some(SAFARI), ..Signs::default() }).safari);
        assert!(!Visitor::of(Signs { user_agent: Some(CHROME), ..Signs::default() }).safari);
        assert!(Visitor::of(Signs { purpose: Some("prefetch;prerender"), ..Signs::default() }).prefetch);
    }
}
