//! The parameters of an OAuth request, from its query or body. A parameter may occur once (RFC 6749 §3.1), and an empty one
//! counts as absent.

use super::{OAuthCode, OAuthError};

#[derive(Debug, Default)]
pub struct Params(Vec<(String, String)>);

impl Params {
    /// Whether the client wants a response without user interaction (`prompt=none`).
    pub fn is_silent(&self) -> bool {
        self.all("prompt").any(|prompt| prompt.split(' ').any(|word| word == "none"))
    }

    pub fn find<'a>(&'a self, name: &'a str) -> Result<Option<&'a str>, OAuthError> {
        let mut found = self.all(name);
        match (found.next(), found.next()) {
            (_, Some(_)) => {
                Err(OAuthError::new(OAuthCode::InvalidRequest, format!("{name} was sent more than once.")))
            }
            (found, None) => Ok(found),
        }
    }

    pub fn required<'a>(&'a self, name: &'a str) -> Result<&'a str, OAuthError> {
        let missing = || OAuthError::new(OAuthCode::InvalidRequest, format!("{name} is missing."));
        self.find(name)?.ok_or_else(missing)
    }

    /// All values of a parameter that may occur several times.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let of_name = move |(key, _): &&(String, String)| key == name;
        self.0.iter().filter(of_name).map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }
}

impl FromIterator<(String, String)> for Params {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(pairs: I) -> Self {
        Self(pairs.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::Params;

    #[test]
    fn a_parameter_comes_once_and_an_empty_one_not_at_all() {
        let sent = [("a", "1"), ("b", ""), ("c", "1"), ("c", "2"), ("d", "x y"), ("b", "")];
        let params: Params =
            sent.map(|(name, value)| (name.to_owned(), value.to_owned())).into_iter().collect();
        assert_eq!(params.find("a").unwrap(), Some("1"));
        assert_eq!(params.find("b").unwrap(), None);
        assert!(params.find("c").is_err());
        assert_eq!(params.required("d").unwrap(), "x y");
        assert!(params.required("e").is_err());
        assert_eq!(params.all("c").collect::<Vec<_>>(), ["1", "2"]);
    }
}
