//! A signed-in person: an account and a browser tab.

use super::{Node, Tab, seed};
use dropleaf_core::account::Account;
use dropleaf_core::session::SignInMethod;
use std::ops::Deref;

#[derive(Debug)]
pub(crate) struct Person<'a> {
    pub(crate) account: Account,
    tab: Tab<'a>,
}

impl Node {
    /// The owner of `node.key`.
    pub(crate) async fn operator(&self) -> Person<'_> {
        let account = self.app().get_account_by_email("operator@localhost").await.unwrap();
        self.signed_in(&account).await
    }

    /// A new account with this address.
    pub(crate) async fn newcomer(&self, address: &str) -> Person<'_> {
        let account = self.app().create_account(address, None, false).await.unwrap();
        self.signed_in(&account).await
    }

    /// A new account on this plan.
    pub(crate) async fn newcomer_on(&self, plan: &str) -> Person<'_> {
        let address = format!("{}@example.org", seed::minter().nonce());
        let account = self.app().create_account(&address, Some(plan), false).await.unwrap();
        self.signed_in(&account).await
    }

    /// Another session of an account.
    pub(crate) async fn signed_in(&self, account: &Account) -> Person<'_> {
        self.signed_in_with(account, "Firefox on Linux").await
    }

    pub(crate) async fn signed_in_with(&self, account: &Account, device: &str) -> Person<'_> {
        let new = self.app().start_session(account, SignInMethod::Code, device).await.unwrap();
        let token = self.app().form_token(&new.session.id);
        Person { account: account.clone(), tab: Tab::of_session(self, &new.secret, token) }
    }
}

impl<'a> Deref for Person<'a> {
    type Target = Tab<'a>;

    fn deref(&self) -> &Tab<'a> {
        &self.tab
    }
}

impl Person<'_> {
    /// Checks that a form is refused with no or another origin, no or another form token, or `Sec-Fetch-Site` of
    /// another site.
    pub(crate) async fn cannot_be_imitated(&self, path: &str, fields: &[(&str, &str)]) {
        let own = self.node.base_url();
        let page = own.replace("://", "://s-aaaaaaaaaaaaaaaaaaaaaaaaaa.");
        let (right, other) = (self.token(), self.node.app().form_token("another session"));
        for (origin, token, site) in [
            (None, Some(right.as_str()), None),
            (Some("https://evil.example"), Some(&right), None),
            (Some("null"), Some(&right), None),
            (Some(&page), Some(&right), None),
            (Some(&own), None, None),
            (Some(&own), Some(""), None),
            (Some(&own), Some("made-up"), None),
            (Some(&own), Some(&other), None),
            (Some(&own), Some(&right), Some("cross-site")),
        ] {
            let sent: Vec<_> =
                token.map(|token| ("form_token", token)).into_iter().chain(fields.iter().copied()).collect();
            let headers = [("origin", origin), ("sec-fetch-site", site)];
            let given = headers.into_iter().filter_map(|(name, value)| Some((name, value?)));
            let ask = given.fold(self.bare(path), |ask, (name, value)| ask.header(name, value));
            let answer = ask.fields(&sent).send().await;
            assert_eq!(answer.status, 403, "{path} {origin:?} {token:?} {site:?}: {}", answer.text());
            assert!(!answer.has("location"));
        }
    }
}
