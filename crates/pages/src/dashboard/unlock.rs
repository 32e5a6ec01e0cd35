//! `/dashboard/billing/unlocks/{sku}`: asks before an unlock is bought from the balance.

use super::billing::{UnlockOffer, UnlockState, dollars};
use super::{Section, Shell};
use crate::Html;
use crate::assets::{BILLING_CSS, PAY_CSS};
use askama::Template;

#[derive(Debug)]
pub struct UnlockPage<'a> {
    pub offer: UnlockOffer,
    pub balance_minor: i64,
    pub sandbox: bool,
    /// The ID of this form, which buys once.
    pub form_id: &'a str,
    /// Why it was not bought, such as a price that changed.
    pub problem: Option<&'a str>,
}

#[derive(Template)]
#[template(path = "dashboard/unlock.html")]
struct UnlockTemplate<'a> {
    shell: Shell<'a>,
    pay_css: String,
    billing_css: String,
    page: &'a UnlockPage<'a>,
}

pub fn unlock(shell: Shell<'_>, page: &UnlockPage<'_>) -> Html {
    let (pay_css, billing_css) = (PAY_CSS.path(), BILLING_CSS.path());
    // Writing into memory does not fail.
    Html(UnlockTemplate { shell, pay_css, billing_css, page }.render().unwrap_or_default())
}

impl UnlockPage<'_> {
    fn balance(&self) -> String {
        dollars(self.balance_minor)
    }

    fn left(&self) -> String {
        dollars(self.balance_minor.saturating_sub(self.offer.price_minor))
    }
}
