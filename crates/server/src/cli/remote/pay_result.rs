//! What `dropleaf pay` does once the payment is completed: saves or prints the new key, or tells what the account has now.

use super::{ClientEnvironment, visible};
use crate::cli::output::print_line;
use anyhow::{Context, Result};
use dropleaf_client::{Client, Credentials, Login, Me, PolledPaySession};
use dropleaf_core::iso;
use dropleaf_core::ledger::Unit;
use dropleaf_core::pay_session::Feature;

/// What a feature is called on the payment form.
pub(super) fn title(feature: &str) -> String {
    Feature::parse(feature).map_or_else(|| visible(feature), |feature| feature.title().to_owned())
}

/// The stored logins, if a key for this server can be added without replacing another.
pub(super) fn free_credentials(environment: &ClientEnvironment, server: &str) -> Result<Option<Credentials>> {
    if environment.credentials.is_none() {
        return Ok(None);
    }
    let stored = environment.load()?;
    Ok(if stored.find(server).is_none() { Some(stored) } else { None })
}

/// Reports a completed payment. `key`: that of the account which paid for something other than a new key.
pub(super) async fn report(
    environment: &ClientEnvironment,
    server: &str,
    key: Option<String>,
    polled: PolledPaySession,
) -> Result<()> {
    let polled = match polled {
        PolledPaySession { api_key: Some(key), prefix, amount, .. } => {
            let paid = format!("Paid ${}.", visible(&amount));
            return deliver(environment, server, &paid, &key, prefix.as_deref().unwrap_or_default()).await;
        }
        polled => polled,
    };
    // The payment is complete, whether or not the account can be read.
    let me = match key {
        Some(key) => Client::new(server, Some(key))?.me().await.ok(),
        None => None,
    };
    let now = me.and_then(|me| now_has(&polled.feature, &me));
    eprintln!("Paid ${}. {}", visible(&polled.amount), now.unwrap_or_else(|| title(&polled.feature) + "."));
    Ok(())
}

/// What the account has now, in words.
fn now_has(feature: &str, me: &Me) -> Option<String> {
    if feature == Feature::Topup.as_str() {
        let cents = me.more.get("balance_minor")?.as_i64()?;
        return Some(format!("The balance is now {}.", Unit::Usd2.written(cents)));
    }
    let unlocks = me.more.get("unlocks")?.as_array()?;
    let unlock = unlocks.iter().find(|unlock| unlock["sku"] == feature)?;
    let until = unlock["until"].as_i64().map(|at| format!(" until {}", iso::format(at)));
    Some(format!("Now active: {}{}.", title(feature), until.unwrap_or_default()))
}

/// Saves the key as `dropleaf login` does. It is printed instead if it would replace a login, because it belongs to another
/// account, or if it cannot be saved: there is no other copy.
async fn deliver(
    environment: &ClientEnvironment,
    server: &str,
    paid: &str,
    key: &str,
    prefix: &str,
) -> Result<()> {
    let mut stored = match free_credentials(environment, server) {
        Ok(Some(stored)) => stored,
        Ok(None) => {
            let why =
                if environment.credentials.is_some() { "you are signed in there" } else { "HOME is not set" };
            eprintln!(
                "{paid} This is the key of a new account at {server}. It was not saved, because {why}:"
            );
            return print_line(&visible(key));
        }
        Err(error) => {
            print_line(&visible(key))?;
            return Err(error.context("paid, but the key on standard output was not saved"));
        }
    };
    let mut login = Login { key: key.to_owned(), key_id: None, email: None };
    if let Err(error) = stored.keep(server, login.clone()) {
        print_line(&visible(key))?;
        return Err(error).context("paid, but the key on standard output was not saved");
    }
    eprintln!("{paid} You have a new account at {server}. The key was saved in {}.", stored.path().display());
    // Needed by `dropleaf logout`; without it the key can only be removed from this computer.
    let client = Client::new(server, Some(key.to_owned()))?;
    if let Ok(Some(id)) = client.find_key_id(prefix).await {
        login.key_id = Some(id);
        stored.keep(server, login)?;
    }
    Ok(())
}
