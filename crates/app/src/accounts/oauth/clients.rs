//! Registers OAuth clients and authenticates them at the token endpoint.

use crate::app::App;
use dropleaf_core::oauth::client::{AuthMethod, Client, ClientRegistration};
use dropleaf_core::oauth::{OAuthCode, OAuthFailure, REGISTRATIONS};
use dropleaf_core::{Result, secret};
use dropleaf_store::{DbError, counters, oauth_clients};
use std::net::IpAddr;

/// A newly registered client; its secret is available only here.
#[derive(Debug)]
pub struct NewClient {
    pub client: Client,
    /// None for a public client, which cannot keep one.
    pub secret: Option<String>,
}

impl App {
    /// Registers a client. Registration is open to anyone, so it is limited per network and day, and beyond a total limit
    /// the oldest clients that were never granted access are deleted.
    pub async fn register_client(
        &self,
        description: ClientRegistration,
        ip: Option<IpAddr>,
    ) -> Result<NewClient, OAuthFailure> {
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

    /// Counts a client metadata document fetched for a caller; all clients with an unknown address are counted as one.
    pub async fn count_metadata_fetch(&self, ip: Option<IpAddr>) -> Result<()> {
        self.take_attempt_even_without_ip(ip).await
    }

    pub async fn find_client(&self, id: &str) -> Result<Option<Client>> {
        Ok(self.store.find_client(id).await?.map(|(client, _)| client))
    }

    /// The registered client with this id and secret. Comparing hashes reveals nothing about how much of a secret was
    /// right.
    pub async fn authenticate_client(&self, id: &str, secret: Option<&str>) -> Result<Client, OAuthFailure> {
        let found = self.store.find_client(id).await?;
        let proved = found.filter(|(_, hash)| *hash == secret.map(secret::hash));
        let (client, _) = proved.ok_or_else(|| {
            OAuthFailure::new(OAuthCode::InvalidClient, "The client is unknown, or its secret is wrong.")
        })?;
        Ok(client)
    }
}
