//! Settings of the facilitator and the chains for live payments: URLs, headers and timeouts, from `[payments]`.

use super::Config;
use anyhow::{Context, Result, bail, ensure};
use http::{HeaderMap, HeaderName, HeaderValue};
use reqwest::Url;
use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

/// How to call the facilitator of live payments. Its URLs may hold a key, so logs show no more than the host.
#[derive(Clone)]
pub struct FacilitatorSettings {
    pub verify: OutboundEndpoint,
    pub settle: OutboundEndpoint,
    pub supported: OutboundEndpoint,
    /// JSON-RPC server of the EVM chain.
    pub evm_rpc_url: Option<Url>,
    /// JSON-RPC server of Solana.
    pub solana_rpc_url: Option<Url>,
}

/// How to call one operation.
#[derive(Clone)]
pub struct OutboundEndpoint {
    pub url: Url,
    /// Marked as sensitive, so that no log shows them.
    pub headers: HeaderMap,
    pub timeout: Duration,
}

impl fmt::Debug for FacilitatorSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FacilitatorSettings")
            .field("verify", &self.verify)
            .field("settle", &self.settle)
            .field("supported", &self.supported)
            .field("evm_rpc", &self.evm_rpc_url.as_ref().and_then(Url::host_str))
            .field("solana_rpc", &self.solana_rpc_url.as_ref().and_then(Url::host_str))
            .finish()
    }
}

impl fmt::Debug for OutboundEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutboundEndpoint")
            .field("host", &self.url.host_str())
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

impl Config {
    /// `None` unless payments are live and there is a facilitator; one that accepts only cards needs none.
    pub(super) fn facilitator(&self) -> Result<Option<Box<FacilitatorSettings>>> {
        let set = &self.payments;
        if set.mode != "live" || set.facilitator_url.is_empty() {
            return Ok(None);
        }
        let base = outside("payments.facilitator_url", &set.facilitator_url)?;
        ensure!(base.query().is_none(), "`payments.facilitator_url` must not have a query");
        for (name, seconds) in
            [("verify", set.verify_timeout_seconds), ("settle", set.settle_timeout_seconds)]
        {
            ensure!((1..=600).contains(&seconds), "`payments.{name}_timeout_seconds` must be 1 to 600");
        }
        let endpoint = |operation: &str, seconds| -> Result<OutboundEndpoint> {
            Ok(OutboundEndpoint {
                url: format!("{}/{operation}", base.as_str().trim_end_matches('/')).parse()?,
                headers: headers(&set.facilitator_headers, operation)?,
                timeout: Duration::from_secs(seconds),
            })
        };
        let rpc = |name: &str, text: &str| (!text.is_empty()).then(|| outside(name, text)).transpose();
        Ok(Some(Box::new(FacilitatorSettings {
            verify: endpoint("verify", set.verify_timeout_seconds)?,
            settle: endpoint("settle", set.settle_timeout_seconds)?,
            supported: endpoint("supported", set.verify_timeout_seconds)?,
            evm_rpc_url: rpc("payments.evm_rpc_url", &set.evm_rpc_url)?,
            solana_rpc_url: rpc("payments.solana_rpc_url", &set.solana_rpc_url)?,
        })))
    }
}

/// Parses the URL of a server that is trusted with money or with facts about it. Over plain HTTP anyone on the network path
/// could answer in its place, so that is allowed on this machine only.
pub(super) fn outside(name: &str, text: &str) -> Result<Url> {
    // The value is not repeated in the error: it may hold a key.
    let url: Url = text
        .parse()
        .ok()
        .with_context(|| format!("`{name}` is not an address such as https://example.com"))?;
    ensure!(
        url.username().is_empty() && url.password().is_none() && url.fragment().is_none(),
        "`{name}` must not have a user, a password or a fragment"
    );
    match url.scheme() {
        "https" => Ok(url),
        "http" if is_here(&url) => Ok(url),
        "http" => bail!(
            "`{name}` must begin with https:// unless it is on this machine, because plain http is not secure"
        ),
        _ => bail!("`{name}` must begin with https://"),
    }
}

/// Whether the address is on this machine.
pub(super) fn is_here(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let ip: Option<IpAddr> = host.trim_matches(['[', ']']).parse().ok();
    host == "localhost" || ip.is_some_and(|ip| ip.is_loopback())
}

