//! The `[payments]` settings, checked: what is sold, for how much, and where the money goes.

use super::Config;
use super::model::Payments;
use anyhow::{Context, Result, bail, ensure};
use dropleaf_app::{EvmWay, Mode, PaymentSettings, Prices, SolanaWay};
use dropleaf_pay::{Cluster, EvmAddress, Mint, Network, SolanaAddress, Token, sandbox};
use http::{HeaderMap, HeaderName, HeaderValue};
use reqwest::Url;
use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

/// Dollars have two decimals for people and six in tokens.
const DECIMALS: usize = 6;

/// How the facilitator of live payments is asked. Addresses of servers may hold a key, so no log shows more than the host.
#[derive(Clone)]
pub struct FacilitatorSettings {
    pub verify: Asking,
    pub settle: Asking,
    pub supported: Asking,
    /// Where the EVM chain itself can be asked.
    pub evm_rpc_url: Option<Url>,
}

/// One of its operations.
#[derive(Clone)]
pub struct Asking {
    pub url: Url,
    /// Marked as sensitive, so that they show up in no log.
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
            .finish()
    }
}

impl fmt::Debug for Asking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Asking")
            .field("host", &self.url.host_str())
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

impl Config {
    /// None when nothing is sold.
    pub(super) fn payments(&self) -> Result<Option<PaymentSettings>> {
        let set = &self.payments;
        let mode = match set.mode.as_str() {
            "off" => return Ok(None),
            "sandbox" => Mode::Sandbox,
            "live" => Mode::Live,
            _ => bail!("`payments.mode` must be sandbox, live or off"),
        };
        let (evm, solana) = (evm_way(set, mode)?, solana_way(set, mode)?);
        if mode == Mode::Live {
            ensure!(
                !set.facilitator_url.is_empty(),
                "`payments.facilitator_url` is needed for live payments"
            );
            ensure!(
                evm.is_some() || solana.is_some(),
                "live payments need `payments.evm_pay_to` or `payments.solana_pay_to`: where the money goes"
            );
        }
        ensure!((30..=3600).contains(&set.timeout_seconds), "`payments.timeout_seconds` must be 30 to 3600");
        Ok(Some(PaymentSettings {
            mode,
            prices: prices(set)?,
            evm,
            solana,
            max_timeout_seconds: set.timeout_seconds,
            publish_bytes: self.limits.publish_bytes,
        }))
    }

    /// None unless payments are live.
    pub(super) fn facilitator(&self) -> Result<Option<Box<FacilitatorSettings>>> {
        let set = &self.payments;
        if set.mode != "live" {
            return Ok(None);
        }
        let base = outside("payments.facilitator_url", &set.facilitator_url)?;
        ensure!(base.query().is_none(), "`payments.facilitator_url` must not have a query");
        for (name, seconds) in
            [("verify", set.verify_timeout_seconds), ("settle", set.settle_timeout_seconds)]
        {
            ensure!((1..=600).contains(&seconds), "`payments.{name}_timeout_seconds` must be 1 to 600");
        }
        let asking = |operation: &str, seconds| -> Result<Asking> {
            Ok(Asking {
                url: format!("{}/{operation}", base.as_str().trim_end_matches('/')).parse()?,
                headers: headers(&set.facilitator_headers, operation)?,
                timeout: Duration::from_secs(seconds),
            })
        };
        let rpc = set.evm_rpc_url.as_str();
        Ok(Some(Box::new(FacilitatorSettings {
            verify: asking("verify", set.verify_timeout_seconds)?,
            settle: asking("settle", set.settle_timeout_seconds)?,
            supported: asking("supported", set.verify_timeout_seconds)?,
            evm_rpc_url: (!rpc.is_empty()).then(|| outside("payments.evm_rpc_url", rpc)).transpose()?,
        })))
    }

    /// The networks that a facilitator without a chain plays.
    pub(crate) fn networks(&self) -> Result<Vec<Network>> {
        let set = &self.payments;
        Ok(vec![Network::Evm(evm_network(set)?), Network::Solana(solana_network(set)?)])
    }
}

/// The address of a server that is trusted with money, or with what is known about it. Over plain http anybody on the
/// way could answer in its place, so that is for this machine alone.
fn outside(name: &str, text: &str) -> Result<Url> {
    // What is wrong with it is not repeated: it may hold a key.
    let url: Url = text
        .parse()
        .ok()
        .with_context(|| format!("`{name}` is not an address such as https://example.com"))?;
    ensure!(
        url.username().is_empty() && url.password().is_none() && url.fragment().is_none(),
        "`{name}` must not have a user, a password or a fragment"
    );
    let host = url.host_str().unwrap_or_default();
    let ip: Option<IpAddr> = host.trim_matches(['[', ']']).parse().ok();
    let here = host == "localhost" || ip.is_some_and(|ip| ip.is_loopback());
    match url.scheme() {
        "https" => Ok(url),
        "http" if here => Ok(url),
        "http" => bail!(
            "`{name}` must begin with https:// unless it is on this machine: over plain http anybody on the way could answer"
        ),
        _ => bail!("`{name}` must begin with https://"),
    }
}

