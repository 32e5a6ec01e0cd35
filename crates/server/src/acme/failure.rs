//! What went wrong with an order, for owners and operators, and what it means for the next attempt.

use instant_acme::{Error, Problem};

const TYPE_PREFIX: &str = "urn:ietf:params:acme:error:";

/// What owners see of problems that only the server's operators can solve.
pub(super) const OWN_FAULT: &str = "The server could not place the order; it will try again.";
/// Problems that concern the name, so that its owner should know them.
const OF_NAMES: [&str; 9] = [
    "caa",
    "connection",
    "dns",
    "incorrectResponse",
    "rateLimited",
    "rejectedIdentifier",
    "tls",
    "unauthorized",
    "unsupportedIdentifier",
];
/// Problems after which another kind of challenge may succeed.
const OF_REACHABILITY: [&str; 4] = ["connection", "incorrectResponse", "tls", "unauthorized"];

/// Why an order ended without a certificate.
#[derive(Debug)]
pub(super) enum Failure {
    /// The authority refused, did not respond or sent something unusable.
    Authority(Error),
    /// Something on our side.
    Own(anyhow::Error),
    TimedOut,
    /// The server stops.
    Stopping,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Authority(error)
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Own(error)
    }
}

impl Failure {
    pub(super) fn text(&self) -> String {
        match self {
            Self::Authority(error) => describe(error),
            Self::Own(error) => format!("{error:#}"),
            Self::TimedOut => "the order took too long".to_owned(),
            Self::Stopping => "the server stops".to_owned(),
        }
    }

    /// What the owner of the name sees.
    pub(super) fn owner_text(&self, name: &str) -> String {
        match self {
            Self::Authority(Error::Api(problem)) if OF_NAMES.iter().any(|kind| self.is(kind)) => {
                without_links(&describe_problem(problem), name)
            }
            Self::Authority(Error::Timeout(_)) | Self::TimedOut => {
                "The certificate authority did not finish the order in time; it is tried again.".to_owned()
            }
            _ => OWN_FAULT.to_owned(),
        }
    }

    /// Whether another kind of challenge may succeed.
    pub(super) fn is_unreachable(&self) -> bool {
        OF_REACHABILITY.iter().any(|kind| self.is(kind))
    }

    fn is(&self, kind: &str) -> bool {
        matches!(self, Self::Authority(error) if is_problem(error, kind))
    }

    pub(super) fn is_rate_limit(&self) -> bool {
        self.is("rateLimited")
    }

    /// The authority does not know our account any more.
    pub(super) fn is_unknown_account(&self) -> bool {
        self.is("accountDoesNotExist")
    }
}

/// A text without links, except to the name itself.
fn without_links(text: &str, name: &str) -> String {
    let leads_to_name = |rest: &str| rest.split(['/', ':', '?', '#']).next() == Some(name);
    let is_kept = |word: &&str| word.split_once("://").is_none_or(|(_, rest)| leads_to_name(rest));
    text.split(' ').filter(is_kept).collect::<Vec<_>>().join(" ")
}

pub(super) fn is_problem(error: &Error, kind: &str) -> bool {
    let Error::Api(problem) = error else { return false };
    problem.r#type.as_deref().and_then(|it| it.strip_prefix(TYPE_PREFIX)) == Some(kind)
}

pub(super) fn describe(error: &Error) -> String {
    match error {
        Error::Api(problem) => describe_problem(problem),
        Error::Timeout(_) => "the certificate authority did not finish the order in time".to_owned(),
        other => format!("certificate authority: {other}"),
    }
}

/// The detail and the short type of a problem, with those of its parts.
pub(super) fn describe_problem(problem: &Problem) -> String {
    let kind = problem.r#type.as_deref().unwrap_or("unknown problem");
    let kind = kind.strip_prefix(TYPE_PREFIX).unwrap_or(kind);
    let mut text = match &problem.detail {
        Some(detail) => format!("{detail} ({kind})"),
        None => kind.to_owned(),
    };
    for part in problem.subproblems.iter().filter_map(|part| part.detail.as_deref()).take(3) {
        text.push_str("; ");
        text.push_str(part);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(json: &str) -> Error {
        Error::Api(serde_json::from_str(json).unwrap())
    }

    #[test]
    fn a_problem_reads_as_detail_and_short_type() {
        let error = problem(
            r#"{"type":"urn:ietf:params:acme:error:connection","detail":"Connection refused",
                "subproblems":[{"type":"x","detail":"at 192.0.2.1"}]}"#,
        );
        assert_eq!(describe(&error), "Connection refused (connection); at 192.0.2.1");
        assert_eq!(describe(&problem("{}")), "unknown problem");
        assert!(describe(&Error::Str("x")).starts_with("certificate authority"));
    }

    #[test]
    fn owners_see_only_what_concerns_their_name() {
        let of = |kind: &str| {
            let text = format!(
                r#"{{"type":"{TYPE_PREFIX}{kind}","detail":"at http://a.example/x: see https://ca.example/docs"}}"#
            );
            Failure::from(problem(&text))
        };
        assert_eq!(of("connection").owner_text("a.example"), "at http://a.example/x: see (connection)");
        assert!(of("connection").is_unreachable() && !of("rateLimited").is_unreachable());
        assert_eq!(of("serverInternal").owner_text("a.example"), OWN_FAULT);
        let own = Failure::from(anyhow::anyhow!("cannot connect to the DNS server 10.0.0.1"));
        assert_eq!(own.owner_text("a.example"), OWN_FAULT);
        assert!(own.text().contains("10.0.0.1"));
    }

    #[test]
    fn limits_and_lost_accounts_are_recognized() {
        let of = |kind: &str| Failure::from(problem(&format!(r#"{{"type":"{TYPE_PREFIX}{kind}"}}"#)));
        assert!(of("rateLimited").is_rate_limit() && !of("connection").is_rate_limit());
        assert!(of("accountDoesNotExist").is_unknown_account());
        assert!(!Failure::TimedOut.is_rate_limit());
    }
}