/// The headers for one operation: those for all operations, and its own.
fn headers(lines: &[String], operation: &str) -> Result<HeaderMap> {
    let mut found = HeaderMap::new();
    for line in lines {
        // The line may hold a secret and is not repeated.
        let wrong = "`payments.facilitator_headers`: write `Name: value`, or `verify`, `settle` or `supported` before it";
        let (name, value) = line.split_once(':').context(wrong)?;
        let (only, name) =
            name.trim().split_once(' ').map_or((None, name.trim()), |(only, name)| (Some(only), name.trim()));
        ensure!(only.is_none_or(|only| matches!(only, "verify" | "settle" | "supported")), wrong);
        let name: HeaderName = name.parse().ok().context(wrong)?;
        let mut value = HeaderValue::from_str(value.trim()).ok().context(wrong)?;
        value.set_sensitive(true);
        if only.is_none_or(|only| only == operation) {
            found.append(name, value);
        }
    }
    Ok(found)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::config::{Layers, Sources};

    pub(in crate::config) const PAY_TO: &str = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

    pub(in crate::config) fn live(more: &[(&str, &str)]) -> Result<FacilitatorSettings> {
        let mut flags = vec![("payments.mode", "live"), ("payments.evm_pay_to", PAY_TO)];
        flags.extend(more);
        let flags = flags.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
        let config = Layers::load(&Sources { flags, ..Sources::default() })?.config()?;
        let resolved = config.resolve(8080)?;
        Ok(*resolved.facilitator.unwrap())
    }

    #[test]
    fn a_facilitator_is_asked_below_its_address() {
        let set = live(&[("payments.facilitator_url", "https://pay.example.com/x402/")]).unwrap();
        assert_eq!(set.verify.url.as_str(), "https://pay.example.com/x402/verify");
        assert_eq!(set.settle.url.as_str(), "https://pay.example.com/x402/settle");
        assert_eq!(set.supported.url.as_str(), "https://pay.example.com/x402/supported");
        assert_eq!((set.verify.timeout.as_secs(), set.settle.timeout.as_secs()), (10, 75));
    }

    #[test]
    fn plain_http_is_for_this_machine_alone() {
        for good in
            ["http://localhost:4021", "http://127.0.0.1", "http://[::1]:4021", "https://pay.example.com"]
        {
            assert!(live(&[("payments.facilitator_url", good)]).is_ok(), "{good}");
        }
        for bad in [
            "",
            "pay.example.com",
            "http://pay.example.com",
            "http://10.0.0.7:4021",
            "http://localhost.example.com",
            "http://127.0.0.1.example.com",
            "ftp://pay.example.com",
            "https://u:p@pay.example.com",
            "https://pay.example.com/?key=1",
        ] {
            assert!(live(&[("payments.facilitator_url", bad)]).is_err(), "{bad}");
        }
        let url = ("payments.facilitator_url", "https://pay.example.com");
        assert!(live(&[url, ("payments.evm_rpc_url", "https://rpc.example.com/?key=1")]).is_ok());
        let error = live(&[url, ("payments.evm_rpc_url", "http://rpc.example.com/hunter2")]).unwrap_err();
        assert!(!format!("{error:#}").contains("hunter2"), "{error:#}");
    }

    #[test]
    fn keys_in_addresses_are_hidden() {
        let set = live(&[
            ("payments.facilitator_url", "https://pay.example.com/hunter2"),
            ("payments.evm_rpc_url", "https://rpc.example.com/v2/hunter3?key=hunter4"),
            ("payments.solana_rpc_url", "https://sol.example.com/hunter5"),
        ]);
        let shown = format!("{:?}", set.unwrap());
        assert!(shown.contains("rpc.example.com") && shown.contains("sol.example.com"), "{shown}");
        assert!(!shown.contains("hunter"), "{shown}");
    }

    #[test]
    fn headers_are_for_all_or_for_one_and_are_hidden() {
        let lines = "X-All: 1,settle Authorization: Bearer hunter2,verify Authorization: Bearer other";
        let url = ("payments.facilitator_url", "https://pay.example.com");
        let set = live(&[url, ("payments.facilitator_headers", lines)]).unwrap();
        assert_eq!(set.settle.headers["authorization"], "Bearer hunter2");
        assert_eq!(set.verify.headers["authorization"], "Bearer other");
        assert!(!set.supported.headers.contains_key("authorization"));
        assert!([&set.verify, &set.settle, &set.supported].iter().all(|it| it.headers["x-all"] == "1"));
        assert!(!format!("{set:?}").contains("hunter2"));
        for bad in ["hunter2", "pay X: hunter2", ": hunter2", "a b c: hunter2", "X: hunter2\n"] {
            let error = live(&[url, ("payments.facilitator_headers", bad)]);
            assert!(error.is_ok() || !format!("{:#}", error.unwrap_err()).contains("hunter2"), "{bad}");
        }
        assert!(live(&[url, ("payments.facilitator_headers", "pay X: 1")]).is_err());
    }
}
