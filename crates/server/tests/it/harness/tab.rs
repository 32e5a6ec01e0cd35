//! A minimal browser tab for the dashboard: keeps cookies, reads the form token from the current page, and sends forms
//! like a browser.

use super::{Answer, Ask, Node};
use std::cell::RefCell;
use std::collections::BTreeMap;

#[derive(Debug)]
pub(crate) struct Tab<'a> {
    pub(super) node: &'a Node,
    cookies: RefCell<BTreeMap<String, String>>,
    /// The token of the last page with a form.
    token: RefCell<String>,
}

impl<'a> Tab<'a> {
    pub(crate) fn new(node: &'a Node) -> Self {
        Self { node, cookies: RefCell::default(), token: RefCell::default() }
    }

    /// A tab that shows this page.
    pub(crate) async fn at(node: &'a Node, path: &str) -> Self {
        let tab = Self::new(node);
        tab.get(path).await;
        tab
    }

    /// A tab with an existing session.
    pub(crate) fn of_session(node: &'a Node, secret: &str, token: String) -> Self {
        let tab = Self { token: token.into(), ..Self::new(node) };
        tab.cookies.borrow_mut().insert("__Host-session".into(), secret.to_owned());
        tab
    }

    /// The same cookies with the form token of another tab.
    pub(crate) fn with_token_of(&self, other: &Tab<'_>) -> Self {
        Self { node: self.node, cookies: self.cookies.clone(), token: other.token.clone() }
    }

    /// Browsers do not send the fragment.
    pub(crate) async fn get(&self, path: &str) -> Answer {
        let answer = self.look(path.split('#').next().unwrap_or_default()).send().await;
        self.keep(answer)
    }

    /// The same before it is sent.
    pub(crate) fn look(&self, path: &str) -> Ask {
        self.dressed(self.node.get(path), true)
    }

    /// Sends a form of the current page.
    pub(crate) async fn submit(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let answer = self.form(path, fields).header("origin", &self.node.base_url()).send().await;
        self.keep(answer)
    }

    /// The same form before it is sent, without `Origin` and fetch metadata.
    pub(crate) fn form(&self, path: &str, fields: &[(&str, &str)]) -> Ask {
        let token = self.token();
        self.bare(path).fields(&[fields, &[("form_token", token.as_str())]].concat())
    }

    /// An empty form: no fields, no token, no origin.
    pub(crate) fn bare(&self, path: &str) -> Ask {
        self.dressed(self.node.post(path), true)
    }

    /// A request of the page's script, before it is filled and sent.
    pub(crate) fn script(&self, path: &str) -> Ask {
        self.dressed(self.node.post(path), false)
    }

    /// Loses its cookies, as when they expire.
    pub(crate) fn forget(&self) {
        self.cookies.borrow_mut().clear();
    }

    pub(crate) fn token(&self) -> String {
        self.token.borrow().clone()
    }

    /// The value of its session cookie, if any.
    pub(crate) fn session(&self) -> Option<String> {
        self.cookies.borrow().get("__Host-session").cloned()
    }

    /// The value of its `Cookie` header.
    pub(crate) fn cookie(&self) -> String {
        let cookies = self.cookies.borrow();
        let pairs: Vec<String> = cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        pairs.join("; ")
    }

    fn dressed(&self, ask: Ask, navigates: bool) -> Ask {
        let cookie = self.cookie();
        let ask = if navigates { ask.browser() } else { ask };
        if cookie.is_empty() { ask } else { ask.cookie(&cookie) }
    }

    fn keep(&self, answer: Answer) -> Answer {
        for line in answer.headers.get_all("set-cookie") {
            let line = line.to_str().unwrap();
            let is_tight = ["; Path=/", "; HttpOnly", "; SameSite=Lax", "; Secure"]
                .iter()
                .all(|word| line.contains(word));
            assert!(line.starts_with("__Host-") && is_tight && !line.contains("Domain"), "{line}");
            let (name, value) = line.split(';').next().unwrap().split_once('=').unwrap();
            if line.contains("Max-Age=0") {
                self.cookies.borrow_mut().remove(name);
            } else {
                self.cookies.borrow_mut().insert(name.to_owned(), value.to_owned());
            }
        }
        let page = answer.text();
        if let Some((_, rest)) = page.split_once("name=\"form_token\" value=\"") {
            self.token.replace(rest.split('"').next().unwrap().to_owned());
        }
        answer
    }
}