/// The headers for one operation: those for all, and its own.
fn headers(lines: &[String], operation: &str) -> Result<HeaderMap> {
    let mut found = HeaderMap::new();
    for line in lines {
        // The line itself may hold a secret and is not repeated.
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

fn prices(set: &Payments) -> Result<Prices> {
    let read = |name: &str, text: &str| {
        dollars(text).with_context(|| format!("`payments.prices.{name}`: `{text}` is no price such as 0.50"))
    };
    let all = &set.prices;
    Ok(Prices {
        publish: read("publish", &all.publish)?,
        provision: read("provision", &all.provision)?,
        make_permanent: read("make_permanent", &all.make_permanent)?,
        custom_domain: read("custom_domain", &all.custom_domain)?,
        higher_limits: read("higher_limits", &all.higher_limits)?,
    })
}

/// Dollars in the smallest unit of a token; nothing is free and nothing costs a million.
fn dollars(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(part) || whole.len() > 6 || part.len() > DECIMALS {
        return None;
    }
    let micros: u64 = format!("{whole}{part:0<DECIMALS$}").parse().ok()?;
    (micros > 0).then_some(micros)
}

fn evm_way(set: &Payments, mode: Mode) -> Result<Option<EvmWay>> {
    let pay_to = match set.evm_pay_to.as_str() {
        "" if mode == Mode::Live => return Ok(None),
        "" => sandbox::pay_to().0,
        text => evm_address("payments.evm_pay_to", text)?,
    };
    let chain_id = evm_network(set)?;
    let token = if set.evm_asset.is_empty() {
        Token::usdc(chain_id)
            .context("USDC is not known on this `payments.evm_network`: set `payments.evm_asset`")?
    } else {
        ensure!(
            !set.evm_asset_name.is_empty() && !set.evm_asset_version.is_empty(),
            "`payments.evm_asset` needs `evm_asset_name` and `evm_asset_version`: signatures depend on them"
        );
        Token {
            address: evm_address("payments.evm_asset", &set.evm_asset)?,
            name: set.evm_asset_name.clone(),
            version: set.evm_asset_version.clone(),
        }
    };
    ensure!(
        pay_to.0 != [0; 20] && pay_to != token.address,
        "`payments.evm_pay_to` must be a wallet of yours: nobody gets money out of the zero address or the token's contract"
    );
    Ok(Some(EvmWay { chain_id, token, pay_to }))
}

/// Money that is sent to a mistyped address is gone, so the checksum is looked at where there is one.
fn evm_address(name: &str, text: &str) -> Result<EvmAddress> {
    EvmAddress::parse(text)
        .with_context(|| format!("`{name}` must be an address: 0x and 40 hexadecimal digits"))?;
    EvmAddress::parse_checked(text).with_context(|| {
        format!("`{name}` has a slip: its capital letters are a checksum (EIP-55) that does not fit. Copy it again")
    })
}

fn solana_way(set: &Payments, mode: Mode) -> Result<Option<SolanaWay>> {
    let pay_to = match set.solana_pay_to.as_str() {
        "" if mode == Mode::Live => return Ok(None),
        "" => sandbox::pay_to().1,
        text => SolanaAddress::parse(text)
            .context("`payments.solana_pay_to` must be the address of a wallet, in base58")?,
    };
    let cluster = solana_network(set)?;
    let mint = Mint::usdc(cluster, pay_to).map(|mint| mint.address);
    ensure!(
        pay_to.0 != [0; 32] && mint != Some(pay_to),
        "`payments.solana_pay_to` must be a wallet of yours: nobody gets money out of the system program or the token's mint"
    );
    Ok(Some(SolanaWay { cluster, pay_to }))
}

fn evm_network(set: &Payments) -> Result<u64> {
    match Network::parse(&set.evm_network) {
        Some(Network::Evm(chain_id)) => Ok(chain_id),
        _ => bail!("`payments.evm_network` must be written like eip155:8453"),
    }
}

fn solana_network(set: &Payments) -> Result<Cluster> {
    match Network::parse(&set.solana_network) {
        Some(Network::Solana(cluster)) => Ok(cluster),
        _ => bail!("`payments.solana_network` names no cluster of Solana"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Layers, Sources};

    const PAY_TO: &str = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

    fn live(more: &[(&str, &str)]) -> Result<FacilitatorSettings> {
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
    fn money_goes_to_no_address_that_it_cannot_come_back_from() {
        let url = ("payments.facilitator_url", "https://pay.example.com");
        let lower = PAY_TO.to_lowercase();
        let with = |name, value| live(&[url, (name, value)]);
        for good in [PAY_TO, &lower] {
            assert!(with("payments.evm_pay_to", good).is_ok(), "{good}");
        }
        for bad in [
            // A digit that was mistyped, nobody's, the token's own.
            "0x70997970C51812dc3A010C7d01b50e0d17dc79C9",
            "0x0000000000000000000000000000000000000000",
            "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
            "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
        ] {
            assert!(with("payments.evm_pay_to", bad).is_err(), "{bad}");
        }
        assert!(with("payments.solana_pay_to", "9hSR6S7WPtxmTojgo6GG3k4yDPecgJY292j7xrsUGWBu").is_ok());
        for bad in ["11111111111111111111111111111111", "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"] {
            assert!(with("payments.solana_pay_to", bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn keys_in_addresses_are_hidden() {
        let set = live(&[
            ("payments.facilitator_url", "https://pay.example.com/hunter2"),
            ("payments.evm_rpc_url", "https://rpc.example.com/v2/hunter3?key=hunter4"),
        ]);
        let shown = format!("{:?}", set.unwrap());
        assert!(shown.contains("rpc.example.com") && !shown.contains("hunter"), "{shown}");
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

    #[test]
    fn prices_are_read_exactly() {
        for (text, micros) in [("0.50", 500_000), ("1", 1_000_000), ("25.00", 25_000_000), ("0.000001", 1)] {
            assert_eq!(dollars(text), Some(micros), "{text}");
        }
        for text in ["", "0", "0.00", "-1", "1.", ".5", "1e3", "0.0000001", "1000000", "1,00"] {
            assert_eq!(dollars(text), None, "{text}");
        }
    }
}
