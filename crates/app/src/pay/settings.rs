//! What the operator sells, for how much, and where the money goes.

use dropleaf_core::payment::Item;
use dropleaf_core::unlock::Sku;
use dropleaf_pay::{Cluster, EvmAddress, Mint, Network, SolanaAddress, Token};

/// Micro-dollars in a cent: amounts have 6 decimals, balances 2.
const MICROS_PER_CENT: u64 = 10_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Everything is checked, nothing is moved.
    Sandbox,
    Live,
}

#[derive(Debug, Clone)]
pub struct PaymentSettings {
    pub mode: Mode,
    pub prices: Prices,
    pub evm: Option<EvmWay>,
    pub solana: Option<SolanaWay>,
    /// How long a signature should be good for.
    pub max_timeout_seconds: u32,
    /// Whether a settlement that the facilitator claims must be on the chain before anything is made, where the chain can
    /// be asked.
    pub confirm_settlements: bool,
    /// Whether a payment buys that was submitted to the chain before it came to us. If not, it is left to the operator.
    pub accept_submitted_elsewhere: bool,
    /// The largest page that is sold.
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
        }
    }

    /// In cents, rounded up: what is drawn from a balance.
    pub fn minor_of(&self, item: Item) -> i64 {
        i64::try_from(self.of(item).div_ceil(MICROS_PER_CENT)).unwrap_or(i64::MAX)
    }
}

#[derive(Debug, Clone)]
pub struct EvmWay {
    pub chain_id: u64,
    pub token: Token,
    pub pay_to: EvmAddress,
}

#[derive(Debug, Clone, Copy)]
pub struct SolanaWay {
    pub cluster: Cluster,
    pub pay_to: SolanaAddress,
}

impl PaymentSettings {
    pub fn is_sandbox(&self) -> bool {
        self.mode == Mode::Sandbox
    }

    /// Whether there is something to be had for the money. Play money may buy what there is not yet: nobody loses by it,
    /// and clients can be tried with all there will be.
    pub const fn is_on_sale(&self, item: Item) -> bool {
        match item {
            Item::Publish | Item::Provision => true,
            Item::Unlock(sku) => sku.is_on_sale() || matches!(self.mode, Mode::Sandbox),
        }
    }

    /// Whether a network that is configured can pay for it. Unlocks are paid on the EVM network alone. Spec §4 Payment, 4.
    pub fn is_payable(&self, item: Item) -> bool {
        let solana = self.solana.filter(|_| !matches!(item, Item::Unlock(_)));
        let solana = solana.is_some_and(|way| Mint::usdc(way.cluster, way.pay_to).is_some());
        self.is_on_sale(item) && (self.evm.is_some() || solana)
    }

    pub fn networks(&self) -> Vec<Network> {
        let evm = self.evm.as_ref().map(|way| Network::Evm(way.chain_id));
        let solana = self.solana.map(|way| Network::Solana(way.cluster));
        evm.into_iter().chain(solana).collect()
    }
}
