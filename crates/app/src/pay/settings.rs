//! What the operator sells, at which prices, and where the money goes.

use super::CardSettings;
use dropleaf_core::payment::Item;
use dropleaf_core::unlock::Sku;
use dropleaf_pay::ap2::Issuers;
use dropleaf_pay::{Cluster, EvmAddress, Mint, Network, SolanaAddress, Token};

/// Micro-dollars per cent: amounts have 6 decimals, balances 2.
const MICROS_PER_CENT: u64 = 10_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Everything is checked, no money moves.
    Sandbox,
    Live,
}

#[derive(Debug, Clone)]
pub struct PaymentSettings {
    pub mode: Mode,
    pub prices: Prices,
    pub evm: Option<EvmPayment>,
    pub solana: Option<SolanaPayment>,
    /// Always set in the sandbox; in live mode if there is a card processor.
    pub cards: Option<CardSettings>,
    pub mandates: MandateSettings,
    /// How long a signature should be valid.
    pub max_timeout_seconds: u32,
    /// Whether a settlement reported by the facilitator must be on the chain before the purchase is fulfilled, where the
    /// chain can be queried.
    pub confirm_settlements: bool,
    /// Whether a payment that was submitted to the chain before we received it is accepted. If not, it is left to the
    /// operator.
    pub accept_submitted_elsewhere: bool,
    /// The largest page that is sold, in bytes.
    pub publish_bytes: u64,
}

/// In the smallest unit of a token with 6 decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prices {
    pub publish: u64,
    pub provision: u64,
    pub make_permanent: u64,
    pub custom_domain: u64,
    pub higher_limits: u64,
}

impl Prices {
    pub const fn of(&self, item: Item) -> u64 {
        match item {
            Item::Publish => self.publish,
            Item::Provision => self.provision,
            Item::Unlock(Sku::MakePermanent) => self.make_permanent,
            Item::Unlock(Sku::CustomDomain) => self.custom_domain,
            Item::Unlock(Sku::HigherLimits) => self.higher_limits,
            // The amount is the buyer's choice.
            Item::Topup => 0,
        }
    }

    /// In cents, rounded up: the amount drawn from a balance.
    pub fn cents_of(&self, item: Item) -> i64 {
        i64::try_from(self.of(item).div_ceil(MICROS_PER_CENT)).unwrap_or(i64::MAX)
    }
}

/// How AP2 mandates are accepted. Without an issuer, none are.
#[derive(Debug, Clone, Default)]
pub struct MandateSettings {
    pub issuers: Issuers,
    /// The audience and payee that mandates must name; `None`: the base URL.
    pub merchant_id: Option<String>,
    /// The name of the payee, for display; `None`: the host.
    pub payee_name: Option<String>,
}

#[derive(Debug, Clone)]
pub struct EvmPayment {
    pub chain_id: u64,
    pub token: Token,
    pub pay_to: EvmAddress,
}

#[derive(Debug, Clone, Copy)]
pub struct SolanaPayment {
    pub cluster: Cluster,
    pub pay_to: SolanaAddress,
}

impl PaymentSettings {
    pub fn is_sandbox(&self) -> bool {
        self.mode == Mode::Sandbox
    }

    /// Whether it can be paid on a configured network. A balance is topped up by card only; unlocks are paid only on the EVM network. Spec §4 Payment, 4.
    pub fn is_payable(&self, item: Item) -> bool {
        if item == Item::Topup {
            return false;
        }
        let solana = self.solana.filter(|_| !matches!(item, Item::Unlock(_)));
        let solana = solana.is_some_and(|method| Mint::usdc(method.cluster, method.pay_to).is_some());
        self.evm.is_some() || solana
    }

    pub fn networks(&self) -> Vec<Network> {
        let evm = self.evm.as_ref().map(|method| Network::Evm(method.chain_id));
        let solana = self.solana.map(|method| Network::Solana(method.cluster));
        evm.into_iter().chain(solana).collect()
    }
}
