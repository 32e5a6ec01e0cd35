//! Limits the sandbox on a public host, where any client that signs gets for free what others pay for. To keep this from
//! bypassing the anonymous quotas, its sales count against them.

use crate::app::App;
use dropleaf_core::payment::{Item, PaymentState};
use dropleaf_core::sign_up::SignUp;
use dropleaf_core::{Code, Error, Result};
use dropleaf_pay::Proof;
use dropleaf_store::DbError;
use std::net::IpAddr;

impl App {
    /// Whether anyone can get what is sold without paying.
    pub fn is_public_sandbox(&self) -> bool {
        let sandbox = self.settings.payments.as_ref().is_some_and(super::PaymentSettings::is_sandbox);
        sandbox && !self.hosts.base.is_loopback()
    }

    /// A free account is subject to the sign-up policy.
    pub fn check_provision(&self) -> Result<()> {
        if !self.is_public_sandbox() || self.settings.sign_up == SignUp::Open {
            return Ok(());
        }
        let said = "This server does not allow open sign-up, and sandbox payments cannot buy an account. Ask the operator for \
                    an account. Nothing was charged.";
        Err(Error::new(Code::Forbidden, said))
    }

    /// Counts a free sale before its proof is used. A known or invalid proof buys nothing and is not counted; the sale
    /// itself reports it.
    pub async fn count_sandbox_sale(&self, item: Item, proof: &Proof, ip: Option<IpAddr>) -> Result<()> {
        if !self.is_public_sandbox() || matches!(item, Item::Unlock(_)) {
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
