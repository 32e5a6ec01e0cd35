//! The parameter `opaque`: the route that a challenge is for, which nothing else in it names, and a random value, without
//! which two payers of the same body could get the same challenge and so the same nonce.

use dropleaf_core::secret;
use serde::Serialize;

use super::encoded_json;
use crate::json;

/// In alphabetical order, for the canonical form.
#[derive(Serialize)]
struct OpaqueJson<'a> {
    n: String,
    route: &'a str,
}

pub(super) fn encode(route: &str, random: &[u8; 16]) -> String {
    encoded_json::encode(&OpaqueJson { n: secret::text(random), route })
}

/// The route in the parameter.
pub(super) fn route(opaque: &str) -> Option<String> {
    let members = encoded_json::decode(opaque).ok()?;
    json::text(&members, "route").ok().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_read_back() {
        for at in ["POST /publish", "POST /unlock?feature=a&b=\"c\\", "", "POST /é\r\n"] {
            assert_eq!(route(&encode(at, &[7; 16])).as_deref(), Some(at));
        }
        assert_ne!(encode("POST /publish", &[7; 16]), encode("POST /publish", &[8; 16]));
        for bad in ["", "e30", "eyJyb3V0ZSI6MX0", "%"] {
            assert_eq!(route(bad), None, "{bad}");
        }
    }
}
