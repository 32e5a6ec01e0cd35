//! The sandbox on a host that the world can reach: whoever signs gets for nothing what others pay for. So that this is no
//! way around the limits of those who publish without an account, its sales count against the same ones.

use crate::app::App;
use dropleaf_core::payment::{Item, PaymentState};
use dropleaf_core::sign_up::SignUp;
use dropleaf_core::{Code, Error, Result};
use dropleaf_pay::Proof;
use dropleaf_store::DbError;
use std::net::IpAddr;

impl App {
    /// Whether strangers can have what is sold without paying.
    pub fn gives_away(&self) -> bool {
        let sandbox = self.settings.payments.as_ref().is_some_and(super::PaymentSettings::is_sandbox);
        sandbox && !self.hosts.base.is_loopback()
    }

    /// An account for nothing is an account by signing up.
    pub fn check_provision(&self) -> Result<()> {
        if !self.gives_away() || self.settings.sign_up == SignUp::Open {
            return Ok(());
        }
        let said = "This server does not allow open sign-up, and sandbox payments cannot buy an account. Ask the operator for \
                    an account. Nothing was charged.";
        Err(Error::new(Code::Forbidden, said))
    }

    /// Counts a sale for which nobody pays, before its proof is used. A proof that is known already, or no good, buys
    /// nothing and is not counted: the sale itself says so.
    pub async fn count_giveaway(&self, item: Item, proof: &Proof, ip: Option<IpAddr>) -> Result<()> {
        if !self.gives_away() || matches!(item, Item::Unlock(_)) {
            return Ok(());
        }
        let Ok(checked) = proof.check(&self.listing(item)?.terms, self.now()) else { return Ok(()) };
        let known = self.store.find_payment_by_key(checked.key.as_str()).await?;
        if known.is_some_and(|payment| payment.state != PaymentState::Refused) {
            return Ok(());
        }
        let ip = ip.ok_or_else(|| Error::plain(Code::NoClientIp))?;
        let Some(quota) = self.anonymous_quota(ip) else { return Ok(()) };
        match self.store.commit(quota.take(self.now()).collect()).await {
            Ok(_) => Ok(()),
            Err(error @ DbError::Guard(label)) => {
                Err(self.rate_refusal(label).unwrap_or_else(|| error.into()))
            }
            Err(error) => Err(error.into()),
        }
    }
}
