//! Somebody who has signed in, and the forms they send.

use super::{Answer, Ask, Node};
use dropleaf_core::account::Account;
use dropleaf_core::session::Method;

#[derive(Debug)]
pub(crate) struct Someone<'a> {
    node: &'a Node,
    pub(crate) account: Account,
    pub(crate) cookie: String,
    pub(crate) form_token: String,
}

impl Node {
    /// Signs in whoever has this address.
    pub(crate) async fn signed_in(&self, address: &str) -> Someone<'_> {
        let account = self.app().get_account_by_email(address).await.unwrap();
        let new = self.app().start_session(&account, Method::Code, "Tests").await.unwrap();
        Someone {
            node: self,
            account,
            cookie: format!("__Host-session={}", new.secret),
            form_token: self.app().form_token(&new.session.id),
        }
    }

    pub(crate) async fn signed_in_operator(&self) -> Someone<'_> {
        self.signed_in("operator@localhost").await
    }

    /// A new account, signed in.
    pub(crate) async fn newcomer(&self, address: &str) -> Someone<'_> {
        self.app().create_account(address, None, false).await.unwrap();
        self.signed_in(address).await
    }
}

impl Someone<'_> {
    pub(crate) async fn sees(&self, path: &str) -> Answer {
        self.node.get(path).browser().cookie(&self.cookie).send().await
    }

    /// A form of a page of ours.
    pub(crate) fn form(&self, path: &str, fields: &[(&str, &str)]) -> Ask {
        let mut all = vec![("form_token", self.form_token.as_str())];
        all.extend_from_slice(fields);
        self.ask(path).header("origin", &self.node.base_url()).fields(&all)
    }

    pub(crate) async fn sends(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        self.form(path, fields).send().await
    }

    /// What a form must not get by with: no origin, another one, no token, another's token.
    pub(crate) async fn cannot_be_imitated(&self, path: &str, fields: &[(&str, &str)]) {
        let base = self.node.base_url();
        let token = ("form_token", self.form_token.as_str());
        let wrong = ("form_token", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
        for (origin, token) in [
            (None, Some(token)),
            (Some("https://evil.example"), Some(token)),
            (Some("null"), Some(token)),
            (Some(base.as_str()), None),
            (Some(base.as_str()), Some(wrong)),
        ] {
            let sent: Vec<_> = token.into_iter().chain(fields.iter().copied()).collect();
            let ask = self.ask(path).fields(&sent);
            let ask = match origin {
                Some(origin) => ask.header("origin", origin),
                None => ask,
            };
            let answer = ask.send().await;
            assert_eq!(answer.status, 403, "{path} {origin:?} {token:?}: {}", answer.text());
        }
    }

    fn ask(&self, path: &str) -> Ask {
        self.node.post(path).browser().cookie(&self.cookie)
    }
}
