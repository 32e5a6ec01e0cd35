//! The issuers whose signatures are trusted, from configuration. Mandates name them by key id.

use std::fmt;

use super::jwk::{JwkFault, PublicKey};
use crate::json;

/// The issuer that sandboxes trust. Its private key is in the documentation, so that anyone can try mandates.
const SANDBOX_JWK: &str = r#"{"kty":"EC","crv":"P-256","kid":"dropleaf-sandbox","x":"ysj3NHUeIOk9z3yhQK8oh0SZLxEj4WyBiuV3GtrQhIE","y":"Cy5CHkLQP5PU2oNtyaBmCnQeD-t9mKZgqOFGIDNJj-U"}"#;

/// A trusted issuer's public key.
#[derive(Clone, PartialEq, Eq)]
pub struct Issuer {
    kid: String,
    pub(crate) key: PublicKey,
}

/// Trusted issuers with distinct key ids.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Issuers(Vec<Issuer>);

impl Issuer {
    /// Parses a JSON Web Key: an EC key on P-256 with `kid`, `x` and `y`.
    pub fn parse(jwk: &str) -> Result<Self, JwkFault> {
        let members = json::object(jwk).map_err(|_| JwkFault::NotJson)?;
        let key = PublicKey::read(&members)?;
        match json::text(&members, "kid") {
            Ok(kid) if !kid.is_empty() => Ok(Self { kid: kid.to_owned(), key }),
            _ => Err(JwkFault::KidMissing),
        }
    }

    /// The issuer for sandboxes. Anyone can sign in its name.
    pub fn sandbox() -> Result<Self, JwkFault> {
        Self::parse(SANDBOX_JWK)
    }

    /// Whether anyone can sign in its name, under whichever key id.
    pub fn is_sandbox(&self) -> bool {
        Self::sandbox().is_ok_and(|sandbox| sandbox.key == self.key)
    }

    pub fn kid(&self) -> &str {
        &self.kid
    }
}

impl Issuers {
    pub fn new(issuers: Vec<Issuer>) -> Result<Self, JwkFault> {
        let is_repeated =
            |(at, issuer): (usize, &Issuer)| issuers.iter().take(at).any(|earlier| earlier.kid == issuer.kid);
        if issuers.iter().enumerate().any(is_repeated) {
            Err(JwkFault::KidRepeated)
        } else {
            Ok(Self(issuers))
        }
    }

    /// Without issuers no mandate can be accepted.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn find(&self, kid: &str) -> Option<&Issuer> {
        self.0.iter().find(|issuer| issuer.kid == kid)
    }
}

impl fmt::Debug for Issuer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Issuer").field("kid", &self.kid).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JWK: &str = r#"{"kty":"EC","crv":"P-256","kid":"issuer-1","x":"RpZHDQsJ04hdawn6KYnyiJL8zMmRH7IGg_nYD9-HZzg","y":"DELPUVGgTl0kyi-QJby2pkSqSboMJwuAl4aoVDDc1UA"}"#;

    #[test]
    fn an_issuer_is_found_by_its_kid() {
        let issuer = Issuer::parse(JWK).unwrap();
        let issuers = Issuers::new(vec![issuer.clone()]).unwrap();
        assert_eq!(issuers.find("issuer-1"), Some(&issuer));
        assert_eq!(issuers.find("issuer-2"), None);
        assert_eq!(Issuers::new(vec![issuer.clone(), issuer]), Err(JwkFault::KidRepeated));
        assert!(Issuers::default().is_empty() && !issuers.is_empty());
    }

    #[test]
    fn the_sandbox_issuer_is_recognised_under_any_kid() {
        let sandbox = Issuer::sandbox().unwrap();
        assert_eq!(sandbox.kid(), "dropleaf-sandbox");
        let renamed = Issuer::parse(&SANDBOX_JWK.replace("dropleaf-sandbox", "bank")).unwrap();
        assert!(sandbox.is_sandbox() && renamed.is_sandbox());
        assert!(!Issuer::parse(JWK).unwrap().is_sandbox());
    }

    #[test]
    fn optional_members_must_allow_verification() {
        let more = |members: &str| Issuer::parse(&JWK.replace('{', &format!("{{{members},"))).map(drop);
        assert_eq!(more(r#""alg":"ES256","use":"sig","key_ops":["verify"],"x5c":[]"#), Ok(()));
        for members in
            [r#""alg":"ES384""#, r#""use":"enc""#, r#""key_ops":["sign"]"#, r#""key_ops":"verify""#]
        {
            assert_eq!(more(members), Err(JwkFault::WrongUse), "{members}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_key_is_said() {
        let x = "RpZHDQsJ04hdawn6KYnyiJL8zMmRH7IGg_nYD9-HZzg";
        for (jwk, fault) in [
            ("secret".to_owned(), JwkFault::NotJson),
            ("[]".to_owned(), JwkFault::NotJson),
            (JWK.replace("\"x\"", "\"y\""), JwkFault::NotJson),
            (JWK.replace("\"kid\"", "\"d\":\"AA\",\"kid\""), JwkFault::PrivateKey),
            (JWK.replace("\"EC\"", "\"OKP\""), JwkFault::WrongType),
            (JWK.replace("P-256", "secp256k1"), JwkFault::WrongType),
            (JWK.replace("\"kid\"", "\"id\""), JwkFault::KidMissing),
            (JWK.replace("issuer-1", ""), JwkFault::KidMissing),
            (JWK.replace(x, "RpZH"), JwkFault::InvalidCoordinate),
            (JWK.replace(x, &format!("{x}=")), JwkFault::InvalidCoordinate),
            (JWK.replace("\"y\"", "\"z\""), JwkFault::InvalidCoordinate),
            (JWK.replace(x, &"A".repeat(43)), JwkFault::NotOnCurve),
        ] {
            assert_eq!(Issuer::parse(&jwk), Err(fault), "{jwk}");
            assert!(!fault.to_string().contains(x));
        }
    }
}
