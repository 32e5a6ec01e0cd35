//! Which page a person means: an ID, slug or token, or any URL of the page.

use crate::client::Client;
use crate::error::ClientError;
use reqwest::Url;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageName {
    /// An ID, slug or token.
    Given(String),
    /// A URL without a token: the page has a host of its own, which is named after its slug or is a custom domain.
    Host { authority: String, host: String },
}

impl PageName {
    /// `None` if the text is a URL that cannot be one of a page.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if !text.contains("://") {
            return (!text.is_empty()).then(|| Self::Given(text.to_owned()));
        }
        let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
        let parts: Vec<&str> = url.path().split('/').collect();
        match parts.as_slice() {
            ["", "p" | "s", name, ..] | ["", "dashboard", "pages", name, ..] if !name.is_empty() => {
                Some(Self::Given((*name).to_owned()))
            }
            _ => Some(Self::Host { authority: authority(&url)?, host: url.host_str()?.to_owned() }),
        }
    }

    /// The slug, if the host is named after one.
    pub fn slug(&self) -> Option<&str> {
        match self {
            Self::Given(_) => None,
            Self::Host { host, .. } => host.split('.').next(),
        }
    }
}

impl Client {
    /// The name under which the API knows this page. A URL without a token is looked up: the first part of its host could also
    /// be the slug of a different page. `None` if the account has no page there.
    pub async fn find_page_name(&self, name: &PageName) -> Result<Option<String>, ClientError> {
        let PageName::Host { authority: meant, host } = name else {
            let PageName::Given(name) = name else { return Ok(None) };
            return Ok(Some(name.clone()));
        };
        if let Some(slug) = name.slug() {
            match self.get_page(slug).await {
                Ok(page) => {
                    let found = Url::parse(&page.value.url).ok().and_then(|url| authority(&url));
                    if found.as_ref() == Some(meant) {
                        return Ok(Some(page.value.id));
                    }
                }
                Err(error) if matches!(error.status(), Some(400 | 404)) => {}
                Err(error) => return Err(error),
            }
        }
        self.find_page_of_domain(host).await
    }
}

/// Host and port, the latter also if it is the default of the scheme.
fn authority(url: &Url) -> Option<String> {
    Some(format!("{}:{}", url.host_str()?, url.port_or_known_default()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_named_in_every_way_it_is_written() {
        let given = |text: &str| Some(PageName::Given(text.to_owned()));
        for (text, name) in [
            ("site_abc", given("site_abc")),
            (" my-report\n", given("my-report")),
            ("https://pages.example/p/TOKEN/deep/file.html?x#y", given("TOKEN")),
            ("http://s-abc.localhost:8080/p/TOKEN/", given("TOKEN")),
            ("https://pages.example/s/my-report/", given("my-report")),
            ("https://drop.example/dashboard/pages/site_abc", given("site_abc")),
            ("", None),
            ("ftp://pages.example/p/TOKEN/", None),
            ("https://", None),
        ] {
            assert_eq!(PageName::parse(text), name, "{text}");
        }
        let host = PageName::parse("https://My-Report.pages.example/a/b").unwrap();
        assert_eq!(host.slug(), Some("my-report"));
        let meant = PageName::Host {
            authority: "my-report.pages.example:443".into(),
            host: "my-report.pages.example".into(),
        };
        assert_eq!(host, meant);
    }
}
