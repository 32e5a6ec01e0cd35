//! A browser's tab, as far as the dashboard needs one: it keeps cookies, reads the form token from the page it shows, and
//! sends forms as a browser does.

use super::{Answer, Ask, Node};
use std::collections::BTreeMap;

#[derive(Debug)]
pub(crate) struct Tab<'a> {
    node: &'a Node,
    pub(crate) cookies: BTreeMap<String, String>,
    /// The token of the last page that had a form.
    pub(crate) token: String,
}

impl<'a> Tab<'a> {
    pub(crate) fn new(node: &'a Node) -> Self {
        Self { node, cookies: BTreeMap::new(), token: String::new() }
    }

    /// One that shows this page.
    pub(crate) async fn at(node: &'a Node, path: &str) -> Self {
        let mut tab = Self::new(node);
        tab.get(path).await;
        tab
    }

    pub(crate) async fn get(&mut self, path: &str) -> Answer {
        let answer = self.dressed(self.node.get(path), true).send().await;
        self.keep(answer)
    }

    /// Sends a form of the page it shows.
    pub(crate) async fn submit(&mut self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let answer = self.form(path, fields).header("origin", &self.node.base_url()).send().await;
        self.keep(answer)
    }

    /// The same form before it is sent, without the word of a browser where it comes from.
    pub(crate) fn form(&self, path: &str, fields: &[(&str, &str)]) -> Ask {
        let token = [("form_token", self.token.as_str())];
        self.dressed(self.node.post(path), true).fields(&[fields, &token].concat())
    }

    /// A request that a script of the page makes, before it is filled and sent.
    pub(crate) fn script(&self, path: &str) -> Ask {
        self.dressed(self.node.post(path), false)
    }

    /// The value of its session's cookie, if it has one.
    pub(crate) fn session(&self) -> Option<&str> {
        self.cookies.get("__Host-session").map(String::as_str)
    }

    fn dressed(&self, ask: Ask, navigates: bool) -> Ask {
        let pairs: Vec<String> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let ask = if navigates { ask.browser() } else { ask };
        if pairs.is_empty() { ask } else { ask.cookie(&pairs.join("; ")) }
    }

    fn keep(&mut self, answer: Answer) -> Answer {
        for line in answer.headers.get_all("set-cookie") {
            let line = line.to_str().unwrap();
            let is_tight = ["; Path=/", "; HttpOnly", "; SameSite=Lax", "; Secure"]
                .iter()
                .all(|word| line.contains(word));
            assert!(line.starts_with("__Host-") && is_tight && !line.contains("Domain"), "{line}");
            let (name, value) = line.split(';').next().unwrap().split_once('=').unwrap();
            if line.contains("Max-Age=0") {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        let page = answer.text();
        if let Some((_, rest)) = page.split_once("name=\"form_token\" value=\"") {
            rest.split('"').next().unwrap().clone_into(&mut self.token);
        }
        answer
    }
}
