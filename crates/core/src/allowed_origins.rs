//! Which web origins may send requests that need no credential: the setting and its matching rule.

use crate::origin::written_origin;

/// A list of origins as browsers write them, or all origins.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AllowedOrigins {
    any: bool,
    named: Vec<String>,
}

impl AllowedOrigins {
    /// Parses the setting: origins such as `https://app.example.com`, or `*`. The error is the entry that is neither.
    pub fn parse(list: &[String]) -> Result<Self, String> {
        let mut allowed = Self::default();
        for text in list {
            if text == "*" {
                allowed.any = true;
            } else {
                allowed.named.push(written_origin(text).ok_or_else(|| text.clone())?);
            }
        }
        Ok(allowed)
    }

    /// Whether an `Origin` header value is allowed. Any page can have the origin `null`, so only `*` allows it.
    pub fn allows(&self, origin: &str) -> bool {
        self.any || written_origin(origin).is_some_and(|origin| self.named.contains(&origin))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(list: &[&str]) -> AllowedOrigins {
        AllowedOrigins::parse(&list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn nobody_is_allowed_unless_named() {
        for origin in ["https://a.example", "null", "", "*"] {
            assert!(!AllowedOrigins::default().allows(origin), "{origin}");
        }
        let named = of(&["https://A.example:443/"]);
        assert!(named.allows("https://a.example"));
        for other in ["http://a.example", "https://a.example:8443", "https://x.a.example", "null", "*", ""] {
            assert!(!named.allows(other), "{other}");
        }
    }

    #[test]
    fn a_star_allows_everybody() {
        let any = of(&["*"]);
        assert!(any.allows("https://a.example") && any.allows("null"));
    }

    #[test]
    fn what_is_no_origin_is_refused_by_name() {
        for bad in ["a.example", "null", "https://a.example/path", "https://*.a.example", ""] {
            assert_eq!(AllowedOrigins::parse(&[bad.to_owned()]), Err(bad.to_owned()));
        }
    }
}
