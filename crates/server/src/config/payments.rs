//! The `[payments]` settings, checked: what is sold, for how much, and where the money goes.

use super::Config;
use super::model::Payments;
use anyhow::{Context, Result, bail, ensure};
use dropleaf_app::{EvmWay, Mode, PaymentSettings, Prices, SolanaWay};
use dropleaf_pay::{EvmAddress, Network, SolanaAddress, Token, sandbox};

/// Dollars have two decimals for people and six in tokens.
const DECIMALS: usize = 6;

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
        text => EvmAddress::parse(text)
            .context("`payments.evm_pay_to` must be an address: 0x and 40 hexadecimal digits")?,
    };
    let Some(Network::Evm(chain_id)) = Network::parse(&set.evm_network) else {
        bail!("`payments.evm_network` must be written like eip155:8453");
    };
    let token = if set.evm_asset.is_empty() {
        Token::usdc(chain_id)
            .context("USDC is not known on this `payments.evm_network`: set `payments.evm_asset`")?
    } else {
        ensure!(
            !set.evm_asset_name.is_empty() && !set.evm_asset_version.is_empty(),
            "`payments.evm_asset` needs `evm_asset_name` and `evm_asset_version`: signatures depend on them"
        );
        Token {
            address: EvmAddress::parse(&set.evm_asset)
                .context("`payments.evm_asset` must be an address: 0x and 40 hexadecimal digits")?,
            name: set.evm_asset_name.clone(),
            version: set.evm_asset_version.clone(),
        }
    };
    Ok(Some(EvmWay { chain_id, token, pay_to }))
}

fn solana_way(set: &Payments, mode: Mode) -> Result<Option<SolanaWay>> {
    let pay_to = match set.solana_pay_to.as_str() {
        "" if mode == Mode::Live => return Ok(None),
        "" => sandbox::pay_to().1,
        text => SolanaAddress::parse(text)
            .context("`payments.solana_pay_to` must be the address of a wallet, in base58")?,
    };
    let Some(Network::Solana(cluster)) = Network::parse(&set.solana_network) else {
        bail!("`payments.solana_network` names no cluster of Solana");
    };
    Ok(Some(SolanaWay { cluster, pay_to }))
}

#[cfg(test)]
mod tests {
    use super::*;

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
