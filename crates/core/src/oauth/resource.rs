//! The resource a token is valid for (RFC 8707): this service, by its base URL or by its MCP endpoint.

use super::{OAuthCode, OAuthError};

/// The path of the MCP endpoint below the base URL.
const MCP: &str = "/mcp";

/// The requested resource in its normalized form. Older clients name none and mean MCP.
pub fn resolve<'a>(base_url: &str, asked: impl Iterator<Item = &'a str>) -> Result<String, OAuthError> {
    let mut found = None;
    for name in asked {
        let name = name.strip_suffix('/').unwrap_or(name);
        if !is_ours(base_url, name) {
            return Err(foreign());
        }
        found.get_or_insert_with(|| name.to_owned());
    }
    Ok(found.unwrap_or_else(|| format!("{base_url}{MCP}")))
}

/// Whether a granted resource is this service; its base URL may have changed since.
pub fn is_ours(base_url: &str, resource: &str) -> bool {
    matches!(resource.strip_prefix(base_url), Some("" | MCP))
}

/// Returns an error for a resource that the grant does not cover.
pub fn require_granted<'a>(
    granted: &str,
    mut asked: impl Iterator<Item = &'a str>,
) -> Result<(), OAuthError> {
    let same = |name: &str| name.strip_suffix('/').unwrap_or(name) == granted;
    if asked.all(same) { Ok(()) } else { Err(foreign()) }
}

fn foreign() -> OAuthError {
    OAuthError::new(OAuthCode::InvalidTarget, "This server does not provide access to this resource.")
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "https://api.example.org";

    fn one(name: &str) -> Result<String, OAuthError> {
        resolve(BASE, [name].into_iter())
    }

    #[test]
    fn the_service_and_its_mcp_endpoint_are_the_resources() {
        assert_eq!(one(BASE).unwrap(), BASE);
        assert_eq!(one("https://api.example.org/").unwrap(), BASE);
        assert_eq!(one("https://api.example.org/mcp").unwrap(), "https://api.example.org/mcp");
        assert_eq!(one("https://api.example.org/mcp/").unwrap(), "https://api.example.org/mcp");
        assert_eq!(resolve(BASE, std::iter::empty()).unwrap(), "https://api.example.org/mcp");
    }

    #[test]
    fn everything_else_is_foreign() {
        for name in [
            "",
            "/mcp",
            "https://api.example.org//",
            "https://api.example.org/mcp/x",
            "https://api.example.org.evil.example",
            "https://api.example.org@evil.example/",
            "http://api.example.org",
            "https://other.example/mcp",
        ] {
            assert_eq!(one(name).unwrap_err().code, OAuthCode::InvalidTarget, "{name}");
        }
        assert!(resolve(BASE, [BASE, "https://other.example"].into_iter()).is_err());
    }

    #[test]
    fn a_token_may_only_be_asked_for_what_was_granted() {
        assert!(require_granted("https://api.example.org/mcp", std::iter::empty()).is_ok());
        assert!(
            require_granted("https://api.example.org/mcp", ["https://api.example.org/mcp/"].into_iter())
                .is_ok()
        );
        assert!(require_granted("https://api.example.org/mcp", [BASE].into_iter()).is_err());
    }
}
