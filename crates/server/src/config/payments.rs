//! Validates the `[payments]` settings: what is sold, for how much, and where the money goes.

use super::Config;
use super::model::Payments;
use anyhow::{Context, Result, bail, ensure};
use dropleaf_app::{App, EvmPayment, Mode, PaymentSettings, Prices, SolanaPayment};
use dropleaf_pay::{Cluster, EvmAddress, Mint, Network, SolanaAddress, Token, sandbox};

/// Dollars have two decimals for people and six in tokens.
const DECIMALS: usize = 6;

impl Config {
    /// `None` if nothing is sold.
    pub(super) fn payments(&self) -> Result<Option<PaymentSettings>> {
        let set = &self.payments;
        let mode = match set.mode.as_str() {
            "off" => return Ok(None),
            "sandbox" => Mode::Sandbox,
            "live" => Mode::Live,
            _ => bail!("`payments.mode` must be sandbox, live or off"),
        };
        let (evm, solana) = (evm_payment(set, mode)?, solana_payment(set, mode)?);
        let cards = self.cards(mode)?;
        if mode == Mode::Live {
            let has_wallet = evm.is_some() || solana.is_some();
            ensure!(
                has_wallet || cards.is_some(),
                "live payments need `payments.evm_pay_to` or `payments.solana_pay_to`, the wallet that receives the money, or \
                 `stripe.secret_key` to accept cards"
            );
            ensure!(
                !has_wallet || !set.facilitator_url.is_empty(),
                "`payments.facilitator_url` is needed for live payments to a wallet"
            );
        }
        ensure!((30..=3600).contains(&set.timeout_seconds), "`payments.timeout_seconds` must be 30 to 3600");
        Ok(Some(PaymentSettings {
            mode,
            prices: prices(set)?,
            evm,
            solana,
            cards,
            mandates: self.mandates(mode)?,
            max_timeout_seconds: set.timeout_seconds,
            confirm_settlements: set.confirm_settlements,
            accept_submitted_elsewhere: set.accept_submitted_elsewhere,
            publish_bytes: self.limits.publish_bytes,
        }))
    }

    /// The networks that the sandbox facilitator simulates.
    pub(crate) fn networks(&self) -> Result<Vec<Network>> {
        let set = &self.payments;
        Ok(vec![Network::Evm(evm_network(set)?), Network::Solana(solana_network(set)?)])
    }
}

/// The missing settings that would let the server look up payments on their chains.
pub(crate) fn missing_chains(app: &App) -> Vec<&'static str> {
    let setting = |network: Network| match network {
        Network::Evm(_) => "payments.evm_rpc_url",
        Network::Solana(_) => "payments.solana_rpc_url",
    };
    app.networks_without_chain_access().into_iter().map(setting).collect()
}

fn prices(set: &Payments) -> Result<Prices> {
    let read = |name: &str, text: &str| {
        dollars(text)
            .with_context(|| format!("`payments.prices.{name}`: `{text}` is not a price such as 0.50"))
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

/// Parses dollars into the smallest unit of a token; refuses zero and a million or more.
fn dollars(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(part) || whole.len() > 6 || part.len() > DECIMALS {
        return None;
    }
    let micros: u64 = format!("{whole}{part:0<DECIMALS$}").parse().ok()?;
    (micros > 0).then_some(micros)
}

fn evm_payment(set: &Payments, mode: Mode) -> Result<Option<EvmPayment>> {
    let pay_to = match set.evm_pay_to.as_str() {
        "" if mode == Mode::Live => return Ok(None),
        "" => sandbox::pay_to().0,
        text => evm_address("payments.evm_pay_to", text)?,
    };
    let chain_id = evm_network(set)?;
    let token = if set.evm_asset.is_empty() {
        Token::usdc(chain_id)
            .context("the USDC address on this `payments.evm_network` is unknown: set `payments.evm_asset`")?
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
        "`payments.evm_pay_to` must be your wallet: money sent to the zero address or the token contract is lost"
    );
    Ok(Some(EvmPayment { chain_id, token, pay_to }))
}

/// Money sent to a mistyped address is lost, so the checksum is verified if there is one.
fn evm_address(name: &str, text: &str) -> Result<EvmAddress> {
    EvmAddress::parse(text)
        .with_context(|| format!("`{name}` must be an address: 0x and 40 hexadecimal digits"))?;
    EvmAddress::parse_checked(text).with_context(|| {
        format!(
            "`{name}` has a typo: its EIP-55 checksum (the capital letters) does not match. Copy it again"
        )
    })
}

fn solana_payment(set: &Payments, mode: Mode) -> Result<Option<SolanaPayment>> {
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
        "`payments.solana_pay_to` must be your wallet: money sent to the system program or the token mint is lost"
    );
    Ok(Some(SolanaPayment { cluster, pay_to }))
}

fn evm_network(set: &Payments) -> Result<u64> {
    match Network::parse(&set.evm_network) {
        Some(Network::Evm(chain_id)) => Ok(chain_id),
        _ => bail!("`payments.evm_network` must have the form eip155:8453"),
    }
}

fn solana_network(set: &Payments) -> Result<Cluster> {
    match Network::parse(&set.solana_network) {
        Some(Network::Solana(cluster)) => Ok(cluster),
        _ => bail!("`payments.solana_network` is not a Solana cluster"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::facilitator::tests::{PAY_TO, live};

    #[test]
    fn money_goes_to_no_address_that_it_cannot_come_back_from() {
        let url = ("payments.facilitator_url", "https://pay.example.com");
        let lower = PAY_TO.to_lowercase();
        let with = |name, value| live(&[url, (name, value)]);
        for good in [PAY_TO, &lower] {
            assert!(with("payments.evm_pay_to", good).is_ok(), "{good}");
        }
        for bad in [
            // A mistyped digit, the zero address, the token's contract.
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
    fn prices_are_read_exactly() {
        for (text, micros) in [("0.50", 500_000), ("1", 1_000_000), ("25.00", 25_000_000), ("0.000001", 1)] {
            assert_eq!(dollars(text), Some(micros), "{text}");
        }
        for text in ["", "0", "0.00", "-1", "1.", ".5", "1e3", "0.0000001", "1000000", "1,00"] {
            assert_eq!(dollars(text), None, "{text}");
        }
    }
}
