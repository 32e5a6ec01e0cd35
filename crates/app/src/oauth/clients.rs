//! Programs that register themselves, and what proves at the token endpoint that one is itself.

use crate::app::App;
use dropleaf_core::oauth::client::{AuthMethod, Client, Description};
use dropleaf_core::oauth::{OAuthCode, REGISTRATIONS, Refusal};
use dropleaf_core::{Result, secret};
use dropleaf_store::{DbError, counters, oauth_clients};
use std::net::IpAddr;

/// A program at the one moment its secret is known.
#[derive(Debug)]
pub struct NewClient {
    pub client: Client,
    /// None when it can keep none.
    pub secret: Option<String>,
}

impl App {
    /// Registers a program. Anybody may, so a network is held to a number a day, and of all that nobody let in the oldest
    /// make room.
    pub async fn register_client(
        &self,
        description: Description,
        ip: Option<IpAddr>,
    ) -> Result<NewClient, Refusal> {
        let now = self.now();
        let client = description.check(self.minter.id("client"), &self.hosts, now)?;
        let keeps_one = client.auth_method != AuthMethod::None;
        let secret = keeps_one.then(|| format!("ocs_{}", self.minter.token()));
        let mut stmts = Vec::new();
        if !self.is_exempt(ip) {
            stmts.push(counters::take(&self.client_key(&REGISTRATIONS, ip), &REGISTRATIONS, now));
        }
        stmts.push(oauth_clients::insert(&client, secret.as_deref().map(secret::hash).as_ref()));
        stmts.push(oauth_clients::delete_beyond(&client.id, self.settings.unused_clients - 1));
        match self.store.commit(stmts).await {
            Ok(_) => Ok(NewClient { client, secret }),
            Err(DbError::Guard(label)) => match self.rate_refusal(label) {
                Some(refusal) => Err(refusal.into()),
                None => Err(DbError::Guard(label).into()),
            },
            Err(error) => Err(error.into()),
        }
    }

    /// Counts a description that has to be fetched for somebody; those whose address is not known are counted together.
    pub fn take_document(&self, ip: Option<IpAddr>) -> Result<()> {
        self.take_attempt_of_anybody(ip)
    }

    pub async fn find_client(&self, id: &str) -> Result<Option<Client>> {
        Ok(self.store.find_client(id).await?.map(|(client, _)| client))
    }

    /// The registered program that sent this id and this secret. Hashes are compared, which tell nothing about how much
    /// of a secret was right.
    pub async fn authenticate_client(&self, id: &str, secret: Option<&str>) -> Result<Client, Refusal> {
        let found = self.store.find_client(id).await?;
        let proved = found.filter(|(_, hash)| *hash == secret.map(secret::hash));
        let (client, _) = proved.ok_or_else(|| {
            Refusal::new(OAuthCode::InvalidClient, "The client is unknown, or its secret is wrong.")
        })?;
        Ok(client)
    }
}
