//! Parses the `paymentRequirements` that a resource server sends into an offer.

use serde_json::Value;

use crate::address::{EvmAddress, SolanaAddress};
use crate::amount::Amount;
use crate::generation::Generation;
use crate::json::{self, Object};
use crate::network::Network;
use crate::offer::{Asset, Mint, Offer, SCHEME, Token};

const MALFORMED: &str = "invalid_payment_requirements";

pub(super) fn read(requirements: &Object, generation: Generation) -> Result<Offer, &'static str> {
    let text = |name| json::text(requirements, name).map_err(|_| MALFORMED);
    if text("scheme")? != SCHEME {
        return Err("unsupported_scheme");
    }
    let (network, amount) = match generation {
        Generation::V1 => (Network::parse_v1(text("network")?), text("maxAmountRequired")?),
        Generation::V2 => (Network::parse(text("network")?), text("amount")?),
    };
    let network = network.ok_or("invalid_network")?;
    let amount = Amount::parse(amount).ok_or(MALFORMED)?;
    let timeout = requirements.get("maxTimeoutSeconds").and_then(Value::as_u64);
    let timeout = timeout.and_then(|it| u32::try_from(it).ok()).ok_or(MALFORMED)?;
    let extra = |name| requirements.get("extra").and_then(|it| it.get(name)).and_then(Value::as_str);
    let asset = match network {
        Network::Evm(chain_id) => {
            let (Some(name), Some(version)) = (extra("name"), extra("version")) else {
                return Err(match generation {
                    Generation::V1 => MALFORMED,
                    Generation::V2 => "invalid_exact_evm_missing_eip712_domain",
                });
            };
            let address = EvmAddress::parse(text("asset")?).ok_or(MALFORMED)?;
            let token = Token { address, name: name.to_owned(), version: version.to_owned() };
            Asset::Evm { chain_id, token, pay_to: EvmAddress::parse(text("payTo")?).ok_or(MALFORMED)? }
        }
        Network::Solana(cluster) => {
            let fee_payer = extra("feePayer").and_then(SolanaAddress::parse).ok_or(MALFORMED)?;
            let address = SolanaAddress::parse(text("asset")?).ok_or(MALFORMED)?;
            let mint = Mint { address, decimals: None, fee_payer, memo: extra("memo").map(str::to_owned) };
            Asset::Solana { cluster, mint, pay_to: SolanaAddress::parse(text("payTo")?).ok_or(MALFORMED)? }
        }
    };
    Ok(Offer::new(asset, amount, timeout))
}
